"""Whole entries: known optima, bounds that hold, agreement with HiGHS, every stage on its own."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from tests.bank.bank import WHOLE
from tests.bank.case import Case
from tests.bank.whole import best_assignment, drawn_assignment
from tests.engines.integer.test_generalised_assignment import ALL_STAGES

import walras as wl
from walras.separable import assignment
from walras.status import Status


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in WHOLE])
@pytest.mark.parametrize("which", ["exact", "integer"])
def test_known_optima_are_found_and_proved(case: Case, which: str) -> None:
    engine = ALL_STAGES if which == "integer" else which
    s = wl.solve(case.base, engine=engine, tolerance=1e-9, time_limit=120.0)
    assert s.status is Status.OPTIMAL, str(s)
    assert s.value == pytest.approx(case.value, abs=1e-9)
    assert s.bound == pytest.approx(case.value, abs=1e-6)
    if case.entries is not None:
        np.testing.assert_allclose(s.entries, case.entries, atol=1e-9)


def test_integer_makes_all_entries_whole_where_none_is_marked() -> None:
    marked = WHOLE[0].base
    problem = replace(marked, integer=None)
    assert wl.solve(problem, integer=True).value == WHOLE[0].value
    assert wl.solve(marked).value == WHOLE[0].value
    cs = wl.domains.cluster_scheduling
    with pytest.raises(wl.InputError, match="setting integer"):
        wl.solve(cs.leximin([[1.0]], [1.0], [1.0]), integer=True)


def test_boolean_variables_of_cvxpy() -> None:
    cost, weight, capacity = drawn_assignment("C", 3, 6, 3)
    capacity = 1.4 * capacity
    x = cp.Variable((3, 6), boolean=True)
    problem = wl.Problem(
        cp.Minimize(cp.sum(cp.multiply(cost, x))),
        resource_constraints=[cp.sum(cp.multiply(weight, x), axis=1) <= capacity],
        demand_constraints=[cp.sum(x, axis=0) == 1],
    )
    s = problem.solve(tolerance=1e-9)
    assert s.value == pytest.approx(best_assignment(cost, weight, capacity))
    assert x.value is not None
    assert np.all(np.isin(np.round(x.value, 9), (0.0, 1.0)))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"weight": np.ones((2, 2))}, "have shapes"),
        ({"weight": -np.ones((2, 3))}, r"weight\[0, 0\].*is -1"),
        ({"capacity": [1.0, np.nan]}, r"capacity\[1\].*is NaN"),
        ({"cost": [[1.0, np.inf, 1.0], [1.0, np.inf, 1.0]]}, "task 1: is allowed on no agent"),
    ],
)
def test_bad_assignments_are_one_clear_error(change: dict[str, object], match: str) -> None:
    good: dict[str, object] = {
        "cost": np.ones((2, 3)),
        "weight": np.ones((2, 3)),
        "capacity": [2.0, 2.0],
    }
    with pytest.raises(wl.InputError, match=match):
        assignment(**{**good, **change})  # type: ignore[arg-type]
