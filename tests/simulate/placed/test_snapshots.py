"""Snapshots tell what a round may know: free slots, expected ends, labels, tenants, the rest."""

from __future__ import annotations

import numpy as np

import walras as wl
from walras.rounds import Decision, Rules, Snapshot, planned
from walras.simulate import Outage, Slots, TaskTrace


def _seen(tasks: TaskTrace, slots: Slots, length: float = 0.0) -> list[Snapshot]:
    seen = []
    inner = wl.policies.first_fit(predict=tasks.predict)

    def policy(snapshot: Snapshot) -> Decision:
        seen.append(snapshot)
        return inner(snapshot)

    wl.simulate.run(tasks, slots, policy, round_seconds=length)
    return seen


def test_slots_are_free_when_runs_are_predicted_to_end_not_when_they_do() -> None:
    tasks = TaskTrace.of(
        ["a", "b", "c"],
        arrival=[0, 10, 300],
        seconds=[[250.0], [500.0], [1.0]],
        predicted_seconds=[[40.0], [500.0], [1.0]],
    )
    seen = _seen(tasks, Slots({"cluster 0": 3}))
    assert [s.at for s in seen] == [0.0, 10.0, 300.0]
    assert seen[1].clusters.ready.tolist() == [0.0, 0.0, 30.0]
    assert seen[2].clusters.ready.tolist() == [0.0, 0.0, 210.0]  # b is left; a has ended
    assert seen[2].typical == 250.0
    assert seen[0].typical == 60.0


def test_a_run_that_is_late_is_expected_a_tenth_of_its_time_later() -> None:
    tasks = TaskTrace.of(
        ["a", "b"], arrival=[0, 100], seconds=[[500.0]] * 2, predicted_seconds=[[40.0]] * 2
    )
    seen = _seen(tasks, Slots({"cluster 0": 2}))
    assert seen[1].clusters.ready.tolist() == [0.0, 10.0]


def test_where_a_task_cannot_run_it_lacks_a_label() -> None:
    tasks = TaskTrace.of(
        ["a", "b", "c"],
        seconds=[[10.0, np.inf], [10.0, 10.0], [np.inf, 10.0]],
        clusters=("east", "west"),
        requirements=({}, {"gpu": "h100"}),
        requires=[0, 1, 0],
    )
    slots = Slots({"east": 1, "west": 1}, labels={"east": {"gpu": "h100"}})
    snapshot = _seen(tasks, slots)[0]
    fits = snapshot.matches[snapshot.tasks.requires]
    assert fits.tolist() == [[True, False], [True, False], [False, True]]


def test_tenants_states_tries_and_confirmed_work() -> None:
    tasks = TaskTrace.of(
        ["a", "b", "c"],
        tenant=("u", "u", "w"),
        arrival=[0, 0, 50],
        size=[2, 1, 1],
        seconds=[[20.0], [40.0], [5.0]],
        chance=[[1.0], [0.0], [1.0]],
        max_attempts=[2, 2, 2],
        predicted_chance=[[1.0]] * 3,
    )
    slots = Slots(
        {"cluster 0": 4},
        provider={"cluster 0": "lab"},
        quotas={"w": 2},
        outages=[Outage("cluster 0", 45.0, 48.0, "cordoned")],
    )
    seen = _seen(tasks, slots)
    assert seen[0].tenants.name == ("u", "w")
    assert seen[0].tenants.quota.tolist() == [-1, 2]
    failed = next(s for s in seen if s.tried.size)
    assert failed.tried.tolist() == [[0, 0]]
    assert failed.tasks.uid[0] == "b"
    assert failed.tasks.attempt[0] == 1
    last = seen[-1]
    assert last.clusters.confirmed.tolist() == [40.0]
    assert 0.0 < last.tenants.used[0] < 2 * 20.0 + 40.0 + 1.0


def test_what_is_not_listed_is_counted_and_tenants_take_turns() -> None:
    n = 30
    tasks = TaskTrace.of(
        [f"t{j}" for j in range(n)],
        tenant=("u",) * 20 + ("w",) * 10,
        size=[1] * 29 + [2],
        seconds=np.full((n, 1), 10.0),
    )
    snapshot = _seen(tasks, Slots({"cluster 0": 2}, listed=4))[0]
    assert snapshot.tasks.uid == ("t0", "t1", "t2", "t3", "t20", "t21", "t22", "t23")
    assert int(snapshot.rest.count.sum()) == n - 8
    assert snapshot.waiting == n


def test_tasks_that_no_cluster_can_take_now_do_not_hide_the_others() -> None:
    tasks = TaskTrace.of(
        [f"t{j}" for j in range(12)],
        arrival=np.zeros(12),
        seconds=[[10.0, np.inf]] * 10 + [[np.inf, 10.0]] * 2,
        clusters=("east", "west"),
    )
    slots = Slots({"east": 1, "west": 1}, outages=[Outage("east", 0.0, 500.0)], listed=1)
    run = wl.simulate.run(tasks, slots, wl.policies.first_fit(), round_seconds=0)
    assert run.runs["task"].tolist()[:2] == ["t10", "t11"]
    assert run.complete


def test_a_window_lists_what_waits_on_clusters() -> None:
    tasks = TaskTrace.of(["a", "b", "c"], arrival=[0, 0, 5], seconds=[[10.0], [20.0], [1.0]])

    def policy(snapshot: Snapshot) -> Decision:
        seen.append(snapshot)
        free = snapshot.room.copy()
        plan = np.full(len(snapshot.tasks), -1)
        plan[: int(free[0])] = 0
        return planned(snapshot, plan)

    seen: list[Snapshot] = []
    slots = Slots({"cluster 0": 1}, rules=Rules(window=2.0))
    run = wl.simulate.run(tasks, slots, policy, round_seconds=0)
    assert run.runs["began"].tolist() == [0.0, 10.0, 30.0]
    assert [s.at for s in seen] == [0.0, 30.0]
