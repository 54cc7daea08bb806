"""A decision of a plan alone keeps the check, and states what misses the floor."""

from __future__ import annotations

import numpy as np
import pytest

from walras.errors import InputError
from walras.rounds import Clusters, Rules, Snapshot, Tasks, Tenants, check, planned


def _snapshot(**rules: float) -> Snapshot:
    clusters = Clusters.of(["east", "west"], slots=[2, 1], trusted=[True, True])
    return Snapshot.of(
        Tasks.of(["a", "b", "c", "d"]), clusters, Tenants.of(["lab"]), rules=Rules(**rules)
    )


def test_a_good_plan_passes_the_check() -> None:
    snapshot = _snapshot()
    seconds = np.arange(1.0, 9.0).reshape(4, 2)
    found = planned(snapshot, [0, 1, -1, 0], seconds=seconds, policy="mine")
    assert check(snapshot, found) == []
    assert found.seconds.tolist() == [1.0, 4.0, 0.0, 7.0]
    assert (found.makespan, found.method, found.state) == (7.0, "mine", "ok")
    assert planned(snapshot, [-1] * 4).makespan == 0.0


def test_what_misses_the_floor_is_a_fallback_that_says_so() -> None:
    snapshot = _snapshot(min_success=0.8)
    found = planned(snapshot, [0, -1, -1, -1], chance=np.full((4, 2), 0.6))
    assert check(snapshot, found) == []
    assert found.state == "fallback"
    assert found.shortfall == pytest.approx(0.2)


def test_where_tasks_queue_the_work_of_a_cluster_counts() -> None:
    snapshot = _snapshot(window=2.0)
    found = planned(snapshot, [0, 0, 0, 0], seconds=np.full((4, 2), 10.0))
    assert found.makespan == 20.0
    assert check(snapshot, found) == []


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"cluster": [0, 0, 0, 2]}, r"planned.cluster\[3\]"),
        ({"cluster": [0, 0, 0, np.nan]}, "planned.cluster"),
        ({"cluster": [0]}, "planned.cluster"),
        ({"seconds": np.ones((2, 4))}, "planned.seconds"),
        ({"chance": np.full((4, 2), 1.5)}, "Decision.chance"),
        ({"seconds": np.full((4, 2), np.nan)}, "Decision.seconds"),
    ],
)
def test_what_cannot_be_used_is_named(given: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        planned(_snapshot(), **{"cluster": [0, 0, 1, -1]} | given)
