"""Total duration against the convex program stated directly in cvxpy, and its closed form."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from tests.policies.drawn import random_jobs
from tests.policies.stated import best

from walras.policies import total_duration
from walras.rounds import JobsSnapshot, check


@pytest.mark.parametrize("seed", range(3))
def test_the_sum_of_durations_is_the_least(seed: int) -> None:
    jobs = random_jobs(seed)
    found = total_duration()(jobs)
    assert check(jobs, found) == []
    due = jobs.weight * jobs.left
    least = -best(jobs, lambda rates: -(due @ cp.inv_pos(rates)), "CLARABEL")
    assert found.value == pytest.approx(least, rel=1e-5)
    assert found.bound <= found.value * (1 + 1e-12)
    assert found.gap < 1e-5


def test_one_worker_is_shared_by_the_roots_of_the_work() -> None:
    left = np.array([100.0, 400.0, 900.0])
    jobs = JobsSnapshot.of(["a", "b", "c"], speed=np.ones((3, 1)), steps=left, workers=[1])
    found = total_duration()(jobs)
    assert found.time[:, 0] == pytest.approx(np.sqrt(left) / np.sqrt(left).sum(), abs=1e-4)
    assert found.value == pytest.approx(np.sqrt(left).sum() ** 2, rel=1e-6)
