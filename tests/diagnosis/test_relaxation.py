"""The least relaxation against a linear program of slacks, and rays that improve without end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.bank.statement import Entry, Row, state
from tests.diagnosis.stated import CALM, MATRIX, REACH, UPPER, can_hold, stated

from walras.diagnosis.relaxation import (
    improving_ray,
    is_strict,
    least_relaxation,
    row_bounds,
    row_scale,
    shortened,
)
from walras.separable import Separable, Utility
from walras.types import Floats


def drawn(seed: int, rows: int, columns: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-3, 4, (rows, columns)).astype(np.float64)
    return matrix, rng.integers(-6, 5, rows).astype(np.float64)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), rows=st.integers(2, 7), columns=st.integers(1, 4))
def test_the_least_relaxation_is_that_of_scipys_program(seed: int, rows: int, columns: int) -> None:
    matrix, upper = drawn(seed, rows, columns)
    found = least_relaxation(stated(matrix, upper), CALM)
    scale = np.maximum(np.abs(upper), np.abs(matrix).max(axis=1))
    scale[scale == 0.0] = 1.0
    bounds = [(0.0, REACH)] * columns + [(0.0, None)] * rows
    answer = linprog(
        np.append(np.zeros(columns), 1.0 / scale),
        np.c_[matrix, -np.eye(rows)],
        upper,
        bounds=bounds,
    )
    assert found.cost == pytest.approx(answer.fun, abs=1e-7)
    assert found.is_needed != can_hold(matrix, upper, list(range(rows)))
    eased = upper.copy()
    eased[found.rows] += found.amounts + 1e-7
    assert can_hold(matrix, eased, list(range(rows)))
    if found.is_needed:  # Farkas: the multipliers alone prove it, over all x within 0 and REACH
        pull = found.multipliers @ matrix
        assert np.minimum(pull * REACH, 0.0).sum() > found.multipliers @ upper


def test_it_is_told_in_words_the_largest_first() -> None:
    found = least_relaxation(stated(MATRIX, UPPER), CALM)
    assert found.text() in ("raise row[0] by 1", "raise row[1] by 1")
    assert set(found.support.tolist()) == {0, 1}
    many = replace(
        found,
        rows=np.arange(3, dtype=np.int32),
        amounts=np.array([1.0, -3.0, 2.0]),
        names=("a", "b", "c"),
        domains=np.array([False, False, True]),
    )
    assert many.text(2) == "lower b by 3, raise what stands in c by 2 and 1 more"
    assert shortened(["a"], 1) == "a"


def test_a_logarithm_of_nothing_is_asked_for_more_than_nothing() -> None:
    problem = stated(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([9.0, 0.0]), Utility.LOG)
    found = least_relaxation(problem, CALM)
    assert found.positive.tolist() == [True, False]
    assert found.text().startswith("let entries of row[")
    open_ = stated(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([9.0, 1.0]), Utility.LOG)
    assert not least_relaxation(open_, CALM).is_needed
    assert is_strict(problem.rows).tolist() == [True, False]
    low, high = row_bounds(problem, np.zeros(2, bool))
    assert (low[0], high[1]) == (0.0, 0.0)


def test_whole_entries_need_more_than_shares_would() -> None:
    problem = stated(np.array([[2.0], [-2.0]]), np.array([1.0, -1.0]))  # x = 1/2
    assert not least_relaxation(problem, CALM).is_needed
    whole = replace(problem, integer=np.ones(1, bool))
    found = least_relaxation(whole, CALM)
    assert found.is_needed
    assert np.abs(found.amounts).max() <= 1.0 + 1e-6


def free(cost: list[float], rows: list[Row]) -> Separable:
    return state([Entry(0, j, cost=c) for j, c in enumerate(cost)], rows)


def test_a_ray_stays_inside_and_improves() -> None:
    problem = free(
        [-1.0, 2.0, -3.0],
        [Row("r[0]", {0: 1.0, 1: -1.0}, upper=4.0), Row("s[0]", {2: 1.0}, upper=1.0)],
    )
    assert improving_ray(problem) is None  # x0 rises with x1 alone, at a loss
    ray = improving_ray(replace(problem, cost=np.array([-3.0, 2.0, -3.0])))
    assert ray is not None
    assert ray.x == pytest.approx([1.0, 1.0, 0.0])
    bowl = replace(problem, cost=np.array([-3.0, 2.0, -3.0]), quadratic=np.array([0.0, 1.0, 0.0]))
    assert improving_ray(bowl) is None


def test_a_logarithm_that_costs_nothing_has_no_end() -> None:
    problem = free(
        [0.0, 0.0], [Row("u[0]", {0: 1.0}, utility=Utility.LOG), Row("v[0]", {1: 1.0}, upper=1.0)]
    )
    ray = improving_ray(problem)
    assert ray is not None
    assert ray.x == pytest.approx([1.0, 0.0])
    assert improving_ray(replace(problem, cost=np.array([0.1, 0.0]))) is None


def test_a_rows_scale_is_its_largest_number() -> None:
    problem = stated(MATRIX, np.array([0.0, -20.0, np.inf]))
    low, high = np.full(3, -np.inf), np.array([0.0, -20.0, np.inf])
    assert row_scale(problem.rows.matrix, low, high).tolist() == [1.0, 20.0, 1.0]
    assert row_scale(0.0 * problem.rows.matrix, low, high)[2] == 1.0


def test_a_lower_bound_is_lowered_where_that_is_the_lesser_change() -> None:
    """Two units of three are less than two of one."""
    rows = [Row("least[0]", {0: 1.0}, lower=3.0), Row("most[0]", {0: 1.0}, upper=1.0)]
    found = least_relaxation(state([Entry(0, 0, upper=REACH)], rows), CALM)
    assert found.amounts == pytest.approx([-2.0])
    assert found.text() == "lower least[0] by 2"
