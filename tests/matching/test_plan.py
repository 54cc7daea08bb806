"""The plan: its figures come from the round alone, and its reasons hold when tried."""

from __future__ import annotations

import numpy as np
import pytest
from tests.matching.rounds import cost, one

import walras as wl
from walras.matching import Decay, Round, match
from walras.matching.plan import Plan
from walras.status import Status


def _of(x: list[int], floor: float, speedup: Decay | None = None) -> Plan:
    times, success = one(21, 3, 6)
    round_ = Round.of(times, success, floor, speedup, clusters=["a", "b", "c"])
    return Plan(round_, np.array(x, dtype=np.int32), 0.1, "by hand", 1e-6, Status.LIMIT, 0.0)


@pytest.mark.parametrize("speedup", [None, Decay()], ids=["apart", "together"])
def test_every_move_is_what_it_says(speedup: Decay | None) -> None:
    times, success = one(21, 3, 6)
    plan = _of([0, 1, 2, 0, 1, 1], 0.7, speedup)
    zeta = plan.round.zeta
    assert plan.makespan == pytest.approx(cost(times, success, plan.assignment, 0.0, zeta))
    for j, found in enumerate(plan.placements()):
        moved = plan.assignment.copy()
        moved[j] = "abc".index(found.runner_up or "")
        assert found.makespan_if_moved == pytest.approx(cost(times, success, moved, 0.0, zeta))
        assert found.success_if_moved == pytest.approx(success[moved, np.arange(6)].mean())
        for i in set(range(3)) - {int(plan.assignment[j])}:
            moved[j] = i
            other = success[moved, np.arange(6)].mean()
            if other >= 0.7 - 1e-9 or other >= found.success_if_moved:
                assert cost(times, success, moved, 0.0, zeta) >= found.makespan_if_moved * (
                    1 - 1e-12
                )


def test_reasons_name_what_binds() -> None:
    times = np.array([[1.0, 1.0, 1.0], [3.0, 3.0, 3.0], [np.inf, np.inf, 0.5]])
    success = np.array([[0.5, 0.5, 0.9], [1.0, 1.0, 0.9], [0.9, 0.9, 0.9]])
    plan = match(times, success, 0.79, clusters=["quick", "safe", "own"])
    reasons = [found.reason for found in plan.placements()]
    there = [found.cluster for found in plan.placements()]
    assert sorted(there) == ["own", "quick", "safe"]
    assert "less safe" in reasons[there.index("safe")]
    assert "mean success would fall to" in reasons[there.index("safe")]
    assert reasons[there.index("own")] == "its quickest and safest cluster"
    full = match(np.array([[1.0, 1.0, 1.0], [1.2, 1.2, 1.2]]), np.ones((2, 3)), 0.5)
    assert any("full: the makespan would rise by" in f.reason for f in full.placements())
    only = match(np.array([[1.0], [np.inf]]), np.ones((2, 1)))
    assert only.explain(0).reason == "the only cluster that runs it"
    assert only.explain(0).runner_up is None
    assert np.isnan(only.explain(0).makespan_if_moved)


def test_binding_and_the_price_of_the_floor() -> None:
    times, success = one(5, 4, 60)
    low, high = (match(times, success, g, tolerance=1e-2) for g in (0.0, 0.87))
    assert low.floor_price_estimate == 0.0
    with pytest.warns(DeprecationWarning, match="floor_price_estimate"):
        assert low.floor_price == 0.0
    assert len(low.binding) == 1
    assert "is at the floor 0.87" in high.binding[-1]
    step = 1e-3
    values = [_relaxed(times, success, 0.87 + change) for change in (-step, step)]
    assert high.floor_price_estimate == pytest.approx((values[1] - values[0]) / (2 * step), rel=0.1)


def _relaxed(times: np.ndarray, success: np.ndarray, floor: float) -> float:
    problem = wl.matching.model.relaxation(Round.of(times, success, floor))
    return wl.solve(problem, tolerance=1e-9).value


def test_intervals_travel_to_the_placements_and_the_frame() -> None:
    times, success = one(2, 2, 3)
    plan = match(
        times,
        success,
        0.7,
        times_interval=np.stack([0.9 * times, 1.2 * times]),
        success_interval=np.stack([success - 0.1, success]),
    )
    found = plan.explain(1)
    assert found.time_interval == pytest.approx((0.9 * found.time, 1.2 * found.time))
    frame = plan.frame()
    assert frame.shape[0] == 3
    assert np.allclose(frame["success_low"], frame["success"] - 0.1)
    assert match(times, success, 0.7).explain(0).time_interval is None


def test_the_plan_in_words() -> None:
    text = str(match(*one(1, 3, 5), 0.7))
    assert text.startswith("optimal: 5 tasks on 3 clusters, makespan")
    with pytest.raises(wl.InputError, match="there is no task 'nobody'"):
        match(*one(1, 3, 5), 0.7).explain("nobody")
    with pytest.raises(wl.InputError, match="there is no task 5"):
        match(*one(1, 3, 5), 0.7).explain(5)


def test_a_task_without_a_label_is_found_by_the_name_that_is_shown() -> None:
    plan = match(np.ones((2, 3)), np.ones((2, 3)), 0.5)
    assert plan.explain("task 1") == plan.explain(1)
    with pytest.raises(wl.InputError, match="no task 'task 3'"):
        plan.explain("task 3")
