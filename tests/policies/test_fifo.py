"""First in, first out: orders, places that are taken over, sizes."""

from __future__ import annotations

import numpy as np

from walras.policies import fifo
from walras.rounds import JobsSnapshot, Shares, check_shares

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
    assert check_shares(jobs, found) == []
    assert found.policy == "fifo by speed"


def test_a_job_that_runs_on_no_type_with_room_lets_others_pass() -> None:
    """Type 0 is full, ``b`` cannot run on type 1, and ``c`` can."""
    last = Shares(("a",), ("type 0", "type 1"), np.array([[1.0, 0.0]]))
    speed = [[3.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    jobs = JobsSnapshot.of(["a", "b", "c"], speed=speed, workers=[1, 1], last=last)
    for by_speed in (False, True):
        assert fifo(by_speed)(jobs).time.tolist() == [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
