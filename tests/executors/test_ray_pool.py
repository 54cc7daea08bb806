"""Slices in Ray actors: few bytes, and lost actors."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import numpy as np
import pytest
from tests.executors.rays import QUIET, flows_by_link, iterate, pid_of, problem_of

import walras as wl
from walras.engines.admm.form import make_form
from walras.engines.admm.slices import row_classification
from walras.engines.admm.worker_pool import Executor
from walras.executors import ray_pool
from walras.executors.ray_pool import RayPool

pytestmark = QUIET

cs = wl.domains.cluster_scheduling
te = wl.domains.traffic_engineering


def test_bytes_of_a_pass_do_not_depend_on_the_number_of_demands(
    pools: list[RayPool], kept: Executor
) -> None:
    """A pass sends a price and brings back use and slope of every narrow row, an actor."""
    found = []
    for n in (24, 96):
        iterate(problem_of(cs.proportional_fairness, n), 20, executor=kept)
        found.append(pools[-1].bytes_of)
    narrow = 5 + 1  # and the row that asks for nothing
    for account in found:
        assert account["row_usage"] == 2 * (8 * narrow + 2 * 8 * narrow)
        assert account["advance"] == 2 * (8 * narrow + 8 + 3 * 8)
        assert account["solve_demands"] == 2 * (3 * 8 + 2 * 8)
    assert found[0] == found[1]
    assert {path.partition(".")[0] for path in found[0]} >= {"repair", "bound"}  # proofs, too


@pytest.mark.parametrize("objective", [cs.max_min, cs.proportional_fairness, cs.total_throughput])
def test_the_allocation_crosses_once_when_the_solve_ends(
    objective: Any, pools: list[RayPool], kept: Executor
) -> None:
    problem = problem_of(objective)
    gathered: list[int] = []

    def look(step: wl.progress.Progress) -> None:
        gathered.append(pools[0].gathered)

    s = wl.solve(problem, engine=wl.engines.ADMM(executor=kept), tolerance=1e-3, on_progress=look)
    assert s.status == wl.Status.OPTIMAL
    assert sum(step.note == "proof" for step in s.history) > 0
    assert not any(gathered)
    slots = make_form(problem).groups.source.size
    assert pools[0].gathered == 8 * (problem.entries + slots)


def test_rows_of_single_demands_cross_at_the_end_alone(
    pools: list[RayPool], kept: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_classification, "MOST_CORRECTED", 0)
    found = []
    for sources in (4, 12):
        many = iterate(flows_by_link(sources), 20, executor=kept)
        found.append(pools[-1].bytes_of)
    shared = 38 + 1  # links, and the row that asks for nothing
    for account in found:
        assert account["row_usage"] == 2 * (8 * shared + 2 * 8 * shared)
        assert account["advance"] == 2 * (8 * shared + 8 + 3 * 8)
        assert account["repair.correction_system"] <= 2 * (8 * 38 + 16 + 8 * 38 * (38 + 2))
    assert found[0]["row_usage"] == found[1]["row_usage"]
    one = iterate(flows_by_link(12), 20)
    assert np.array_equal(many.x, one.x)
    assert np.array_equal(many.prices, one.prices)
    problem = flows_by_link(12)
    assert pools[-1].gathered == 8 * (problem.entries + problem.rows.count - 38)


def test_a_lost_actor_takes_the_prices_of_its_own_rows_with_it(
    pools: list[RayPool], kept: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_classification, "MOST_CORRECTED", 0)
    problem = flows_by_link(12)

    def kill(step: wl.progress.Progress) -> None:
        if step.iteration >= 20 and not pools[0].replaced:
            os.kill(pid_of(pools[0], 1), signal.SIGKILL)

    s = wl.solve(problem, engine=wl.engines.ADMM(executor=kept), tolerance=1e-2, on_progress=kill)
    assert pools[0].replaced >= 1
    assert s.status == wl.Status.OPTIMAL
    assert s.value == pytest.approx(wl.solve(problem, engine="exact").value, rel=2e-2)


def test_a_lost_actor_is_replaced_and_the_solve_goes_on(pools: list[RayPool]) -> None:
    problem = problem_of(cs.max_min)
    killed: list[int] = []

    def kill(step: wl.progress.Progress) -> None:
        if step.iteration >= 20 and not killed:
            killed.append(pid_of(pools[0], 1))
            os.kill(killed[0], signal.SIGKILL)

    s = wl.solve(
        problem, engine=wl.engines.ADMM(executor=wl.Ray(actors=2)), tolerance=1e-3, on_progress=kill
    )
    assert killed
    assert pools[0].replaced == 1
    assert s.status == wl.Status.OPTIMAL
    exact = wl.solve(problem, engine="exact")
    assert s.value == pytest.approx(exact.value, rel=2e-3)


@pytest.mark.parametrize("note", ["proof", ""])
def test_what_a_lost_actor_had_kept_is_proved_again(
    note: str, pools: list[RayPool], kept: Executor
) -> None:
    problem = problem_of(cs.max_min)
    last: list[wl.progress.Progress] = []

    def kill(step: wl.progress.Progress) -> bool:
        if step.iteration < 40 or step.note != note:
            return False
        os.kill(pid_of(pools[0], 0), signal.SIGKILL)
        last.append(step)
        return True

    s = wl.solve(problem, engine=wl.engines.ADMM(executor=kept), tolerance=1e-9, on_progress=kill)
    assert (s.status, pools[0].replaced, len(last)) == (wl.Status.INTERRUPTED, 1, 1)
    assert s.certificate.violation <= 1e-9
    assert s.value > 0.0
    assert s.gap < 1.0


def test_the_actors_end_with_the_solve(pools: list[RayPool]) -> None:
    pids: list[int] = []

    def note(step: wl.progress.Progress) -> bool:
        pids.extend(pid_of(pools[0], k) for k in range(2))
        return True

    s = wl.solve(
        problem_of(cs.max_min), engine=wl.engines.ADMM(executor=wl.Ray(actors=2)), on_progress=note
    )
    assert s.status == wl.Status.INTERRUPTED
    assert len(pids) == 2
    deadline = time.monotonic() + 10
    while any(os.path.exists(f"/proc/{pid}") for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in pids if os.path.exists(f"/proc/{pid}")]


def test_an_actor_that_cannot_be_kept_is_one_clear_error(
    pools: list[RayPool], kept: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_pool, "_LOSSES", 1)
    killed: list[int] = []

    def kill(step: wl.progress.Progress) -> None:
        if not killed:
            killed.append(pid_of(pools[0], 0))
            os.kill(killed[0], signal.SIGKILL)

    with pytest.raises(wl.EngineError, match=r"slice 0 was lost 1 times.*remedy"):
        wl.solve(
            problem_of(cs.max_min),
            engine=wl.engines.ADMM(executor=kept),
            on_progress=kill,
        )
