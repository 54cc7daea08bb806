"""Finish-time fairness as a policy: seconds alone go from decision to decision."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.policies.drawn import best_with_pairs, random_jobs, sharing_jobs

from walras import InputError
from walras.domains import cluster_scheduling
from walras.policies import finish_time_fairness
from walras.rounds import JobsSnapshot, check


@pytest.mark.parametrize("by_speed", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_decisions_are_good_and_proved(seed: int, by_speed: bool) -> None:
    jobs = random_jobs(seed)
    found = finish_time_fairness(by_speed)(jobs)
    assert check(jobs, found) == []
    assert found.gap < 1e-7
    assert found.blind is not by_speed


@pytest.mark.parametrize("seed", range(3))
def test_no_ratio_is_below_the_bound_with_pairs(seed: int) -> None:
    """A ratio r is within reach where all rates y_j >= left_j / (r alone_j - elapsed_j) are."""
    jobs = sharing_jobs(seed)
    found = finish_time_fairness(sharing=True)(jobs)
    assert check(jobs, found) == []
    assert found.bound <= found.value <= found.bound * (1 + 1e-7)
    alone, elapsed = found.notes["left"] / found.notes["rate"], jobs.at - jobs.arrival

    def reached(ratio: float) -> float:
        return best_with_pairs(jobs, np.maximum(ratio * alone - elapsed, 0.0) / jobs.left)

    assert reached(found.value * (1 + 1e-6)) >= 1 - 1e-6
    assert reached(found.bound * (1 - 1e-6)) <= 1 + 1e-6


def test_sharing_needs_speeds() -> None:
    with pytest.raises(InputError, match="without by_speed"):
        finish_time_fairness(by_speed=False, sharing=True)


def test_a_job_alone_has_an_equal_part() -> None:
    """Two jobs on three workers: a job of one worker has it all; one of two has 3/4 of the time."""
    jobs = JobsSnapshot.of(
        ["a", "b"], at=100.0, size=[1, 2], speed=[[1.0], [1.0]], workers=[3], steps=[50, 60]
    )
    found = finish_time_fairness()(jobs)
    assert found.notes["rate"].tolist() == [1.0, 0.75]
    stated = cluster_scheduling.finish_time_fairness(
        [[1.0, 1.0]], [1, 2], [3], [50, 60], elapsed=[100, 100], isolated=[50, 80]
    )
    assert found.value == pytest.approx(stated.value, rel=1e-3)


def test_steps_done_count_at_the_part_of_their_time() -> None:
    policy = finish_time_fairness()
    jobs = JobsSnapshot.of(["a", "b"], speed=[[1.0], [1.0]], workers=[1], steps=[100.0, 100.0])
    first = policy(jobs)
    assert first.notes["alone"].tolist() == [0.0, 0.0]
    later = replace(jobs, at=60.0, left=np.array([70.0, 90.0]), last=first)
    assert policy(later).notes["alone"].tolist() == [60.0, 20.0]  # at half a worker each
    one = JobsSnapshot.of(
        ["b"], at=60.0, speed=[[1.0]], workers=[1], steps=[100.0], left=[90.0], last=first
    )
    assert policy(one).notes["alone"].tolist() == [20.0]


def test_a_job_that_runs_nowhere_is_named() -> None:
    jobs = JobsSnapshot.of(["a", "b"], speed=[[1.0], [0.0]], workers=[1])
    with pytest.raises(InputError, match=r"job 1 \(b\): runs on no type"):
        finish_time_fairness()(jobs)


def test_no_jobs_need_no_solver() -> None:
    none = JobsSnapshot.of([], speed=np.zeros((0, 2)), workers=[1, 1])
    assert len(finish_time_fairness()(none)) == 0
