"""One demand's shares: they meet the conditions of optimality, and cost what HiGHS says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from walras.kernels.few_types.passes import exactly, smoothed
from walras.types import Floats

ONE, SIZE = np.ones(1), np.ones((1, 1))


@st.composite
def choices(draw: st.DrawFn) -> tuple[Floats, Floats]:
    """(types, 1) speeds and (types,) prices, some of them equal, some prices zero."""
    count = draw(st.integers(1, 5))
    grid = st.integers(1, 8).map(lambda k: k / 8.0)
    speed = draw(st.lists(grid, min_size=count, max_size=count))
    prices = draw(
        st.lists(st.integers(0, 12).map(lambda k: k / 6.0), min_size=count, max_size=count)
    )
    return np.array(speed).reshape(-1, 1), np.array(prices)


@settings(max_examples=40)
@given(choices(), st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0]), st.sampled_from([0.3, 1e-2, 1e-4]))
def test_no_other_shares_are_better_under_the_penalty(
    choice: tuple[Floats, Floats], alpha: float, h: float
) -> None:
    speed, prices = choice
    shares, worth = np.zeros((1, len(prices))), np.ones(1)
    smoothed((speed, SIZE, ONE, alpha), 0.0, prices, h, worth, 1, shares)
    fastest = float(speed.max())
    tau = np.append(speed[:, 0] / fastest, 0.0)
    b = np.append(prices / fastest ** (1.0 - alpha), 0.0)
    x = np.append(shares[0], 1.0 - shares[0].sum())
    assert x.min() >= -1e-9
    slope = float(tau @ x) ** -alpha if alpha else 1.0
    gain = slope * tau - b - h * x
    # Of a concave function on the simplex no vertex lies uphill from the maximum.
    assert np.max(gain - gain @ x) <= 1e-6 * (1.0 + slope)


@settings(max_examples=40)
@given(choices(), st.sampled_from([0.1, 0.5, 0.9, 1.0]))
def test_what_a_throughput_costs_at_least(choice: tuple[Floats, Floats], share: float) -> None:
    speed, prices = choice
    level = share * float(speed.max())
    worth = np.ones(1)
    _, paid, _ = exactly((speed, SIZE, ONE, np.inf), level, prices, worth, 1)
    rows = np.vstack([-speed[:, 0], np.ones(len(prices))])
    found = linprog(prices, A_ub=rows, b_ub=[-level * (1.0 - 1e-12), 1.0])
    assert paid == pytest.approx(found.fun, abs=1e-9)


@settings(max_examples=40)
@given(choices(), st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0]))
def test_the_worth_proves_that_no_shares_are_better(
    choice: tuple[Floats, Floats], alpha: float
) -> None:
    """``u(y) - paid`` equals the dual of one demand at the worth, whoever found it."""
    speed, prices = choice
    worth = np.ones(1)
    utility, paid, _ = exactly((speed, SIZE, ONE, alpha), 0.0, prices, worth, 1)
    fastest, at = float(speed.max()), float(worth[0])
    unit = fastest ** (1.0 - alpha)
    rent = unit * max(0.0, float(np.max(at * speed[:, 0] / fastest - prices / unit)))
    if alpha == 0.0:
        dual = rent
    elif alpha == 1.0:
        dual = rent - np.log(at) - 1.0 + np.log(fastest)
    else:
        y = at ** (-1.0 / alpha)
        dual = rent + unit * (y ** (1.0 - alpha) / (1.0 - alpha) - at * y)
    assert utility - paid == pytest.approx(dual, rel=1e-9, abs=1e-9)
