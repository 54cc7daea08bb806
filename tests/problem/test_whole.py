"""Linear problems with integers outside the form, by HiGHS."""

from __future__ import annotations

from itertools import product

import cvxpy as cp
import numpy as np
import pytest

import walras as wl
from walras.errors import InfeasibleError, UnboundedError
from walras.problem.continuous import with_whole_choices
from walras.problem.quiet import cvxpy_quiet
from walras.problem.whole import solve_whole
from walras.settings import Settings


def test_whole_variables_outside_the_form_are_bounded_by_their_relaxation_where_it_is_tight() -> (
    None
):
    k = cp.Variable(4, integer=True)
    most = cp.max(cp.hstack([cp.sum_largest(k, 2), cp.sum_largest(-k, 2)]))
    tight = wl.Problem(cp.Minimize(most + cp.sum_largest(k, 3)), [k >= 2])
    s = tight.solve(threads=1)
    assert s.value == pytest.approx(10.0)
    loose = wl.Problem(cp.Minimize(most + cp.sum_largest(k, 3)), [k >= 1.5])
    assert loose.solve(threads=1).value == pytest.approx(10.0)
    assert {s.bound_source, loose.solution.bound_source} <= {"prices", "HiGHS"}  # type: ignore[union-attr]


def chosen(seed: int) -> tuple[cp.Problem, float]:
    """Two numbers of sets and an integer, and the least objective by counting out."""
    rng = np.random.default_rng(seed)
    a, b = cp.Variable(2, name="a"), cp.Variable(integer=True, name="b")
    choices, cost = [-1.0, 0.5, 3.0], rng.normal(size=3)
    rows = [cp.FiniteSet(a, choices), b >= -2, b <= 2, cp.sum(a) + b >= 1]
    problem = cp.Problem(cp.Minimize(cost[:2] @ a + cost[2] * b + 4), rows)
    every = product(choices, choices, range(-2, 3))
    return problem, min(float(cost @ x) + 4 for x in every if sum(x) >= 1)


@pytest.mark.parametrize("seed", range(4))
def test_the_least_of_all_choices_is_found_with_bounds_that_hold(seed: int) -> None:
    problem, best = chosen(seed)
    with cvxpy_quiet():
        whole = with_whole_choices(problem)
    found = solve_whole(whole, Settings(tolerance=1e-9))
    assert found.proof.value == pytest.approx(best, rel=1e-9)
    assert found.proof.bound <= best + 1e-7
    assert (found.ended, found.stopped, found.solver) == ("Optimal", False, "HiGHS")


def test_a_limit_without_a_point_is_followed_by_a_search_for_one() -> None:
    rng = np.random.default_rng(0)
    x = cp.Variable(40, integer=True, name="x")
    rows = [x >= 0, x <= 9, rng.uniform(1, 2, (20, 40)) @ x <= 200]
    problem = cp.Problem(cp.Maximize(rng.uniform(1, 2, 40) @ x), rows)
    found = solve_whole(problem, Settings(time_limit=0.0))
    assert found.stopped
    assert found.proof.feasible
    assert found.proof.bound <= found.proof.value + 1e-9  # both of what is minimised


def test_no_point_and_no_end_are_told_apart() -> None:
    x = cp.Variable(2, integer=True, name="x")
    with pytest.raises(InfeasibleError, match="no point meets all constraints"):
        solve_whole(cp.Problem(cp.Minimize(x[0]), [x >= 0.2, x <= 0.8]), Settings())
    with pytest.raises(UnboundedError, match="x"):
        solve_whole(cp.Problem(cp.Maximize(cp.sum(x)), [x >= 0]), Settings())
