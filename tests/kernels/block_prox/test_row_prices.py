"""Best prices of groups against HiGHS (rows to be reached) and one-dimensional search."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize as so
from hypothesis import given, settings
from hypothesis import strategies as st

from walras.kernels.block_prox.row_prices import best_prices

LOG, POWER = 1, 2


def group(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    e = rng.random(n) * (rng.random(n) < 0.9)
    e[rng.integers(n)] = 1.0
    c = rng.random(n) * (rng.random(n) < 0.9)
    return rng.uniform(0.2, 2.0, n), e, c, float(rng.uniform(0.5, 2.0))


def solved(
    a: np.ndarray,
    e: np.ndarray,
    c: np.ndarray,
    b: float,
    kind: int,
    y: float,
    price: float,
    parameter: float = 0.0,
    weight: float = 1.0,
) -> tuple[float, float]:
    found = np.array([price])
    total = best_prices(
        0,
        1,
        np.array([0, len(a)]),
        a,
        e,
        c,
        np.array([b]),
        np.array([kind], np.int8),
        np.array([weight]),
        np.array([parameter]),
        np.array([y]),
        found,
    )
    return total, float(found[0])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 0.99), st.sampled_from([0.0, 0.7, 50.0]))
def test_the_least_cost_of_reaching_an_activity(seed: int, share: float, price: float) -> None:
    a, e, c, b = group(seed)
    y = share * b * float(np.max(e / a))
    total, r = solved(a, e, c, b, 0, y, price)
    known = so.linprog(c, A_ub=np.array([a, -e]), b_ub=[b, -y], method="highs")
    assert total == pytest.approx(known.fun, rel=1e-9, abs=1e-9)
    assert r >= 0.0
    assert r * y - b * max(0.0, float(np.max((r * e - c) / a))) == pytest.approx(total, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([(LOG, 1.0), (POWER, 2.0), (POWER, 0.5)]),
    st.sampled_from([0.0, 0.7, 50.0]),
)
def test_the_best_price_of_a_utility(seed: int, utility: tuple[int, float], price: float) -> None:
    a, e, c, b = group(seed)
    kind, alpha = utility
    _, r = solved(a, e, c, b, kind, 1.0, price, alpha, 1.3)

    def dual(log_price: float) -> float:
        p = np.exp(log_price)
        own = np.log(p) if alpha == 1.0 else p ** (1 - 1 / alpha) / (1 - 1 / alpha)
        value = 1.3 ** (1 / alpha) * own
        return b * max(0.0, float(np.max((p * e - c) / a))) - value

    known = so.minimize_scalar(dual, bounds=(-8.0, 8.0), method="bounded", options={"xatol": 1e-10})
    assert dual(np.log(r)) <= known.fun + 1e-9 * abs(known.fun) + 1e-12


def test_out_of_reach_costs_without_end() -> None:
    a, e, c, b = group(3)
    assert solved(a, e, c, b, 0, 2.0 * b * float(np.max(e / a)), 1.0)[0] == np.inf


def test_who_asks_for_nothing_pays_nothing() -> None:
    a, e, c, b = group(3)
    assert solved(a, e, c, b, 0, 0.0, 1.0) == (0.0, 0.0)
