"""Programs over listed patterns, held against every assignment and against HiGHS."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.bank.whole import drawn_assignment
from tests.engines.integer.assignments import every_assignment, stated

import walras as wl
from walras.engines.integer import Integer
from walras.engines.integer import generalised_assignment as ga
from walras.engines.integer.branching import Branched
from walras.engines.integer.lagrangian_bound import relax
from walras.engines.integer.options import AssignmentSearch
from walras.engines.integer.pattern_program import Patterns, choose, listed
from walras.engines.integer.tasks import Tasks
from walras.separable import assignment
from walras.settings import Settings
from walras.status import Status

# The chains hardly begin, so that patterns are left something to find.
QUICK = Integer(exact_entries=0, assignment=AssignmentSearch(small=0, search_share=0.02))


def patterns_of(tasks: Tasks, target: float, most: int) -> Patterns | None:
    keep = np.ones(tasks.cost.shape, dtype=bool)
    found = relax(tasks, keep, tasks.cost.min(axis=1), target, lambda: True)
    return listed(tasks, keep, found.price, target, most)


@settings(max_examples=20)
@given(
    kind=st.sampled_from("CDE"),
    seed=st.integers(0, 500),
    scale=st.sampled_from([1.0, 0.37, 900.0]),
    most=st.sampled_from([20, 100, 1_000]),
)
def test_cheaper_assignments_use_listed_patterns_only(
    kind: str, seed: int, scale: float, most: int
) -> None:
    tasks = stated(kind, 3, 6, seed, scale=scale)
    fits, cost = every_assignment(tasks)
    assume(len(fits) > 0)
    start = fits[np.argmax(cost)].astype(np.int32)
    found = patterns_of(tasks, float(cost.max()), most)
    if found is None:
        return
    assert len(found.agent) <= most
    parts = np.split(found.task, found.first[1:-1])
    known = {
        (int(i), tuple(sorted(part.tolist()))) for i, part in zip(found.agent, parts, strict=True)
    }
    for agent in fits[cost < found.reach - 1e-6]:
        for i in np.unique(agent):
            assert (int(i), tuple(np.flatnonzero(agent == i).tolist())) in known
    chosen = choose(tasks, found, start, Settings(1e-9, 10.0))
    assert chosen.agent is not None
    value = tasks.cost[np.arange(6), chosen.agent].sum()
    assert chosen.bound <= cost.min() + 1e-6
    assert value >= cost.min() - 1e-6
    if cost.min() < found.reach - 1e-6:
        assert value == pytest.approx(cost.min())


@pytest.mark.parametrize("count", [6, 60])  # more than one pattern; and one of too many tasks
def test_too_many_patterns_are_not_listed(count: int) -> None:
    tasks = stated("D", 4, count, 1, room=1.0)
    assert patterns_of(tasks, 1e6, 1) is None
    assert patterns_of(stated("D", 4, 6, 1, room=1.0), 1e6, 4**6) is not None


@pytest.mark.parametrize(("kind", "agents"), [("C", 10), ("E", 6)])
def test_patterns_prove_an_optimum_that_chains_do_not(
    kind: str, agents: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    cost, weight, capacity = drawn_assignment(kind, agents, 4 * agents, 3)
    problem = assignment(cost, weight, capacity)
    exact = wl.solve(problem, engine="exact", time_limit=60.0)
    calls = []

    def counted(*given: Any) -> Branched:
        calls.append(given)
        return choose(*given)

    monkeypatch.setattr(ga, "choose", counted)
    monkeypatch.setattr(ga, "branch", lambda *_: pytest.fail("the patterns prove it"))
    s = wl.solve(problem, engine=QUICK, tolerance=1e-9, time_limit=20.0)
    assert calls
    assert exact.status is s.status is Status.OPTIMAL
    assert s.value == pytest.approx(exact.value)
    assert s.bound == pytest.approx(exact.value)


@pytest.mark.parametrize("pressed", [False, True])
def test_a_stop_among_patterns_keeps_the_best(
    pressed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    cost, weight, capacity = drawn_assignment("E", 8, 60, 4)
    began, seen = [], []

    def noted(*given: Any) -> Branched:
        began.append(given)
        if pressed:
            raise KeyboardInterrupt
        return choose(*given)

    def watch(step: wl.Progress) -> bool:
        seen.append((step.value, step.bound))
        return bool(began)

    monkeypatch.setattr(ga, "choose", noted)
    problem = assignment(1000.0 - cost, weight, capacity, maximize=True)
    s = wl.solve(problem, engine=QUICK, tolerance=1e-9, time_limit=30.0, on_progress=watch)
    assert len(began) == 1
    assert s.status is Status.INTERRUPTED
    assert s.timings.total < 15.0
    assert s.certificate.feasible
    known = [step for step in seen if np.isfinite(step[0])]
    assert all(value <= bound + 1e-6 for value, bound in known)
    assert s.value == pytest.approx(known[-1][0])


@pytest.mark.parametrize("offset", [1e7, -1e7])
@pytest.mark.parametrize("factor", [1.0, 1e7])
def test_costs_far_from_zero_and_large_costs_have_the_same_optimum(
    offset: float, factor: float
) -> None:
    cost, weight, capacity = drawn_assignment("D", 3, 8, 3)
    capacity = np.ceil(1.2 * capacity)
    plain = wl.solve(assignment(cost, weight, capacity), engine="exact")
    moved = factor * (cost + offset * np.array([1.0, -1.0] * 4))
    for rule in (QUICK, Integer(exact_entries=0)):
        s = wl.solve(
            assignment(moved, weight, capacity), engine=rule, tolerance=1e-9, time_limit=10.0
        )
        assert s.status is Status.OPTIMAL
        assert s.value == pytest.approx(factor * plain.value, rel=1e-9)
