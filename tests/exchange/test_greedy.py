"""A plan without predictions keeps slots and labels."""

from __future__ import annotations

from tests.exchange.greedy import Greedy, Taken

from walras.exchange.runtime.compute import Compute
from walras.exchange.service.timing import Timing


def _plan(taken: Taken) -> dict[int, int]:
    outcome = Greedy(Timing()).decide(taken, 1.0, Compute())
    assert outcome.state == "published"
    return {placed.task: placed.cluster for placed in outcome.plan}


def test_the_emptiest_cluster_comes_first_and_no_slot_is_given_twice() -> None:
    taken = Taken([(1, {}, 2), (2, {}, 3)], [(k, 0, 1, {}) for k in range(8)])
    plan = _plan(taken)
    assert plan[0] == 2
    assert sorted(plan.values()) == [1, 1, 2, 2, 2]
    assert sorted(plan) == [0, 1, 2, 3, 4]


def test_labels_and_sizes_are_kept() -> None:
    clusters = [(1, {"gpu": "a"}, 1), (2, {"gpu": "b", "zone": "x"}, 4)]
    tasks = [
        (1, 0, 2, {"gpu": "a"}),
        (2, 0, 1, {"gpu": "a"}),
        (3, 0, 3, {"zone": "x"}),
        (4, 0, 2, {}),
        (5, 0, 1, {"zone": "y"}),
    ]
    assert _plan(Taken(clusters, tasks)) == {2: 1, 3: 2}


def test_a_fallback_says_why() -> None:
    outcome = Greedy(Timing()).fall_back(Taken([], []), "late")
    assert (outcome.state, outcome.columns["why"]) == ("fallback", "late")
