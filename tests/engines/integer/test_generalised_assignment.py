"""Generalised assignments: known optima, bounds that hold, stops and seeds."""

from __future__ import annotations

import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bank.whole import best_assignment, drawn_assignment

import walras as wl
from walras.engines.integer import Integer, engine
from walras.engines.integer import generalised_assignment as ga
from walras.engines.integer.options import AssignmentSearch
from walras.kernels import knapsacks
from walras.kernels.local_search import assign, chains
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
    s = wl.solve(problem, engine=ALL_STAGES, tolerance=1e-9, time_limit=60.0)
    assert s.value == pytest.approx(best)
    assert s.bound <= best + 1e-6
    assert s.status is Status.OPTIMAL
    assert kept(problem, s.entries) <= 1e-9


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


def test_a_callback_stops_with_the_best_so_far() -> None:
    cost, weight, capacity = drawn_assignment("D", 8, 200, 2)
    problem = assignment(cost, weight, capacity)
    s = wl.solve(problem, engine=ALL_STAGES, on_progress=lambda step: True, tolerance=1e-12)
    assert s.status is Status.INTERRUPTED
    assert kept(problem, s.entries) <= 1e-9
    assert s.bound <= s.value


def test_a_few_rounds_of_chains_reach_the_tolerance_without_highs() -> None:
    problem = assignment(*drawn_assignment("D", 10, 100, 1))
    few = replace(ALL_STAGES, assignment=AssignmentSearch(rounds=8, large=0))
    s = few.solve(problem, Settings(tolerance=0.012))
    assert s.message == "ejection chains"
    assert s.bound <= problem.cost @ s.x <= 1.0125 * s.bound
    assert kept(problem, s.x) <= 1e-9


@pytest.mark.parametrize("kind", ["C", "D", "E"])
def test_the_shortest_limit_gives_an_assignment_wherever_there_is_one(kind: str) -> None:
    for seed in range(15):
        drawn = drawn_assignment(kind, 3, 6, seed)
        best, problem = best_assignment(*drawn), assignment(*drawn)
        if not np.isfinite(best):
            with pytest.raises((wl.InfeasibleError, wl.EngineError)):
                raise_unless_solved(problem, 1e-3)
            continue
        s = ALL_STAGES.solve(problem, Settings(time_limit=1e-3))
        assert kept(problem, s.x) <= 1e-9
        assert s.bound <= best + 1e-6 <= problem.cost @ s.x + 2e-6


def test_no_value_is_given_where_no_assignment_is_known() -> None:
    problem = assignment([[1.0] * 101] * 2, [[2.0] * 101] * 2, [101.0, 101.0])
    s = wl.solve(problem, engine="integer", time_limit=1e-3)
    assert s.status is Status.FAILED
    assert np.isnan(s.value)


def test_compiling_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling takes an hour here, and the limit is two seconds."""
    late, compile_kernels = [0.0], ga.compile_kernels

    def slow() -> None:
        compile_kernels()
        late[0] = 3600.0

    monkeypatch.setattr(ga, "compile_kernels", slow)
    clock = SimpleNamespace(perf_counter=lambda: time.perf_counter() + late[0])
    monkeypatch.setattr(ga, "time", clock)
    problem = assignment(*drawn_assignment("D", 5, 60, 2))
    s = ALL_STAGES.solve(problem, Settings(tolerance=0.05, time_limit=2.0))
    assert s.status is Status.OPTIMAL
    assert s.timings.iterate < 60.0


def test_all_kernels_are_compiled_before_the_clock_starts() -> None:
    kernels = (
        assign.ascend,
        assign.priced,
        chains.search,
        knapsacks.climb,
        knapsacks.losses,
    )
    ga.compile_kernels()
    before = [list(kernel.signatures) for kernel in kernels]
    assert all(before)
    ALL_STAGES.solve(assignment(*drawn_assignment("D", 8, 100, 2)), Settings(time_limit=0.5))
    assert [list(kernel.signatures) for kernel in kernels] == before


def test_the_same_seed_gives_the_same_assignment() -> None:
    problem = assignment(*drawn_assignment("D", 5, 60, 2))
    first, again = (
        replace(ALL_STAGES, seed=3).solve(problem, Settings(tolerance=0.05)).x for _ in range(2)
    )
    assert np.array_equal(first, again)


def raise_unless_solved(problem: Separable, time_limit: float = 10.0) -> None:
    s = wl.solve(problem, engine=ALL_STAGES, time_limit=time_limit)
    if s.status is Status.FAILED:
        raise wl.EngineError(str(s))


def test_an_interrupt_before_an_assignment_is_known_begins_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ga.compile_kernels()

    def pressed(*_: object) -> float:
        raise KeyboardInterrupt

    monkeypatch.setattr(assign, "ascend", pressed)
    monkeypatch.setattr(engine, "_General", lambda *_: pytest.fail("began another search"))
    problem = assignment(*drawn_assignment("D", 3, 8, 3))
    with pytest.raises(KeyboardInterrupt):
        wl.solve(problem, engine=Integer(exact_entries=0), time_limit=10.0)


@settings(max_examples=30)
@given(seed=st.integers(0, 500), offset=st.sampled_from([1e9, 1e12, 1e15]))
def test_bounds_hold_where_large_costs_cancel(seed: int, offset: float) -> None:
    cost, weight, capacity = drawn_assignment("C", 3, 6, seed)
    moved = cost + offset * np.array([1.0, -1.0] * 3)
    best = best_assignment(cost, weight, 1.3 * capacity)
    s = wl.solve(assignment(moved, weight, 1.3 * capacity), engine=ALL_STAGES, time_limit=5.0)
    error = 36 * offset * np.finfo(np.float64).eps
    assert s.bound <= best + error


def test_progress_lines_are_of_the_search_alone(caplog: pytest.LogCaptureFixture) -> None:
    cost, weight, capacity = drawn_assignment("D", 5, 40, 2)
    problem = assignment(1000.0 - cost, weight, capacity, maximize=True)
    s = wl.solve(problem, engine=ALL_STAGES, tolerance=1e-9, time_limit=3.0, verbose=True)
    lines = [line for line in caplog.messages if " bound " in line]
    bounds = [float(line.split(" bound ")[1].split()[0]) for line in lines]
    assert len(bounds) > 2
    assert min(bounds) >= s.value - 1e-6  # all are bounds of the largest worth
