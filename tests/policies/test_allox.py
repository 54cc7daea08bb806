"""AlloX against all orders on all workers."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from walras import InputError
from walras.policies import allox
from walras.rounds import JobsSnapshot, Shares, check


def _least(seconds: list[list[float]], workers: list[int]) -> float:
    """The least sum of completion times over every assignment and order."""
    slots = [t for t, count in enumerate(workers) for _ in range(count)]
    best = np.inf
    for choice in product(range(len(slots)), repeat=len(seconds)):
        total = 0.0
        for slot in range(len(slots)):
            queue = [j for j, chosen in enumerate(choice) if chosen == slot]
            total += min(
                sum(seconds[j][slots[slot]] * (len(order) - k) for k, j in enumerate(order))
                for order in permutations(queue)
            )
        best = min(best, total)
    return best


@pytest.mark.parametrize("seed", range(6))
def test_the_sum_of_completion_times_is_the_least(seed: int) -> None:
    rng = np.random.default_rng(seed)
    speed = rng.uniform(0.5, 4.0, (5, 2)) * (rng.random((5, 2)) < 0.8)
    speed[:, 0] = np.maximum(speed[:, 0], 0.5)
    jobs = JobsSnapshot.of(
        list("abcde"), speed=speed, workers=[1, 2], steps=rng.uniform(10, 100, 5)
    )
    with np.errstate(divide="ignore"):
        seconds = (jobs.left[:, None] / jobs.speed).tolist()
    found = allox()(jobs)
    assert found.value == pytest.approx(_least(seconds, [1, 2]))
    assert check(jobs, found) == []
    assert (found.time.sum(axis=1) > 0).sum() <= 3


def test_running_jobs_keep_their_workers() -> None:
    last = Shares(("a",), ("type 0",), np.array([[1.0]]))
    jobs = JobsSnapshot.of(
        ["a", "b", "c"], speed=np.ones((3, 1)), workers=[2], steps=[90, 50, 10], last=last
    )
    assert allox()(jobs).time.ravel().tolist() == [1.0, 0.0, 1.0]


def test_jobs_wait_where_no_worker_is_free() -> None:
    last = Shares(("a",), ("type 0",), np.array([[1.0]]))
    jobs = JobsSnapshot.of(["a", "b"], speed=np.ones((2, 1)), workers=[1], last=last)
    assert allox()(jobs).time.ravel().tolist() == [1.0, 0.0]


def test_a_job_that_runs_on_no_free_type_waits() -> None:
    last = Shares(("a",), ("type 0", "type 1"), np.array([[1.0, 0.0]]))
    speed = [[1.0, 1.0], [1.0, 0.0], [1.0, 2.0]]
    jobs = JobsSnapshot.of(["a", "b", "c"], speed=speed, workers=[1, 1], last=last)
    assert allox()(jobs).time.tolist() == [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]


def test_jobs_of_several_workers_are_refused() -> None:
    jobs = JobsSnapshot.of(["a", "b"], size=[1, 2], speed=np.ones((2, 1)), workers=[2])
    with pytest.raises(InputError, match="job 'b' takes 2 workers"):
        allox()(jobs)
