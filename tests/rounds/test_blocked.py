"""Every blocker of a task: cases made by hand, then random plans."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rounds.drawn import snapshots

from walras.rounds import Circumstances, Clusters, Snapshot, Tasks, Tenants, blockers_of

GPU: tuple[dict[str, str], ...] = (
    {},
    {"gpu": "h100"},
    {"gpu": "h100", "zone": "eu"},
    {"zone": "moon"},
)


def _reasons(
    task: dict[str, Any],
    clusters: dict[str, Any],
    *,
    tenant: dict[str, Any] | None = None,
    known: Circumstances | None = None,
    more: dict[str, Any] | None = None,
) -> list[str]:
    """The reasons why one task is not placed."""
    m = len(next(iter(clusters.values())))
    made = Clusters.of([f"c{i}" for i in range(m)], **clusters)
    snapshot = Snapshot.of(
        Tasks.of(["t"], **task),
        made,
        Tenants.of(["lab"], **(tenant or {})),
        requirements=GPU,
        **(more or {}),
    )
    return [str(b) for b in blockers_of(snapshot, np.array([-1]), known).about(0)]


def test_slots_and_sizes() -> None:
    three = {"slots": [4, 2], "ready": [0, 0, 0, 9, 0, 0]}
    assert _reasons({"slots": [4]}, three) == ["slots asked 4, free 3"]
    assert _reasons({"slots": [5]}, three) == ["slots asked 5, largest cluster 4"]


def test_labels_one_by_one_and_together() -> None:
    has = {"labels": [{"gpu": "h100"}, {"zone": "eu"}, {}]}
    assert _reasons({"requires": [2]}, has) == [
        "labels gpu=h100, zone=eu together: 0 of 3 clusters"
    ]
    assert _reasons({"requires": [3]}, has) == ["label zone=moon: 0 of 3 clusters"]
    assert _reasons({"requires": [2]}, {"labels": [{}] * 12}) == [
        "label gpu=h100: 0 of 12 clusters",
        "label zone=eu: 0 of 12 clusters",
    ]


def test_states() -> None:
    assert _reasons({}, {"state": ["down", "cordoned"]}) == [
        "no cluster is up: 0 of 2",
        "none of the 2 clusters that match is up",
    ]
    some = {"state": ["draining", "up"], "labels": [{"gpu": "h100"}, {}]}
    assert _reasons({"requires": [1]}, some) == ["none of the 1 clusters that match is up"]
    empty = Snapshot.of(Tasks.of(["t"]), Clusters.of([]), Tenants.of(["lab"]))
    assert [str(b) for _, b in blockers_of(empty, np.array([-1]))] == ["no cluster is up: 0 of 0"]


def test_quota_deadline_and_pin_beside_other_reasons() -> None:
    explained = _reasons(
        {"slots": [2], "deadline": [88.0], "pin": [0]},
        {"slots": [1, 2], "ready": [0, 0, 5]},
        tenant={"quota": [40], "in_use": [39]},
        more={"at": 100.0},
    )
    assert explained == [
        "slots asked 2, free 1",
        "pinned to c0, which cannot take it now",
        "quota 39 of 40 slots, asked 2",
        "deadline passed 12 s ago",
    ]


def test_least_success() -> None:
    low = Circumstances(chance=np.array([[0.91, 0.5]]))
    two: dict[str, Any] = {"slots": [1, 1]}
    assert _reasons({"min_success": [0.95]}, two, known=low) == ["least success 0.95, best 0.91"]
    # The good cluster is full, and the one that has a slot is not good enough.
    full = two | {"ready": [3.0, 0.0]}
    assert _reasons({"min_success": [0.9]}, full, known=low) == ["least success 0.9, best 0.5"]
    assert _reasons({"min_success": [0.9]}, two, known=low) == [
        "left out by the plan (plan): free slots on 2 clusters"
    ]


def test_tried_kept_and_bounded_providers() -> None:
    tried = Circumstances(avoided=np.array([[True, False]]), bounds={"c1": 0})
    assert _reasons({}, {"slots": [1, 1]}, known=tried) == [
        "failed before on 1 of 2 clusters that match",
        "provider c1 is at its bound: 0 of 0 tasks",
    ]
    assert _reasons({}, {"slots": [1, 1], "trusted": [False, True]}, known=tried)[0].startswith(
        "left"
    )
    snapshot = Snapshot.of(
        Tasks.of(["large", "long"], slots=[2, 1]),
        Clusters.of(["east"], slots=[2], ready=[0.0, 30.0]),
        Tenants.of(["lab"]),
    )
    kept = Circumstances(
        kept=np.array([[False], [True]]),
        reserved=np.array([0]),
        reserved_until=np.array([30.0]),
    )
    found = blockers_of(snapshot, np.array([-1, -1]), kept)
    assert [str(b) for b in found.about(0)] == ["slots asked 2, free 1"]
    assert [str(b) for b in found.about(1)] == [
        "free slots are kept for large, which starts in 30 s"
    ]


def test_behind_counts_those_that_still_wait() -> None:
    n = 6
    snapshot = Snapshot.of(
        Tasks.of([f"t{j}" for j in range(n)], ahead=[0, 1, 2, 10, 11, 12]),
        Clusters.of(["east"], slots=[3], ready=[0.0, 0.0, 5.0]),
        Tenants.of(["lab"]),
    )
    plan = np.array([0, -1, 0, -1, -1, -1])
    beyond = np.array([False, False, False, True, True, True])
    found = blockers_of(snapshot, plan, Circumstances(beyond=beyond))
    assert [str(found.about(j)[-1]) for j in (1, 3, 5)] == [
        "slots asked 1, free 0",
        "behind 8 tasks",
        "behind 10 tasks",
    ]


@given(snapshots(), st.integers(0, 2**32 - 1), st.booleans())
def test_each_task_that_is_not_placed_is_told_why(
    snapshot: Snapshot, seed: int, known: bool
) -> None:
    rng = np.random.default_rng(seed)
    n, m = len(snapshot.tasks), len(snapshot.clusters)
    plan = np.where(rng.random(n) < 0.5, -1, rng.integers(0, m, n) if m else -1)
    more = None
    if known:
        chance = rng.random((n, m))
        chance[rng.random(n) < 0.3] = np.nan
        more = Circumstances(
            chance=chance,
            avoided=rng.random((n, m)) < 0.3,
            beyond=rng.random(n) < 0.5,
            bounds={provider: 1 for provider in snapshot.clusters.provider},
            kept=rng.random((n, m)) < 0.3,
            reserved=rng.integers(-1, n, m),
            reserved_until=rng.uniform(0, 9, m),
        )
    found = blockers_of(snapshot, plan, more)
    assert set(found.task.tolist()) == set(np.flatnonzero(plan < 0).tolist())
    for _, blocker in found:
        assert str(blocker)
    # Said once: no blocker is repeated.
    rows = [(j, b.code, b.word) for j, b in found]
    assert len(rows) == len(set(rows))


@pytest.mark.parametrize("asked", [1, 3])
def test_counts(asked: int) -> None:
    snapshot = Snapshot.of(
        Tasks.of(["a", "b"], slots=[asked, asked]), Clusters.of(["east"]), Tenants.of(["lab"])
    )
    counts = blockers_of(snapshot, np.array([-1, -1])).counts
    assert counts == ({"left": 2} if asked == 1 else {"size": 2})
