"""Whole entries: known optima, bounds that hold, agreement with HiGHS, every stage on its own."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bank.bank import WHOLE
from tests.bank.case import Case
from tests.bank.whole import best_assignment, drawn_assignment

import walras as wl
from walras.engines.integer import Integer, tasks
from walras.engines.integer import feasibility_pump as pump
from walras.separable import Separable, assignment
from walras.settings import Settings
from walras.status import Status

ALL_STAGES = Integer(exact_entries=0)  # problems of any size go through all stages


def kept(problem: Separable, x: np.ndarray) -> float:
    """Largest violation of rows, bounds and wholeness, by plain arithmetic."""
    y = problem.rows.matrix @ x
    return float(
        max(
            np.max(problem.rows.lower - y, initial=0.0),
            np.max(y - problem.rows.upper, initial=0.0),
            np.max(problem.lower - x),
            np.max(x - problem.upper),
            np.max(np.abs(x - np.round(x))),
        )
    )


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


@settings(max_examples=25)
@given(kind=st.sampled_from("CDE"), seed=st.integers(0, 500), optional=st.booleans())
def test_assignments_agree_with_trying_everything(kind: str, seed: int, optional: bool) -> None:
    cost, weight, capacity = drawn_assignment(kind, 3, 6, seed)
    if optional:
        cost = cost - 60.0
    best = best_assignment(cost, weight, capacity, all_assigned=not optional)
    problem = assignment(cost, weight, capacity, all_assigned=not optional)
    if not np.isfinite(best):
        with pytest.raises((wl.InfeasibleError, wl.EngineError)):
            raise_unless_solved(problem)
        return
    s = wl.solve(problem, engine=ALL_STAGES, tolerance=1e-9, time_limit=10.0)
    assert s.value == pytest.approx(best)
    assert s.bound <= best + 1e-6
    assert s.status is Status.OPTIMAL
    assert kept(problem, s.entries) <= 1e-9


def raise_unless_solved(problem: Separable) -> None:
    s = wl.solve(problem, engine=ALL_STAGES, time_limit=10.0)
    if s.status is Status.FAILED:
        raise wl.EngineError(str(s))


@pytest.mark.parametrize("kind", ["C", "D", "E"])
def test_assignments_of_the_literature_come_with_a_small_gap(kind: str) -> None:
    cost, weight, capacity = drawn_assignment(kind, 10, 300, 1)
    problem = assignment(cost, weight, capacity)
    s = wl.solve(problem, time_limit=4.0)
    assert s.engine == "integer"
    assert s.gap < 0.02
    assert s.bound <= s.value
    assert kept(problem, s.entries) <= 1e-9
    relaxed = wl.solve(replace(problem, integer=None), engine="exact")
    assert s.bound >= relaxed.value * (1.0 - 2e-3)


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


def test_the_pump_offers_whole_points_and_shakes_when_it_cycles() -> None:
    case = next(case for case in WHOLE if case.name == "bins")
    offered: list[np.ndarray] = []

    def take(x: np.ndarray) -> bool:
        offered.append(x)
        return len(offered) == 6

    half = np.full(case.base.entries, 0.5)
    pump.pump(case.base, half, Settings(time_limit=20.0), ALL_STAGES, take)
    assert len(offered) == 6
    assert all(np.all(x == np.round(x)) for x in offered)
    assert len({x.tobytes() for x in offered}) >= 3


def test_only_assignments_are_recognised_as_such() -> None:
    recognised = {case.name: tasks.recognised(case.base) is not None for case in WHOLE}
    assert recognised["assignment, type C"]
    assert recognised["multiple knapsack"]
    assert not recognised["bins"]
    assert not recognised["coins"]


def test_a_callback_stops_with_the_best_so_far() -> None:
    cost, weight, capacity = drawn_assignment("D", 8, 200, 2)
    problem = assignment(cost, weight, capacity)
    s = wl.solve(problem, engine=ALL_STAGES, on_progress=lambda step: True, tolerance=1e-12)
    assert s.status is Status.INTERRUPTED
    assert kept(problem, s.entries) <= 1e-9
    assert s.bound <= s.value


def test_the_same_seed_gives_the_same_assignment() -> None:
    problem = assignment(*drawn_assignment("D", 5, 60, 2))
    first, again = (
        replace(ALL_STAGES, seed=3).solve(problem, Settings(tolerance=0.05)).x for _ in range(2)
    )
    assert np.array_equal(first, again)


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
