"""Inner solvers that break down: what is known is kept, with its gap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import highspy
import numpy as np
import pytest
from tests.bank.whole import drawn_assignment

import walras as wl
from walras.engines.exact import outer_approximation as outer
from walras.engines.exact.engine import Exact
from walras.errors import EngineError
from walras.programs.attempt import attempted
from walras.programs.highs import run
from walras.separable import assignment
from walras.status import Status


def broken(*_: Any, **__: Any) -> Any:
    raise EngineError("Solve error", where="a test")


def after(count: int, solve: Callable[..., Any]) -> Callable[..., Any]:
    """A solver that breaks down from its call number ``count`` on."""
    calls = iter(range(10**9))
    return lambda *given, **named: (broken if next(calls) >= count else solve)(*given, **named)


def test_a_part_that_breaks_down_gives_what_was_to_be_had_otherwise(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert attempted(lambda: 3, 4) == 3
    assert attempted(broken, 4) == 4
    assert "Solve error" in caplog.text


@pytest.fixture
def failing_highs(monkeypatch: pytest.MonkeyPatch) -> None:
    """HiGHS says ``Solve error`` to everything."""
    error = highspy.HighsModelStatus.kSolveError
    monkeypatch.setattr(highspy.Highs, "getModelStatus", lambda _: error)


@pytest.mark.usefixtures("failing_highs")
def test_assignments_keep_what_the_search_found() -> None:
    cost, weight, capacity = drawn_assignment("E", 8, 60, 3)
    problem = assignment(cost, weight, capacity)
    found = wl.solve(problem, time_limit=3.0, engine="integer", threads=1)
    assert found.status in (Status.LIMIT, Status.OPTIMAL)
    assert np.isfinite(found.gap)
    assert found.gap < 0.1
    assert np.all(found.x.sum(axis=0) == 1.0)


@pytest.mark.usefixtures("failing_highs")
def test_other_problems_keep_a_start_and_a_bound() -> None:
    cs = wl.domains.cluster_scheduling
    problem = cs.total_throughput([[4.0, 3.0, 2.0], [2.0, 2.0, 1.0]], [2.0, 2.0, 1.0], [3.0, 2.0])
    for whole in (False, True):
        found = wl.solve(problem, engine="exact", integer=whole, threads=1)
        assert found.certificate.feasible
        assert np.isfinite(found.bound)
        assert found.status in (Status.INACCURATE, Status.OPTIMAL)


def general(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    x = cp.Variable(12, integer=True)
    rows = [x >= 0, x <= 3, rng.uniform(0.5, 2, (4, 12)) @ x <= 9]
    return wl.Problem(cp.Maximize(rng.uniform(1, 3, 12) @ x), rows)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 6])
def test_each_part_of_a_general_search_may_break_down(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    optimum = general(1).solve(engine="exact", threads=1).value
    monkeypatch.setattr("walras.programs.highs.run", after(count, run))
    found = general(1).solve(engine=wl.engines.Integer(exact_entries=0), time_limit=2.0, threads=1)
    assert found.certificate.feasible
    assert found.value <= optimum + 1e-9
    assert found.bound >= optimum - 1e-9


@pytest.mark.parametrize("count", [0, 1, 2, 5])
@pytest.mark.parametrize("part", ["solve_conic", "solve_program"])
def test_outer_approximation_goes_on(
    part: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outer, part, after(count, getattr(outer, part)))
    x = cp.Variable(3, integer=True)
    rows = [x >= 1, x <= 3, cp.sum(x) <= 7]
    found = wl.Problem(cp.Maximize(cp.sum(cp.log(x))), rows).solve(threads=1)
    best = np.log(3 * 2 * 2)
    assert found.value <= best + 1e-9
    assert found.bound >= best - 1e-6


def test_levels_that_are_known_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    throughput = np.array([[1.0, 1.0, 0.01], [0.01, 0.01, 5.0]])
    problem = wl.domains.cluster_scheduling.leximin(throughput, np.ones(3), [0.5, 2.0])
    whole = wl.solve(problem, engine="exact", threads=1)
    assert len(whole.levels) == 2
    monkeypatch.setattr(Exact, "solve", after(1, Exact.solve))
    found = wl.solve(problem, engine="exact", threads=1)
    assert len(found.levels) == 1
    assert found.levels[0].value == pytest.approx(whole.levels[0].value)
    assert found.certificate.feasible
    assert found.status is Status.INACCURATE


def test_conic_problems_keep_the_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("walras.engines.exact.engine.solve_conic", broken)
    cs = wl.domains.cluster_scheduling
    problem = cs.proportional_fairness([[4.0, 3.0], [2.0, 2.0]], [1.0, 1.0], [1.0, 1.0])
    found = wl.solve(problem, engine="exact", threads=1)
    assert found.certificate.feasible
    assert np.isfinite(found.bound)
