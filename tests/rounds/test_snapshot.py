"""Snapshots: what they refuse, what follows from them, and their bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from tests.rounds.drawn import random_snapshot, snapshots

from walras.errors import DataError, InputError
from walras.rounds import (
    Clusters,
    Decision,
    FeatureSet,
    Rest,
    Snapshot,
    Tasks,
    Tenants,
)


@given(snapshots())
@settings(max_examples=60)
def test_bytes_round_trip(snapshot: Snapshot) -> None:
    data = snapshot.to_bytes()
    again = Snapshot.from_bytes(data)
    assert again.to_bytes() == data
    assert again == snapshot
    assert hash(again) == hash(snapshot)


def test_the_hash_is_the_same_on_every_machine() -> None:
    snapshot = Snapshot.of(
        Tasks.of(["train", "test"], slots=[1, 2], deadline=[np.inf, 7.5], requires=[0, 1]),
        Clusters.of(["east"], slots=[3], labels=[{"gpu": "h100"}], ready=[0.0, 0.0, np.inf]),
        Tenants.of(["lab"]),
        requirements=({}, {"gpu": "h100"}),
        at=0.1,
    )
    assert snapshot.hash == "d62e47815bc9d5858a2df26afddeadf4e03930a34d30ca2b61e4b86ba926df91"


def test_any_change_changes_the_hash() -> None:
    rng = np.random.default_rng(0)
    snapshot = random_snapshot(rng, 5, 3)
    assert snapshot.with_rules(min_success=0.81) != snapshot
    assert snapshot.with_rules(min_success=0.8) == snapshot
    assert snapshot != 3


def test_free_slots_room_and_matches() -> None:
    clusters = Clusters.of(
        ["a", "b", "c"],
        slots=[3, 2, 1],
        ready=[0, 7, 0, np.inf, 0, 0],
        state=["up", "up", "cordoned"],
        labels=[{"gpu": "h100"}, {"gpu": "h100", "zone": "eu"}, {}],
    )
    snapshot = Snapshot.of(
        Tasks.of(["t"]),
        clusters,
        Tenants.of(["lab"]),
        requirements=({}, {"gpu": "h100"}, {"gpu": "h100", "zone": "eu"}),
        rest=Rest(*np.array([[0, 0], [0, 0], [0, 1], [1, 1], [3, 4]])),
    )
    assert clusters.free.tolist() == [2, 1, 1]
    assert clusters.ready_of(0).tolist() == [0, 0, 7]
    assert snapshot.room.tolist() == [2, 1, 0]
    assert snapshot.with_rules(window=1.6).room.tolist() == [3, 1, 0]
    assert snapshot.with_rules(window=0.5).room.tolist() == [1, 0, 0]
    assert snapshot.matches.tolist() == [[True] * 3, [True, True, False], [False, True, False]]
    assert snapshot.waiting == 8
    assert repr(snapshot) == "Snapshot(1 of 8 waiting tasks, 3 clusters, 3 slots free)"


NO_FEATURES = FeatureSet((), np.zeros((2, 0), np.float32))
TASKS, CLUSTERS, TENANTS = Tasks.of(["a"]), Clusters.of(["east"]), Tenants.of(["lab"])


@pytest.mark.parametrize(
    ("make", "where"),
    [
        (lambda: Snapshot.of(TASKS, CLUSTERS, TENANTS, at=np.inf), "Snapshot.at"),
        (lambda: Snapshot.of(TASKS, CLUSTERS, TENANTS, typical=0.0), "Snapshot.typical"),
        (lambda: Snapshot.of(TASKS, CLUSTERS, TENANTS, tried=[[0, 1]]), "tried"),
        (lambda: Snapshot.of(TASKS, CLUSTERS, TENANTS, tried=[0, 1]), "tried"),
        (lambda: Snapshot.of(Tasks.of(["a"], tenant=[1]), CLUSTERS, TENANTS), "tasks.tenant"),
        (lambda: Snapshot.of(Tasks.of(["a"], pin=[1]), CLUSTERS, TENANTS), "tasks.pin"),
        (lambda: Snapshot.of(TASKS, CLUSTERS, TENANTS, features=()), "tasks.feature_set"),
        (
            lambda: Snapshot.of(TASKS, CLUSTERS, TENANTS, features=(NO_FEATURES,)),
            r"features\[0\]",
        ),
    ],
)
def test_what_cannot_be_used_is_named(make: Any, where: str) -> None:
    with pytest.raises(InputError, match=where):
        make()


def test_bytes_of_something_else_are_refused() -> None:
    snapshot = random_snapshot(np.random.default_rng(1), 4, 3)
    data = snapshot.to_bytes()
    with pytest.raises(DataError, match="snapshot"):
        Snapshot.from_bytes(Decision.empty((), ()).to_bytes())
    changes = ((b"tasks.pin", b"tasks.pen"), (b'"up"', b'"op"'), (b"rules.kappa", b"rules.kopfa"))
    for old, new in changes:
        with pytest.raises(DataError, match=r"hold no snapshot|end before|cannot be read"):
            Snapshot.from_bytes(data.replace(old, new))
