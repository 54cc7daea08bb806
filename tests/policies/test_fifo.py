"""First in, first out: orders, places that are taken over, sizes."""

from __future__ import annotations

import numpy as np
import pytest

from walras import InputError
from walras.policies import fifo
from walras.rounds import JobsSnapshot, Shares, check

SPEED = [[1.0, 3.0], [1.0, 2.0], [5.0, 1.0]]


def test_jobs_take_types_in_order_and_nobody_overtakes() -> None:
    jobs = JobsSnapshot.of(["a", "b", "c"], size=[1, 2, 1], speed=SPEED, workers=[2, 1])
    assert fifo()(jobs).time.tolist() == [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    assert not fifo()(jobs).spare


def test_a_job_keeps_its_type() -> None:
    last = Shares(("a",), ("type 0", "type 1"), np.array([[0.0, 1.0]]))
    jobs = JobsSnapshot.of(["a", "b", "c"], speed=SPEED, workers=[1, 1], last=last)
    assert fifo()(jobs).time.tolist() == [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]
    assert fifo(by_speed=True)(jobs).time.tolist() == [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]


def test_the_first_that_waits_takes_over_a_place() -> None:
    last = Shares(("gone",), ("type 0", "type 1"), np.array([[0.0, 1.0]]))
    jobs = JobsSnapshot.of(["a", "b", "c"], speed=SPEED, workers=[1, 1], last=last)
    assert fifo()(jobs).time.tolist() == [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]


def test_by_speed_each_in_turn_takes_its_fastest_free_type() -> None:
    jobs = JobsSnapshot.of(["a", "b", "c"], speed=SPEED, workers=[1, 1])
    found = fifo(by_speed=True)(jobs)
    assert found.time.tolist() == [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]
    assert check(jobs, found) == []
    assert found.policy == "fifo by speed"


def test_a_job_that_runs_on_no_type_with_room_lets_others_pass() -> None:
    """Type 0 is full, ``b`` cannot run on type 1, and ``c`` can."""
    last = Shares(("a",), ("type 0", "type 1"), np.array([[1.0, 0.0]]))
    speed = [[3.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    jobs = JobsSnapshot.of(["a", "b", "c"], speed=speed, workers=[1, 1], last=last)
    for by_speed in (False, True):
        assert fifo(by_speed)(jobs).time.tolist() == [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]


def _six(gain: float) -> JobsSnapshot:
    """Two workers and six jobs of three sizes of gain: a beside a, a beside b, b beside b."""
    paired = np.array([[0.5 * gain, 0.9], [0.8, 0.6]])[:, :, None]
    return JobsSnapshot.of(
        list("abcdef"), speed=np.ones((6, 1)), workers=[2], group=[0, 1, 0, 1, 0, 1], paired=paired
    )


def test_jobs_that_wait_join_the_best_partner_in_order() -> None:
    found = fifo(by_speed=True, sharing=True)(_six(1.6))
    assert check(_six(1.6), found) == []
    assert found.pair.tolist() == [[1, 2], [0, 3]]  # gains of 1.7 each, above 1.6 and 1.2
    assert not found.time.any()
    assert found.pair_time.tolist() == [[1.0], [1.0]]


def test_packing_ends_where_a_job_finds_no_partner() -> None:
    jobs = JobsSnapshot.of(
        list("abc"),
        speed=np.ones((3, 1)),
        workers=[1],
        group=[0, 1, 0],
        paired=np.array([[0.9, 0.7], [0.7, 0.9]])[:, :, None],
    )
    found = fifo(by_speed=True, sharing=True)(jobs)
    assert found.time.tolist() == [[1.0], [0.0], [0.0]]
    assert len(found.pair) == 0


def test_sharing_needs_a_choice_of_types() -> None:
    with pytest.raises(InputError, match="without by_speed"):
        fifo(sharing=True)
