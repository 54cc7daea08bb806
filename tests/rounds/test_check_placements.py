"""The independent check finds each kind of violation, and nothing in a good plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from walras.rounds import (
    Blocker,
    Blockers,
    Clusters,
    Decision,
    Snapshot,
    Tasks,
    Tenants,
    Violation,
    check,
)


def _snapshot(**changed: Any) -> Snapshot:
    tasks = Tasks.of(
        ["a", "b", "c", "d"],
        slots=[1, 2, 1, 1],
        min_success=[0.0, 0.0, 0.9, 0.0],
        requires=[0, 0, 1, 0],
        pin=[-1, 1, -1, -1],
        tenant=[0, 0, 1, 1],
    )
    clusters = Clusters.of(
        ["east", "west"],
        slots=[2, 3],
        ready=[0, 0, 0, 0, 50],
        labels=[{"gpu": "h100"}, {}],
        confirmed=[100.0, 100.0],
    )
    tenants = Tenants.of(["lab", "web"], quota=[4, 1], in_use=[1, 0])
    return Snapshot.of(
        tasks, clusters, tenants, requirements=({}, {"gpu": "h100"}), **changed
    ).with_rules(min_success=0.85)


SNAPSHOT = _snapshot()
WAITS = Blockers.of([(3, Blocker("quota", (1.0, 1.0, 1.0)))])


def _plan(snapshot: Snapshot = SNAPSHOT, **changed: Any) -> Decision:
    made: dict[str, Any] = {
        "snapshot": snapshot.hash,
        "cluster": [0, 1, 0, -1],
        "seconds": [10.0, 20.0, 30.0, 0.0],
        "chance": [0.8, 0.85, 0.95, 0.0],
        "makespan": 30.0,
        "bound": 30.0,
        "blockers": WAITS,
    }
    return Decision.empty(snapshot.tasks.uid, snapshot.clusters.uid, **made | changed)


def _codes(decision: Decision, snapshot: Snapshot = SNAPSHOT) -> list[str]:
    return [str(violation) for violation in check(snapshot, decision)]


def test_a_good_plan_breaks_nothing() -> None:
    assert _codes(_plan()) == []


def test_of_another_snapshot() -> None:
    other = replace(SNAPSHOT, at=1.0)
    assert _codes(_plan(), other) == ["reference: snapshot: the decision is of another snapshot"]
    renamed = replace(_plan(), tasks=("x", "b", "c", "d"))
    assert _codes(renamed) == ["reference: names: tasks or clusters are not the snapshot's"]


def test_a_task_that_is_listed_twice() -> None:
    twice = replace(SNAPSHOT, tasks=replace(SNAPSHOT.tasks, key=np.array([1, 1, 2, 3])))
    assert _codes(_plan(twice), twice) == ["once: task number 1: is listed 2 times"]


def test_states_labels_pins() -> None:
    down = replace(SNAPSHOT, clusters=replace(SNAPSHOT.clusters, state=("up", "down")))
    assert _codes(_plan(down), down)[:2] == [
        "state: cluster west: is down and gets b",
        "capacity: cluster west: 2 slots are filled of 0",
    ]
    assert _codes(_plan(cluster=[0, 1, 1, -1])) == [
        "labels: task c: requires gpu=h100; west has None",
        "capacity: cluster west: 3 slots are filled of 2",
    ]
    assert "pin: task b: is pinned to west and goes to east" in _codes(_plan(cluster=[1, 0, 0, -1]))


def test_capacity_and_sizes() -> None:
    small = replace(SNAPSHOT, clusters=replace(SNAPSHOT.clusters, slots=np.array([4, 1])))
    assert _codes(_plan(small), small) == [
        "capacity: task b: takes 2 slots; west has fewer",
        "capacity: cluster west: 2 slots are filled of 0",
    ]
    half = SNAPSHOT.with_rules(window=0.5)
    assert _codes(_plan(half), half) == [
        "capacity: cluster east: 2 slots are filled of 1",
        "capacity: cluster west: 2 slots are filled of 1",
    ]


def test_quotas() -> None:
    full = replace(SNAPSHOT, tenants=replace(SNAPSHOT.tenants, in_use=np.array([2, 0])))
    assert _codes(_plan(full), full) == ["quota: tenant lab: 2 slots in use and 3 more, of 4"]


def test_least_success_and_the_floor() -> None:
    assert _codes(_plan(chance=[1.0, 1.0, 0.85, 0.0])) == [
        "least success: task c: accepts 0.9 and has 0.85"
    ]
    low = [0.5, 0.5, 0.95, 0.0]
    assert _codes(_plan(chance=low)) == [
        "floor: mean success: 0.65 is below 0.85",
        "figures: mean success: states a shortfall of 0; it is 0.2",
    ]
    assert _codes(_plan(chance=low, shortfall=0.2, state="fallback")) == []


def test_figures() -> None:
    assert _codes(_plan(seconds=[10.0, 0.0, 30.0, 0.0])) == ["figures: task b: takes 0 s"]
    assert _codes(_plan(seconds=[10.0, np.inf, 30.0, 0.0]))[0] == "figures: task b: takes inf s"
    assert _codes(_plan(seconds=[10.0, 20.0, 30.0, 1.0])) == ["figures: task d: takes 1 s"]
    assert _codes(_plan(propensity=[0.5, 0, 0, 0.5])) == [
        "figures: task d: was drawn and not placed"
    ]
    for makespan, wide in ((29.0, False), (31.0, False), (31.0, True)):
        snapshot = SNAPSHOT.with_rules(window=1.5) if wide else SNAPSHOT
        found = _codes(_plan(snapshot, makespan=makespan, bound=1.0), snapshot)
        expected = f"figures: makespan: states {makespan:g} s; the longest task takes 30 s"
        assert found == ([] if wide else [expected])
    assert _codes(_plan(bound=31.0)) == ["figures: bound: 31 s is above the makespan of 30 s"]


def test_every_task_is_placed_or_told_of() -> None:
    assert _codes(_plan(blockers=Blockers.none())) == [
        "blockers: task d: is not placed and has none"
    ]
    both = Blockers.of([(j, Blocker("behind", (1.0,))) for j in (0, 3, 9)])
    assert _codes(_plan(blockers=both)) == [
        "blockers: task a: is placed and has blockers",
        "blockers: task number 9: is not in the snapshot",
    ]


@pytest.mark.parametrize(
    ("confirmed", "trusted", "kappa", "most"),
    [
        ([100.0, 0.0], False, 0.25, 1),  # no confirmed work: one
        ([90.0, 10.0], False, 0.25, 3),  # ceil(1.25 * 0.1 * 10) + 1
        ([90.0, 10.0], False, 0.0, 2),
        ([0.0, 0.0], False, 0.2, 7),  # nothing confirmed yet: equal shares
        ([90.0, 10.0], True, 0.25, 10),
    ],
)
def test_the_bound_on_a_provider(
    confirmed: list[float], trusted: bool, kappa: float, most: int
) -> None:
    n = 10
    snapshot = Snapshot.of(
        Tasks.of([f"t{j}" for j in range(n)]),
        Clusters.of(
            ["east", "west", "far"],
            slots=[n, n, n],
            confirmed=[*confirmed, 1e6],
            trusted=[True, trusted, False],
            state=["up", "up", "down"],
        ),
        Tenants.of(["lab"]),
    ).with_rules(kappa=kappa)
    for count in (most, most + 1):
        plan = (
            Decision.empty(
                snapshot.tasks.uid,
                snapshot.clusters.uid,
                snapshot=snapshot.hash,
                cluster=[1] * count + [0] * (n - count),
                seconds=np.ones(n),
                chance=np.ones(n),
                makespan=1.0,
                bound=1.0,
            )
            if count <= n
            else None
        )
        if plan is None:
            continue
        found = check(snapshot, plan)
        what = f"{count} of {n} tasks, at most {most}"
        assert found == ([] if count == most else [Violation("provider", "provider west", what)])
