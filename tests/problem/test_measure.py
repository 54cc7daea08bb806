"""Violations in closed form: zero inside, at least the distance to the cone outside."""

from __future__ import annotations

import warnings
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import walras as wl
from walras.problem.measure import value_of, violations

a, b, c = cp.Variable(2), cp.Variable(2), cp.Variable(2)
W = cp.Variable((3, 2))
ALPHA = np.array([[0.2, 0.5], [0.3, 0.3], [0.5, 0.2]])
S = cp.Variable((2, 2), symmetric=True)
z = cp.Variable(3, complex=True)
# Each with a point inside, and one outside with its distance at least.
CASES: dict[str, tuple[Any, dict[Any, Any], dict[Any, Any]]] = {
    "<=": (a <= b, {a: [1, 2], b: [1, 3]}, {a: [1, 2.5], b: [1, 2.2]}),
    "==": (a == b, {a: [1, 2], b: [1, 2]}, {a: [1, 2], b: [1, 2.2]}),
    "NonNeg": (cp.NonNeg(a), {a: [0, 1]}, {a: [0, -0.3]}),
    "Zero": (cp.Zero(a), {a: [0, 0]}, {a: [0, -0.3]}),
    "SOC": (cp.SOC(a[0], b), {a: [5, 0], b: [3, 4]}, {a: [4.5, 0], b: [3, 4]}),
    "SOC by rows": (cp.SOC(a, W.T, axis=1), {a: [5, 13], W: [[3, 5], [4, 12], [0, 0]]},
                    {a: [5, 12.5], W: [[3, 5], [4, 12], [0, 0]]}),
    "complex SOC": (cp.SOC(a[0], z), {a: [5, 0], z: [3j, 4, 0]}, {a: [4.5, 0], z: [3j, 4, 0]}),
    "PSD": (S >> 0, {S: [[1, 1], [1, 1]]}, {S: [[1, 1.1], [1.1, 1]]}),
    "ExpCone": (cp.ExpCone(a, b, c), {a: [1, 0], b: [1, 2], c: [np.e + 1e-12, 2]},
                {a: [1, 0], b: [1, 2], c: [2.5, 2]}),
    "ExpCone at its edge": (cp.ExpCone(a, b, c), {a: [-1, 0], b: [0, 0], c: [0, 2]},
                            {a: [-1, 0.1], b: [0, 0], c: [0, 2]}),
    "PowCone3D": (cp.PowCone3D(a, b, c, 0.3), {a: [1, 2], b: [1, 2], c: [1, -2]},
                  {a: [1, 2], b: [1, 2], c: [1, -2.4]}),
    "PowConeND": (cp.PowConeND(W, a, ALPHA), {W: np.ones((3, 2)), a: [1, -1]},
                  {W: np.ones((3, 2)), a: [1, -1.3]}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_inside_is_zero_and_outside_the_distance_at_least(name: str) -> None:
    constraint, inside, outside = CASES[name]
    problem = cp.Problem(cp.Minimize(0), [constraint])
    assert _far(problem, inside) <= 1e-15
    found = _far(problem, outside)
    size = max(1.0, *(np.max(np.abs(arg.value)) for arg in constraint.args))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        distance = float(np.linalg.norm(_distance(constraint)))  # cvxpy's own
    assert found * size >= distance / np.sqrt(3) - 1e-6
    assert found * size <= 5.0 * distance + 1e-6


def _distance(constraint: Any) -> Any:
    if any(arg.is_complex() for arg in constraint.args):
        return np.linalg.norm(constraint.args[1].value) - constraint.args[0].value
    return constraint.residual


def _far(problem: cp.Problem, values: dict[Any, Any]) -> float:
    for variable, value in values.items():
        variable.save_value(np.asarray(value))
    return violations(problem, np.inf)[0][1]


def test_outside_a_domain_a_value_and_a_violation_are_infinite() -> None:
    a.save_value(np.array([-1.0, 1.0]))
    problem = cp.Problem(cp.Maximize(cp.sum(cp.log(a))), [cp.sqrt(a) >= 0])
    assert value_of(problem) == np.inf
    assert violations(problem, 0.0)[0][1] == np.inf


def test_a_bound_of_infinity_is_no_size() -> None:
    a.save_value(np.array([1.0, 1.5]))
    problem = cp.Problem(cp.Minimize(0), [a <= np.array([np.inf, 1.0])])
    assert violations(problem, 0.0)[0][1] == pytest.approx(1 / 3)


def test_at_minus_zero_a_negative_power_is_outside_its_domain() -> None:
    """numpy's (-0.0) ** -1 is minus infinity, which would meet every upper limit."""
    a.save_value(np.array([0.0, 0.0]))
    problem = cp.Problem(cp.Minimize(0), [72 * cp.power(-a, -1) <= 5])
    assert violations(problem, 0.0)[0][1] == np.inf


@pytest.mark.parametrize("most", [72.000002, 72.00002, 73.0])
def test_what_is_barely_infeasible_is_never_called_optimal(most: float) -> None:
    """x y <= 72 on the box: more is infeasible, or breaks little and says so."""
    u = cp.Variable(2, nonneg=True)
    problem = wl.Problem(cp.Minimize(0), [u[0] <= 12, u[1] <= 6, most * cp.inv_pos(u[1]) <= u[0]])
    try:
        s = problem.solve(threads=1)
    except wl.InfeasibleError:
        return
    assert s.status in ("optimal_inaccurate", "solver_error")
    assert s.certificate.violation >= (most - 72) / 72 / 4
