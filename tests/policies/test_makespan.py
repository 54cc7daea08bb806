"""The least makespan against the linear program stated directly in cvxpy."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from tests.policies.drawn import best_with_pairs, random_jobs, sharing_jobs

from walras.policies import makespan
from walras.rounds import JobsSnapshot, check


@pytest.mark.parametrize("seed", range(5))
def test_the_makespan_is_the_least(seed: int) -> None:
    jobs = random_jobs(seed)
    x = cp.Variable(jobs.speed.shape, nonneg=True)
    rate = cp.sum(cp.multiply(np.where(jobs.fits, jobs.speed, 0.0), x), axis=1)
    within = [cp.sum(x, axis=1) <= 1, jobs.size @ x <= jobs.workers]
    stated = cp.Problem(cp.Maximize(cp.min(rate / jobs.left)), within).solve(solver="HIGHS")
    found = makespan()(jobs)
    assert check(jobs, found) == []
    assert found.value == pytest.approx(1 / float(stated), rel=1e-5)
    assert found.bound <= found.value * (1 + 1e-9)
    assert found.gap < 1e-5


@pytest.mark.parametrize("seed", range(4))
def test_pairs_make_it_less(seed: int) -> None:
    jobs = sharing_jobs(seed)
    found = makespan(sharing=True)(jobs)
    assert check(jobs, found) == []
    assert found.value == pytest.approx(1 / best_with_pairs(jobs, 1 / jobs.left), rel=1e-5)
    assert found.gap < 1e-5


def test_no_jobs_need_no_solver() -> None:
    assert len(makespan()(JobsSnapshot.of([], speed=np.zeros((0, 1)), workers=[1]))) == 0


@pytest.mark.parametrize("scale", [1e-139, 1e-20, 1e20, 1e139])
@pytest.mark.parametrize("apart", [1.0, 1e7, 1e14, 1e40])
def test_speeds_of_any_size_have_their_makespan(scale: float, apart: float) -> None:
    """One worker: the makespan is the sum of what jobs take alone."""
    jobs = JobsSnapshot.of(["a", "b"], speed=[[scale], [scale * apart]], steps=[3, 5], workers=[1])
    found = makespan()(jobs)
    assert check(jobs, found) == []
    assert found.value == pytest.approx((3 + 5 / apart) / scale, rel=1e-6)
    assert found.value * (1 - 1e-6) <= found.bound <= found.value * (1 + 1e-9)
