"""Histories run anew: the recorded world again under the recorded policy, and under others."""

from __future__ import annotations

from time import sleep
from typing import Any

import numpy as np
import pytest
from tests.exchange.history.simulated import SLOTS, recorded_run, tasks_of_one_cluster

import walras as wl
from walras.errors import DataError, InputError
from walras.exchange.history import History, carry
from walras.exchange.history.recorded_tasks import recorded_tasks
from walras.policies.placements import Policy
from walras.progress import Progress
from walras.rounds import Decision, Snapshot
from walras.simulate.placed import Placer


@pytest.mark.parametrize("shift", [0.0, 1.7e9])
def test_a_recorded_world_is_the_same_world(shift: float) -> None:
    """All runs were measured: another policy gives what it gives on the tasks themselves."""
    tasks = tasks_of_one_cluster()
    history, first = recorded_run(tasks, SLOTS, wl.policies.first_fit(), shift)
    found = recorded_tasks(history)
    assert found.round_seconds == 10.0
    assert found.measured.all()
    np.testing.assert_allclose(found.tasks.seconds, tasks.seconds, atol=1e-6)
    again = carry(history, policy=lambda predict: wl.policies.first_fit(predict=predict))
    np.testing.assert_allclose(again.replayed.ended, first.ended, atol=1e-5)
    own = wl.policies.exchange(Policy(explore=0.0), seed=3)
    other = wl.simulate.run(tasks, SLOTS, own, round_seconds=10.0)
    assert np.abs(other.ended - first.ended).max() > 1.0
    makes: Any = {"policy": lambda predict: own}
    np.testing.assert_allclose(carry(history, **makes).replayed.ended, other.ended, atol=1e-5)


def test_a_floor_and_the_frame() -> None:
    history, _ = recorded_run(tasks_of_one_cluster(chance=0.8), SLOTS, wl.policies.first_fit())
    found = carry(history, {"min_success": 0.6})
    assert found.policy == "the recorded policy with min_success=0.6"
    frame = found.frame()
    assert list(frame.columns) == ["measure", "recorded", "replayed", "unit"]
    assert {"ended", "mean completion", "failed for good"} <= set(frame["measure"])
    real, simulated = found.calibration
    assert real == pytest.approx(simulated, rel=0.5)
    same = carry(history)
    assert same.recorded.hash == same.replayed.hash == found.recorded.hash


def test_progress_counts_both_runs_and_may_stop() -> None:
    history, _ = recorded_run(tasks_of_one_cluster(), SLOTS, wl.policies.first_fit())
    heard: list[Progress] = []

    def slow(predict: Any) -> Placer:
        def policy(snapshot: Snapshot) -> Decision:
            sleep(0.02)
            return wl.policies.first_fit(predict=predict)(snapshot)

        return policy

    def hear(step: Progress) -> bool:
        heard.append(step)
        return False

    carry(history, policy=slow, on_progress=hear)
    assert heard
    assert {step.total for step in heard} == {80}
    assert all(40 <= step.iteration <= 80 for step in heard[-2:])
    stopped = carry(history, policy=slow, on_progress=lambda step: step.iteration > 45)
    assert stopped.recorded.complete
    assert not stopped.replayed.complete


def test_what_cannot_be_run_is_refused() -> None:
    history, _ = recorded_run(tasks_of_one_cluster(), SLOTS, wl.policies.first_fit())
    with pytest.raises(InputError, match="colour"):
        carry(history, {"colour": 3})
    with pytest.raises(DataError, match="no cluster with slots"):
        recorded_tasks(History("none", history.rounds[:0], {}, {}))
