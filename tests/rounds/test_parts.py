"""The parts of a snapshot: defaults, what follows from them, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from walras.errors import InputError
from walras.rounds import Clusters, FeatureSet, Rest, Rules, Tasks, Tenants


@pytest.mark.parametrize(
    ("make", "where"),
    [
        (lambda: Tasks.of(["a", "a"]), "Tasks.uid"),
        (lambda: Clusters.of(["a"], provider="a"), "Clusters.provider"),
        (lambda: Tasks.of(["a"], slots=[0]), r"Tasks.slots\[0\]"),
        (lambda: Tasks.of(["a"], slots=[1.5]), "Tasks.slots"),
        (lambda: Tasks.of(["a"], slots=[1, 2]), "Tasks.slots"),
        (lambda: Tasks.of(["a"], slots=["x"]), "Tasks.slots"),
        (lambda: Tasks.of(["a"], submitted=[np.nan]), "Tasks.submitted"),
        (lambda: Tasks.of(["a"], min_success=[1.1]), "Tasks.min_success"),
        (lambda: Tasks.of(["a"], colour=[1]), "Tasks.of"),
        (lambda: Clusters.of(["a"], state=["off"]), "Clusters.state"),
        (lambda: Clusters.of(["a"], labels=[{"gpu": 1}]), "Clusters.labels"),
        (lambda: Clusters.of(["a"], labels=[]), "Clusters.labels"),
        (lambda: Clusters.of(["a"], ready=[-1.0]), "Clusters.ready"),
        (lambda: Clusters.of(["a"], price=[-1.0]), "Clusters.price"),
        (lambda: Clusters.of(["a"], provider=[]), "Clusters.provider"),
        (lambda: Tenants.of(["a"], weight=[0.0]), "Tenants.weight"),
        (lambda: Tenants.of(["a"], quota=[-2]), "Tenants.quota"),
        (lambda: FeatureSet(("a",), np.ones((1, 2), np.float32)), "FeatureSet.values"),
        (lambda: FeatureSet(("a",), np.full((1, 1), np.nan, np.float32)), "FeatureSet.values"),
        (lambda: Rest(*np.array([[0], [0], [0], [1], [0]])), "Rest.count"),
        (lambda: Rules(min_success=1.5), "Rules.min_success"),
        (lambda: Rules(window=float("nan")), "Rules.window"),
        (lambda: Rules(min_success="high"), r"Rules\.min_success: is not numeric"),  # type: ignore[arg-type]
        (lambda: Rules(window=[1, 2]), r"Rules\.window: has shape"),  # type: ignore[arg-type]
        (lambda: Tasks.of("ab"), r"Tasks\.of: is given 'ab'"),  # type: ignore[arg-type]
        (lambda: Clusters.of(["a"], slots=["x"]), r"Clusters\.slots: is not numeric"),
        (lambda: Clusters.of(["a"], slots=[1.5]), r"Clusters\.slots: has numbers"),
        (lambda: Clusters.of(["a"], slots=[-1]), r"Clusters\.slots\[0\]: is -1"),
        (lambda: Clusters.of(["a"], slots=[10**9]), r"Clusters\.slots\[0\]: is 1000000000"),
        (lambda: Clusters.of(["a"], colour=[1]), r"Clusters\.of: there is no field 'colour'"),
        (lambda: Clusters.of(["a"], labels=[3]), r"Clusters\.labels: has 3"),
        (lambda: Clusters.of(["a"], state=5), r"Clusters\.state: are not texts"),
        (lambda: Tenants.of(["a"], colour=[1]), r"Tenants\.of: there is no field 'colour'"),
        (lambda: FeatureSet(("a",), [[1], [2, 3]]), "values: is not numeric"),  # type: ignore[arg-type]
        (lambda: FeatureSet(("a",), np.array(3.0)), "values: has shape"),
    ],
)
def test_what_cannot_be_used_is_named(make: Any, where: str) -> None:
    with pytest.raises(InputError, match=where):
        make()


def test_tasks_have_defaults_in_the_order_given() -> None:
    tasks = Tasks.of(["a", "b"], priority=[3, 0])
    assert len(tasks) == 2
    assert (tasks.key.tolist(), tasks.ahead.tolist()) == ([1, 2], [0, 1])
    assert (tasks.pin.tolist(), tasks.previous.tolist()) == ([-1, -1], [-1, -1])
    assert tasks.deadline.tolist() == [np.inf, np.inf]
    assert tasks.priority.tolist() == [3, 0]


def test_clusters_tell_which_slots_are_free_and_when() -> None:
    clusters = Clusters.of(
        ["a", "b", "c"],
        slots=[3, 0, 2],
        ready=[9.0, 0.0, 4.0, np.inf, 0.0],
        state=["up", "down", "cordoned"],
    )
    assert clusters.start.tolist() == [0, 3, 3, 5]
    assert clusters.free.tolist() == [1, 0, 1]
    assert clusters.up.tolist() == [True, False, False]
    assert clusters.ready_of(0).tolist() == [0.0, 4.0, 9.0]
    assert clusters.ready_of(1).tolist() == []
    assert clusters.provider == ("a", "b", "c"), "each its own, where none is named"


def test_parts_of_nothing() -> None:
    assert len(Tasks.of([])) == len(Clusters.of([])) == len(Tenants.of([])) == 0
    assert Rest.none().count.tolist() == []
    assert FeatureSet((), np.zeros((2, 0), np.float32)).values.shape == (2, 0)


def test_arrays_are_read_only_and_the_given_ones_stay_as_they_were() -> None:
    slots = np.array([1, 2])
    tasks = Tasks.of(["a", "b"], slots=slots)
    slots[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        tasks.slots[0] = 5
