"""Outside the separable form: every shape and cone, points that miss by rounding, whose bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import walras as wl
from walras.problem.measure import violations

x, y, w = cp.Variable(name="x"), cp.Variable(2, name="y"), cp.Variable(3, name="w")
Stated = tuple[Any, list[Any]]


def column(expression: Any) -> Any:
    return cp.reshape(expression, (1, 1), order="F")


TRUE: dict[str, tuple[Callable[[], Stated], float]] = {
    "shape (1, 1)": (lambda: (cp.Minimize(column(cp.norm(y))), [y >= 1]), np.sqrt(2)),
    "shape (1,)": (
        lambda: (cp.Minimize(cp.reshape(cp.norm(y), (1,), order="F")), [y >= 1]),
        np.sqrt(2),
    ),
    "shape (1, 1), maximised": (lambda: (cp.Maximize(-column(cp.norm(y))), [y >= 1]), -np.sqrt(2)),
    "NonNeg of a scalar": (lambda: (cp.Minimize(cp.norm(y) + x), [cp.NonNeg(x - 1)]), 1.0),
    "Zero of a scalar": (lambda: (cp.Minimize(cp.norm(y)), [cp.Zero(x - 1), y[0] >= x]), 1.0),
    "a bound met to rounding": (lambda: (cp.Minimize(cp.exp(x)), [x >= 5]), np.exp(5)),
    "a power of a constant": (lambda: (cp.Minimize(cp.power(2, x)), [x >= 2]), 4.0),
    "a domain's edge": (lambda: (cp.Minimize(x), [cp.sqrt(x) >= 0]), 0.0),
    "an entropy's edge": (lambda: (cp.Minimize(x), [cp.entr(x) >= 0]), 0.0),
    "exponential cone": (lambda: (cp.Minimize(x), [cp.ExpCone(y[0], y[1], x), y >= 1]), np.e),
    "power cone": (
        lambda: (cp.Maximize(x), [cp.PowCone3D(y[0], y[1], x, 0.3), cp.sum(y) <= 2]),
        2 * 0.3**0.3 * 0.7**0.7,
    ),
    "power cone of three": (
        lambda: (cp.Maximize(x), [cp.PowConeND(w, x, np.array([0.2, 0.3, 0.5])), cp.sum(w) <= 1]),
        0.2**0.2 * 0.3**0.3 * 0.5**0.5,
    ),
    "exponents that miss one by rounding": (
        lambda: (cp.Maximize(x), [cp.PowConeND(w, x, np.array([0.1, 0.2, 0.7 + 1e-12])), w <= 2]),
        2.0,
    ),
    "second-order cone": (lambda: (cp.Minimize(x), [cp.SOC(x, y), y >= 1]), np.sqrt(2)),
    "log det": (
        lambda: (cp.Maximize(cp.log_det(A := cp.Variable((3, 3), PSD=True))), [cp.trace(A) <= 6]),
        3 * np.log(2),
    ),
    "complex": (lambda: (cp.Minimize(cp.norm(cp.Variable(2, complex=True) - (3 + 4j))), []), 0.0),
    "complex second-order cone": (
        lambda: (cp.Minimize(x), [cp.SOC(x, z := cp.Variable(2, complex=True)), z == 3 + 4j]),
        np.sqrt(50),
    ),
}


@pytest.mark.parametrize("name", TRUE)
def test_the_optimum_is_found_proved_and_met(name: str) -> None:
    objective, constraints = TRUE[name][0]()
    p = wl.Problem(objective, constraints)
    s = p.solve(threads=1)
    truth = TRUE[name][1]
    assert s.status == "optimal"
    assert s.value == pytest.approx(truth, rel=2e-6, abs=2e-8)
    assert abs(s.bound - truth) <= 1e-6 * max(1.0, abs(truth))
    assert s.certificate.violation <= 1e-8
    assert isinstance(p.value, float)
    assert max(far for _, far in violations(p.to_cvxpy(), np.inf)) <= 1e-8


def test_a_limit_leaves_a_feasible_point_and_the_trivial_bound() -> None:
    """Of norms 0, of what boxes limit their ends; where nothing limits it there is none."""
    z = cp.Variable((6, 8), nonneg=True)
    rows = [cp.sum(z, axis=1) <= 1, cp.sum(z) >= 2]
    s = wl.Problem(cp.Minimize(cp.norm(z @ np.arange(8.0))), rows).solve(time_limit=0.0, threads=1)
    assert s.status is wl.Status.LIMIT
    assert s.certificate.feasible
    assert s.bound == pytest.approx(0.0, abs=1e-9)
    top = wl.Problem(cp.Maximize(cp.sum(cp.sqrt(z)) - cp.norm(z, "fro")), rows)
    s = top.solve(time_limit=0.0, threads=1)
    assert top.solve(threads=1).value <= s.bound <= 48.0 + 1e-6
    # Where a logarithm's first point is 0, numpy's warnings are not the user's.
    logs = wl.Problem(cp.Maximize(cp.sum(cp.log(z)) - cp.norm(z, "fro")), rows[:1])
    assert logs.solve(time_limit=1e-3, threads=1).certificate.feasible
