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
from walras.matching import match
from walras.matching.asked import Asked

INF, NAN = np.inf, np.nan
TIMES = np.array([[3.0, 2.0, 4.0], [2.0, 3.0, INF]])
SUCCESS = np.array([[0.9, 0.9, 0.9], [0.8, 0.9, 0.7]])


def names(**asked: Any) -> Any:
    return match(TIMES, SUCCESS, 0.5, clusters=["east", "west"], tasks=["a", "b", "c"], **asked)


@given(st.integers(0, 10**6))
@settings(max_examples=60)
def test_ends_are_when_the_slots_have_done_the_work(seed: int) -> None:
    rng = np.random.default_rng(seed)
    free = rng.integers(0, 4, rng.integers(1, 6)).astype(float)
    work = float(rng.uniform(0.0, 9.0))
    found = Asked(ready=[free.tolist()]).terms((1, 3), ((), ()))
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
