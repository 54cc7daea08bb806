"""A problem without its integrality: a relaxation whose whole elements can be held."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from walras.problem.continuous import Continuous, with_whole_choices
from walras.problem.quiet import cvxpy_quiet


def stated() -> tuple[cp.Problem, cp.Variable, cp.Variable]:
    """The nearest point to (0.4, 1.6, 2.3), the first boolean, the second whole; y is neither."""
    x = cp.Variable(3, name="x", boolean=[(0,)], integer=[(1,)])
    y = cp.Variable(name="y")
    far = cp.sum_squares(x - np.array([0.4, 1.6, 2.3])) + cp.square(y - 1)
    rows = [(cp.sum(x) + y <= 9).set_label("room")]
    return cp.Problem(cp.Minimize(far), rows), x, y


def test_the_relaxation_bounds_booleans_and_leaves_the_stated_variables_alone() -> None:
    problem, x, y = stated()
    found = Continuous.of(problem)
    assert not found.problem.is_mixed_integer()
    assert found.problem.solve(cp.CLARABEL) == pytest.approx(0.0, abs=1e-7)
    assert (found.stated, found.places[0].tolist()) == ((x,), [0, 1])
    assert x.value is None
    assert any(variable is y for variable in found.problem.variables())
    assert "room" in [row.label for row in found.problem.constraints]
    far = Continuous.of(cp.Problem(cp.Maximize(5 * x[0] + x[2]), [x <= 4, x >= -4]))
    assert far.problem.solve(cp.CLARABEL) == pytest.approx(9.0, rel=1e-6)  # x[0] ends at 1


def test_held_elements_and_values_that_are_given_back() -> None:
    problem, x, _ = stated()
    found = Continuous.of(problem)
    held = found.fixed(np.array([1.0, 2.0]))
    assert held.solve(cp.CLARABEL) == pytest.approx(0.6**2 + 0.4**2, rel=1e-6)
    found.give(np.array([1.0, 2.0]))
    assert x.value is not None
    assert x.value[:2].tolist() == [1.0, 2.0]
    assert x.value[2] == pytest.approx(2.3, abs=1e-5)
    first = {w.id: 7 for w in found.whole}
    assert found.columns(first).tolist() == [7, 8]


def test_sets_of_numbers_become_boolean_variables() -> None:
    x = cp.Variable(name="x")
    problem = cp.Problem(cp.Minimize(cp.abs(x - 2)), [cp.FiniteSet(x, [0.0, 2.5, 7.0])])
    with cvxpy_quiet():
        turned = with_whole_choices(problem)
    assert turned.is_mixed_integer()
    assert turned.solve(cp.HIGHS) == pytest.approx(0.5)
    plain, *_ = stated()
    assert with_whole_choices(plain) is plain
