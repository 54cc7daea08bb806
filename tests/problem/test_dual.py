"""Bounds from prices: never above the optimum, whatever they are; intervals hold all feasible."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from walras.problem.cones import Program
from walras.problem.conic import chain_of
from walras.problem.dual import bound_of, implied_box, trivial_bound

x, P = cp.Variable(3, name="x"), cp.Variable((2, 2), PSD=True, name="P")
A = np.array([[1.0, 2.0, -1.0], [0.5, -1.0, 2.0]])
PROGRAMS: dict[str, cp.Problem] = {
    "linear": cp.Problem(cp.Minimize(cp.norm1(x - 1) + x[0]), [A @ x <= 1, x >= -2]),
    "quadratic": cp.Problem(cp.Minimize(cp.sum_squares(A @ x - 3) + cp.sum(x)), [cp.abs(x) <= 2]),
    "second order": cp.Problem(cp.Minimize(cp.norm(x - 2) + cp.norm(A @ x)), [cp.sum(x) <= 1]),
    "exponential": cp.Problem(cp.Minimize(cp.sum(cp.exp(A @ x)) - x[0]), [cp.norm(x) <= 2]),
    "entropy": cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [x <= 3, A @ x == [0.5, 0.7]]),
    "semidefinite": cp.Problem(cp.Minimize(cp.trace(P) - P[0, 1]), [P[0, 0] >= 1, P[1, 1] <= 3]),
    "power": cp.Problem(
        cp.Maximize(cp.geo_mean(x, np.array([1, 2, 4]), approx=False)), [cp.norm(x) <= 2]
    ),
    "power of two": cp.Problem(
        cp.Minimize(cp.sum(cp.power(x, 3.7, approx=False))), [cp.sum(x) >= 2, x <= 3]
    ),
}


def built(name: str) -> tuple[cp.Problem, Program, Any]:
    problem = PROGRAMS[name]
    data, chain, inverse = chain_of(problem, cp.CLARABEL)
    raw = chain.solver.solve_via_data(data, False, False, {})
    return problem, Program.of(data, float(inverse[-1][cp.settings.OFFSET])), raw


@pytest.fixture(scope="module")
def solved() -> dict[str, tuple[cp.Problem, Program, Any]]:
    return {name: built(name) for name in PROGRAMS}


@pytest.mark.parametrize("name", PROGRAMS)
def test_at_the_optimal_prices_the_bound_is_the_optimum(
    solved: dict[str, tuple[cp.Problem, Program, Any]], name: str
) -> None:
    _, program, raw = solved[name]
    bound = bound_of(program, implied_box(program), np.array(raw.x), np.array(raw.z))
    optimum = raw.obj_val + program.constant
    assert bound == pytest.approx(optimum, rel=1e-6, abs=1e-6)
    assert bound <= optimum + 1e-7 * max(1.0, abs(optimum))


@pytest.mark.parametrize("name", PROGRAMS)
@given(seed=st.integers(0, 2**32 - 1), size=st.floats(1e-3, 1e3))
def test_no_prices_prove_more_than_the_optimum(
    solved: dict[str, tuple[cp.Problem, Program, Any]], name: str, seed: int, size: float
) -> None:
    _, program, raw = solved[name]
    rng = np.random.default_rng(seed)
    z = np.array(raw.z) * rng.choice([0.0, 1.0]) + size * rng.normal(size=len(program.offset))
    w = np.array(raw.x) + rng.normal(size=len(program.linear))
    optimum = raw.obj_val + program.constant
    assert bound_of(program, implied_box(program), w, z) <= optimum + 1e-6 * max(1.0, abs(optimum))
    assert np.all(np.isfinite(program.into_dual(z)))


@pytest.mark.parametrize("name", PROGRAMS)
@given(seed=st.integers(0, 2**32 - 1))
def test_intervals_hold_every_feasible_point(
    solved: dict[str, tuple[cp.Problem, Program, Any]], name: str, seed: int
) -> None:
    """At the optimum of a random objective over the same rows."""
    _, program, raw = solved[name]
    low, high = implied_box(program)
    for point in (np.array(raw.x), _somewhere(program, seed)):
        slack = 1e-5 * (1.0 + np.abs(point))
        assert np.all((point >= low - slack) & (point <= high + slack))


def _somewhere(program: Program, seed: int) -> np.ndarray[Any, Any]:
    import clarabel
    import scipy.sparse as sp

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    n = len(program.linear)
    aim = np.random.default_rng(seed).normal(size=n)
    near = sp.csc_matrix(np.eye(n) * 1e-2)  # a quadratic objective, so that there is an optimum
    found = clarabel.DefaultSolver(
        near, aim, sp.csc_matrix(program.matrix), program.offset, program.stated, settings
    ).solve()
    return np.array(found.x)


def test_trivial_bounds_are_those_of_the_intervals() -> None:
    u = cp.Variable(2)
    boxed = cp.Problem(cp.Minimize(cp.norm(u) + u[0]), [u >= -1, u <= 2])
    data, _, inverse = chain_of(boxed, cp.CLARABEL)
    program = Program.of(data, float(inverse[-1][cp.settings.OFFSET]))
    assert trivial_bound(program, implied_box(program)) == pytest.approx(-1.0, abs=1e-6)
    endless = cp.Problem(cp.Minimize(cp.norm(u) + u[0]), [u <= 2])
    data, _, inverse = chain_of(endless, cp.CLARABEL)
    program = Program.of(data, float(inverse[-1][cp.settings.OFFSET]))
    assert trivial_bound(program, implied_box(program)) == -np.inf
