"""Terms: what is given becomes slots, pins and deadlines, or one clear error; what they mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.matching.conditions import drawn, end_of, worth

import walras as wl
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


@given(st.integers(0, 10**6))
@settings(max_examples=60)
def test_ends_are_when_the_slots_have_done_the_work(seed: int) -> None:
    rng = np.random.default_rng(seed)
    free = rng.integers(0, 4, rng.integers(1, 6)).astype(float)
    work = float(rng.uniform(0.0, 9.0))
    found = terms(m=1, ready=[free.tolist()])
    end = float(found.ends(np.array([work]))[0])
    assert end == pytest.approx(end_of(work, 1e-300, np.sort(free)), abs=1e-12)
    assert found.capacity(end)[0] == pytest.approx(work, abs=1e-9) or work == 0.0


@given(st.integers(0, 10**6))
@settings(max_examples=60)
def test_a_placements_ends_deadlines_and_single_moves_are_those_of_the_definition(
    seed: int,
) -> None:
    times, success, _, asked = drawn(seed)
    asked = {k: v for k, v in asked.items() if k not in ("pinned", "task_min_success")}
    m, n = times.shape
    own = {k: v for k, v in asked.items() if k != "shortfall_price"}
    found = Asked(**own).terms((m, n), ((), ()))
    x = np.atleast_1d(np.random.default_rng(seed).integers(0, m, n))
    late = found.soonest(times) > found.deadlines * (1 + 1e-9)
    barred = np.where(late | (found.sizes > found.slots[:, None]), INF, times)

    def cost(place: Any) -> float:
        return worth(times, success, 0.0, asked, tuple(np.asarray(place).tolist()))

    def ours(place: Any) -> float:
        allowed = np.isfinite(barred[place, np.arange(n)]).all()
        if not allowed or not found.in_time(barred, place):
            return INF
        moves = found.move_price * found.moved(place).sum()
        return float(found.cluster_ends(times, place).max() + moves)

    assert ours(x) == pytest.approx(cost(x), rel=1e-9)
    if not np.isfinite(ours(x)):
        return
    left, arrived = found.ends_if_moved(barred, x)
    in_time = found.in_time_if_moved(barred, x)
    for j in range(n):
        for i in range(m):
            y = x.copy()
            y[j] = i
            if i == x[j] or not np.isfinite(barred[i, j]):
                continue
            assert in_time[i, j] == np.isfinite(cost(y))
            ends = found.cluster_ends(times, y)
            assert (arrived[i, j], left[j]) == pytest.approx((ends[i], ends[x[j]]), rel=1e-9)


def test_reasons_tell_of_pins_and_deadlines() -> None:
    plan = names(pinned={"a": "east"})
    assert plan.explain("a").reason_code == "pinned"
    quick, slow = [1.0, 1.0], [2.0, 2.0]
    plan = match([quick, slow], np.ones((2, 2)), 0.0, deadlines=[1.0, INF])
    assert [p.reason_code for p in plan.placements()] == ["only", "best"]
    plan = match([quick, [1.9, 1.9]], np.ones((2, 2)), 0.0, deadlines=[1.9, 1.9])
    assert sorted(p.reason_code for p in plan.placements()) == ["best", "deadline"]


def test_a_plan_with_terms_is_saved_and_read_back(tmp_path: Path) -> None:
    plan = names(slots=2, ready=[1.0, [0.0, 2.0]], previous=[0, 0, 1], move_price=0.5)
    plan.save(tmp_path / "plan.npz")
    again = wl.load(tmp_path / "plan.npz")
    assert again.value == plan.value
    assert again.round.terms.free_at.tolist() == plan.round.terms.free_at.tolist()
    assert plan.loads.max() == plan.makespan
    assert 0.0 < plan.utilisation <= 1.0
    assert plan.floor_price_estimate >= 0.0
