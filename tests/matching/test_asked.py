"""What a caller asks of a round becomes terms, or one clear error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from walras.errors import InfeasibleError, InputError
from walras.matching import Decay, match
from walras.matching.asked import Asked
from walras.matching.terms import Terms

INF, NAN = np.inf, np.nan


TIMES = np.array([[3.0, 2.0, 4.0], [2.0, 3.0, INF]])


SUCCESS = np.array([[0.9, 0.9, 0.9], [0.8, 0.9, 0.7]])


def terms(m: int = 2, n: int = 3, **asked: Any) -> Terms:
    return Asked(**asked).terms((m, n), (["east", "west"], ["a", "b", "c"]))


def test_terms_of_every_form() -> None:
    found = terms(
        slots=[2, 3],
        ready=[1.0, [4.0, 0.0, 4.0]],
        sizes=[1, 2, 1],
        pinned={"a": "west", 1: 0},
        previous=["east", None, -1],
        move_price=2.0,
        deadlines=9.0,
        task_min_success=[0.5, 0.0, 0.9],
    )
    assert found.slots.tolist() == [2, 3]
    assert found.width.tolist() == [[2, 0], [1, 2]]
    assert found.free_at.tolist() == [[1.0, INF], [0.0, 4.0]]
    assert found.pinned.tolist() == [1, 0, -1]
    assert found.previous.tolist() == [0, -1, -1]
    assert found.starts.tolist() == [[1.0, 1.0], [0.0, 4.0]]
    assert (found.due.tolist(), found.level.tolist()) == ([9.0], [0, 0, 0])


def test_without_slots_a_cluster_has_one_or_as_many_as_are_ready() -> None:
    assert terms(deadlines=5.0).slots.tolist() == [1, 1]
    assert terms(ready=[[0.0, 1.0], [2.0]]).slots.tolist() == [2, 1]


WRONG = [
    ({"slots": 0}, r"slots\[0\]|slots", "is 0"),
    ({"slots": [1, 1.5]}, r"slots\[1\]", "1.5"),
    ({"slots": [1, NAN]}, r"slots\[1\]", "NaN"),
    ({"slots": [1, 1, 1]}, "slots", "shape"),
    ({"slots": "two"}, "slots", "not numeric"),
    ({"sizes": [1, 0, 1]}, r"sizes\[1\]", "is 0"),
    ({"sizes": [1, 2, 1]}, r"sizes\[b\]", "at most 1"),
    ({"ready": -1.0}, r"ready\[east\]", "is -1"),
    ({"ready": [NAN, 0]}, r"ready\[east\]", "NaN"),
    ({"ready": INF}, r"ready\[east\]", "inf"),
    ({"ready": [[0.0], [-1.0]]}, r"ready\[west\]\[0\]", "-1"),
    ({"ready": [[0.0], [0.0], [0.0]]}, "ready", "3 entries"),
    ({"ready": [[0.0, 1.0], 0.0], "slots": [3, 1]}, r"ready\[east\]", "one a slot"),
    ({"ready": [[], 0.0]}, r"ready\[east\]", "shape"),
    ({"pinned": {"a": "north"}}, r"pinned\[a\]", "no cluster 'north'"),
    ({"pinned": {"d": "east"}}, "pinned, task", "no task 'd'"),
    ({"pinned": [0, 1]}, "pinned", "a cluster for each of the 3 tasks"),
    ({"pinned": [0, 2, 0]}, r"pinned\[b\]", "no cluster 2"),
    ({"pinned": [0, True, 0]}, r"pinned\[b\]", "no cluster True"),
    ({"pinned": "east"}, "pinned", "'east'"),
    ({"previous": [0, 9, 0]}, r"previous\[b\]", "no cluster 9"),
    ({"move_price": 1.0}, "previous", "is missing"),
    ({"move_price": -1.0, "previous": [0, 0, 0]}, "move_price", "-1"),
    ({"move_price": NAN, "previous": [0, 0, 0]}, "move_price", "NaN"),
    ({"deadlines": [1.0, -2.0, 1.0]}, r"deadlines\[1\]", "-2"),
    ({"deadlines": [1.0, NAN, 1.0]}, r"deadlines\[1\]", "NaN"),
    ({"task_min_success": 1.5}, "task_min_success", "1.5"),
    ({"task_min_success": [0.5]}, "task_min_success", "shape"),
]


@pytest.mark.parametrize(("asked", "where", "words"), WRONG)
def test_what_cannot_be_used_is_one_error(asked: dict[str, Any], where: str, words: str) -> None:
    with pytest.raises(InputError, match=where) as caught:
        terms(**asked)
    assert words in str(caught.value)
    assert caught.value.remedy


def names(**asked: Any) -> Any:
    return match(TIMES, SUCCESS, 0.5, clusters=["east", "west"], tasks=["a", "b", "c"], **asked)


CONTRADICTIONS = [
    ({"pinned": {"c": "west"}}, InputError, r"pinned\[c\]: cluster 'west' cannot run it"),
    (
        {"pinned": {"a": "west"}, "deadlines": [1.0, INF, INF]},
        InfeasibleError,
        "1 not 'west', which it is pinned to, 1 cannot end it by its deadline 1;",
    ),
    (
        {"slots": [1, 2], "sizes": [1, 1, 2]},
        InfeasibleError,
        "task c: no cluster may run the task; of 2 clusters: 1 cannot run it, 1 fewer slots",
    ),
    (
        {"task_min_success": [0.0, 0.0, 0.95]},
        InfeasibleError,
        "of 2 clusters: 1 cannot run it, 1 below its task_min_success of 0.95",
    ),
    (
        {"task_min_success": [0.95, 0, 0]},
        InfeasibleError,
        "2 below its task_min_success of 0.95; .*its best success is 0.9",
    ),
    ({"ready": 5.0, "deadlines": 6.0}, InfeasibleError, "; so it is for 2 more tasks"),
    ({"speedup": Decay(), "slots": 2}, InputError, "speedup: is given with slots"),
]


@pytest.mark.parametrize(("asked", "kind", "words"), CONTRADICTIONS)
def test_contradictions_name_what_bars_a_task(
    asked: dict[str, Any], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        names(**asked)


def test_a_floor_out_of_reach_within_the_terms_says_so() -> None:
    with pytest.raises(InfeasibleError, match=r"within the terms .* success of 0\.88"):
        match(TIMES, SUCCESS, 0.88, pinned={0: 1})
