"""Proportional fairness against its statement in cvxpy."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from tests.policies.drawn import random_jobs

from walras.policies import proportional_fairness
from walras.rounds import JobsSnapshot, check


@pytest.mark.parametrize("seed", range(5))
def test_the_sum_of_logarithms_is_the_largest(seed: int) -> None:
    jobs = random_jobs(seed)
    x = cp.Variable(jobs.speed.shape, nonneg=True)
    rate = cp.sum(cp.multiply(np.where(jobs.fits, jobs.speed, 0.0), x), axis=1)
    within = [cp.sum(x, axis=1) <= 1, jobs.size @ x <= jobs.workers]
    stated = cp.Problem(cp.Maximize(jobs.weight @ cp.log(rate)), within).solve(solver="CLARABEL")
    found = proportional_fairness()(jobs)
    assert check(jobs, found) == []
    assert found.value == pytest.approx(float(stated), abs=1e-4)
    assert found.bound >= found.value - 1e-9


def test_no_jobs_need_no_solver() -> None:
    none = JobsSnapshot.of([], speed=np.zeros((0, 1)), workers=[1])
    assert len(proportional_fairness()(none)) == 0
