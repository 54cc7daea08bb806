"""What holds in every world: slots, work, attempts, and that every task ends or is listed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from tests.simulate.placed.worlds import run_of, worlds

import walras as wl
from walras.simulate import Outage, PlacedRun, Slots, TaskTrace


def _overfull(run: PlacedRun) -> float:
    """By how many slots a cluster is ever over its own; ends come before starts at one time."""
    runs, worst = run.runs, -np.inf
    for name, slots in zip(run.types, run.workers, strict=True):
        mine = runs[runs["cluster"] == name]
        ended = mine["ended"].fillna(np.inf)
        for at in mine["began"]:
            busy = mine["slots"][(mine["began"] <= at) & (ended > at)].sum()
            worst = max(worst, busy - slots)
    return worst


@settings(max_examples=60, deadline=None)
@given(worlds())
def test_slots_work_and_attempts(world: tuple) -> None:
    tasks, slots, _, _ = world
    run = run_of(world)
    runs = run.runs
    assert run.violations == ()
    assert _overfull(run) <= 0
    # The work of the rounds is that of the runs, which is that of the tasks.
    until = runs["ended"].fillna(run.end)
    work = (runs["slots"] * (until - runs["began"])).sum()
    assert run.busy.sum() == pytest.approx(work, rel=1e-9, abs=1e-9)
    assert (run.received.sum(axis=1) @ run.size) == pytest.approx(work, rel=1e-9, abs=1e-9)
    good = runs[runs["outcome"] == "succeeded"]
    place = {name: j for j, name in enumerate(tasks.name)}
    row: Any
    for row in good.itertuples():
        i = run.types.index(row.cluster)
        seconds = tasks.seconds[place[row.task], i]
        assert row.ended - row.began == pytest.approx(seconds, abs=1e-9)
    # Each run is in one state of its task, and no task runs twice at once.
    for name, mine in runs.groupby("task"):
        j = place[str(name)]
        failed = int((mine["outcome"] == "failed").sum())
        assert failed <= tasks.max_attempts[j]
        assert (run.state[j] == "ended") == (mine["outcome"] == "succeeded").any()
        assert (run.state[j] != "failed") or failed == tasks.max_attempts[j]
        assert (mine["began"].to_numpy()[1:] >= mine["ended"].to_numpy()[:-1]).all()
    # Nothing runs on a cluster that is down, or begins on one that takes nothing new.
    for outage in slots.outages:
        mine = runs[runs["cluster"] == outage.cluster]
        assert not ((mine["placed"] >= outage.begin) & (mine["placed"] < outage.end)).any()
        if outage.state == "down":
            ended = mine["ended"].fillna(np.inf)
            assert not ((mine["began"] < outage.end) & (ended > outage.begin)).any()


@settings(max_examples=30, deadline=None)
@given(worlds())
def test_every_task_ends_or_is_listed(world: tuple) -> None:
    run = run_of(world)
    assert set(run.state) <= {"ended", "failed", "expired", "waiting"}
    settled = ~np.isnan(run.settled)
    assert [state != "waiting" for state in run.state] == settled.tolist()
    assert int(run.fates.sum()) == len(run.name)
    begins = run.runs.groupby("task")["placed"].min()
    for name, deadline, arrival in zip(run.name, run.deadline, run.arrival, strict=True):
        if name in begins.index:
            assert arrival <= begins[name] <= deadline


@settings(max_examples=15, deadline=None)
@given(worlds())
def test_the_same_seed_gives_the_same_bytes(world: tuple) -> None:
    first, second = run_of(world, seed=3), run_of(world, seed=3)
    assert first.hash == second.hash
    assert first.runs.equals(second.runs)


def test_a_file_has_the_same_bytes_and_is_read_back(tmp_path: Path) -> None:
    tasks = wl.simulate.draw_tasks(20, rate=600.0, seed=4)
    slots = Slots({"east": 2, "west": 2}).with_failures(600.0, 60.0, 3600.0, seed=1)
    found = [wl.simulate.run(tasks, slots, wl.policies.first_fit()) for _ in range(2)]
    for k, run in enumerate(found):
        run.save(tmp_path / f"{k}.npz")
    assert (tmp_path / "0.npz").read_bytes() == (tmp_path / "1.npz").read_bytes()
    again = wl.load(tmp_path / "0.npz")
    assert isinstance(again, PlacedRun)
    assert (again.hash, again.state) == (found[0].hash, found[0].state)


def test_luck_is_the_same_under_every_policy() -> None:
    tasks = wl.simulate.draw_tasks(60, rate=600.0, chance=0.6, apart=0.0, error=0.0, seed=2)
    tasks = TaskTrace.of(tasks.name, seconds=tasks.seconds, chance=np.full((60, 2), 0.6))
    slots = Slots({"cluster 0": 3, "cluster 1": 3})
    runs = [
        wl.simulate.run(tasks, slots, policy, round_seconds=0)
        for policy in (wl.policies.first_fit(), wl.policies.best_fit())
    ]
    assert runs[0].attempts.tolist() == runs[1].attempts.tolist()
    assert 1.3 < runs[0].attempts.mean() < 2.0  # 1 + 0.4 + 0.16 expected


def test_a_cluster_that_fails_loses_its_runs_and_one_that_drains_keeps_them() -> None:
    tasks = TaskTrace.of(["a"], seconds=[[100.0]], max_attempts=[1])
    for state, began in (("down", [0.0, 40.0]), ("draining", [0.0]), ("cordoned", [0.0])):
        slots = Slots({"cluster 0": 1}, outages=[Outage("cluster 0", 30.0, 40.0, state)])
        run = wl.simulate.run(tasks, slots, wl.policies.first_fit(), round_seconds=0)
        assert run.runs["began"].tolist() == began, state
        assert run.state == ("ended",)  # a lost run is no failed attempt
        assert run.makespan == 100.0 + began[-1]


def test_tasks_queue_on_clusters_in_order_and_come_back_from_one_that_drains() -> None:
    tasks = TaskTrace.of(["a", "b", "c"], seconds=[[10.0, 1e4]] * 3, arrival=[0, 0, 0])
    rules = wl.rounds.Rules(window=3.0)
    slots = Slots({"cluster 0": 1, "cluster 1": 1}, rules=rules)
    run = wl.simulate.run(tasks, slots, wl.policies.first_fit(), round_seconds=0)
    assert run.runs["began"].tolist() == [0.0, 10.0, 20.0]
    assert run.runs["placed"].tolist() == [0.0] * 3
    drained = Slots(slots.counts, rules=rules, outages=[Outage("cluster 0", 5.0, 15.0, "draining")])
    run = wl.simulate.run(tasks, drained, wl.policies.first_fit(), round_seconds=0)
    assert run.runs["cluster"].tolist() == ["cluster 0", "cluster 1", "cluster 1"]
    assert run.runs["placed"].tolist() == [0.0, 5.0, 5.0]
    assert run.runs["began"].tolist() == [0.0, 5.0, 10005.0]
