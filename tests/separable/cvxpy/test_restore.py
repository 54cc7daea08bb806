"""Values and dual values by hand: rows that became bounds, turned rows, equalities, numbers."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from walras.engines.exact.engine import Exact
from walras.separable.cvxpy.compile import Stated, Template
from walras.settings import Settings


def solved(objective: Any, *given: Any) -> None:
    """Solve, and put values and dual values into the user's own objects."""
    problem, restore = Template(objective, [Stated(one) for one in given]).fill()
    found = Exact().solve(problem, Settings(tolerance=1e-9, threads=1))
    restore.apply(found.x, found.t, found.prices)


def duals(*given: Any) -> list[Any]:
    return [pytest.approx(one.dual_value, abs=1e-7) for one in given]


def test_a_bound_with_a_coefficient_has_its_price_by_that_coefficient() -> None:
    """Minimise 2 v0 - 3 v1 with 4 v0 >= 8, 5 v1 <= 10: one more of 8 costs 2/4, of 10 gains 3/5."""
    v = cp.Variable(2, name="v")
    low, high, idle = 4 * v[0] >= 8, 5 * v[1] <= 10, v[0] <= 7
    solved(cp.Minimize(2 * v[0] - 3 * v[1]), low, high, idle)
    assert v.value == pytest.approx([2.0, 2.0])
    assert duals(low, high, idle) == [0.5, 0.6, 0.0]
    assert type(low.dual_value) is float


def test_an_equality_of_one_entry_has_a_price_of_either_sign() -> None:
    """cvxpy's Lagrangian is ``f + dual (lhs - rhs)``: the duals are -c/a."""
    v = cp.Variable(2, name="v")
    equal = cp.multiply(np.array([4.0, -5.0]), v) == np.array([8.0, 10.0])
    solved(cp.Minimize(2 * v[0] + 3 * v[1]), equal)
    assert v.value == pytest.approx([2.0, -2.0])
    assert np.asarray(equal.dual_value) == pytest.approx([-0.5, 0.6])


def test_squares_have_their_slope_in_the_price_of_a_bound() -> None:
    """Minimise (v - 3)^2 with v <= 1: the slope there is -4."""
    v = cp.Variable(name="v")
    cap = v <= 1
    solved(cp.Minimize(cp.square(v - 3)), cap)
    assert float(v.value) == pytest.approx(1.0)
    assert duals(cap) == [4.0]


def test_rows_and_matrices_come_back_in_the_users_places() -> None:
    """A transport problem of one optimum: each column costs least in another row."""
    x = cp.Variable((2, 3), name="x", nonneg=True)
    cost = np.array([[1.0, 5.0, 2.0], [4.0, 2.0, 9.0]])
    need = (cp.sum(x, axis=0) >= np.array([1.0, 2.0, 3.0])).set_label("need")
    room = (cp.sum(x, axis=1) <= 10).set_label("room")
    whole = (cost @ cp.reshape(x[0], (3, 1), order="F") <= 100).set_label("whole")
    solved(cp.Minimize(cp.sum(cp.multiply(cost, x))), need, room, whole)
    assert x.value == pytest.approx(np.array([[1.0, 0.0, 3.0], [0.0, 2.0, 0.0]]), abs=1e-8)
    assert np.asarray(need.dual_value) == pytest.approx(cost.min(axis=0), abs=1e-7)
    assert np.asarray(room.dual_value) == pytest.approx([0.0, 0.0], abs=1e-7)
    assert np.asarray(whole.dual_value).shape == whole.shape == (2, 1)


def test_a_shared_scalar_and_its_bound_have_theirs() -> None:
    """Maximise t with t <= x_j and x0 + x1 <= 4, t <= 1.5 by a row of its own."""
    x, t = cp.Variable((1, 2), name="x", nonneg=True), cp.Variable(name="t")
    room, level, cap = cp.sum(x) <= 4, x[0] >= t, 2 * t <= 3
    solved(cp.Maximize(t), room, level, cap)
    assert float(t.value) == pytest.approx(1.5)
    assert duals(room, cap) == [0.0, 0.5]
    assert np.asarray(level.dual_value) == pytest.approx([0.0, 0.0], abs=1e-7)


def test_zero_has_no_minus_sign() -> None:
    v = cp.Variable(2, name="v")
    problem, restore = Template(cp.Minimize(cp.sum(v)), [Stated(v >= 0)]).fill()
    restore.apply(np.array([-0.0, -0.0]), np.zeros(0), np.zeros(problem.rows.count))
    assert v.value is not None
    assert not np.any(np.signbit(v.value))
