"""Every objective with pairs of jobs that share workers, against its statement pair by pair."""

from __future__ import annotations

from collections.abc import Callable

import cvxpy as cp
import numpy as np
import pytest
from tests.policies.drawn import most_with_pairs, sharing_jobs

from walras import policies
from walras.errors import InputError
from walras.rounds import JobsSnapshot, check_shares
from walras.simulate.time_shared import Policy


def _least(jobs: JobsSnapshot, rates: cp.Expression) -> cp.Expression:
    mean = jobs.speed @ jobs.workers / jobs.workers.sum()
    return cp.min(cp.multiply(jobs.size / mean / jobs.weight, rates))


STATED: dict[Callable[..., Policy], Callable[[JobsSnapshot, cp.Expression], cp.Expression]] = {
    policies.max_min: _least,
    policies.total_throughput: lambda jobs, rates: jobs.weight @ rates,
    policies.proportional_fairness: lambda jobs, rates: jobs.weight @ cp.log(rates),
    policies.total_duration: lambda jobs, rates: -(jobs.weight * jobs.left) @ cp.power(rates, -1),
}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("make", STATED)
def test_pairs_reach_the_best_that_is_stated(make: Callable[..., Policy], seed: int) -> None:
    jobs = sharing_jobs(seed)
    found = make(sharing=True)(jobs)
    assert check_shares(jobs, found) == []
    assert found.policy.endswith(" sharing")
    solver = "HIGHS" if make in (policies.max_min, policies.total_throughput) else "CLARABEL"
    most = most_with_pairs(jobs, lambda rates: STATED[make](jobs, rates), solver)
    assert abs(found.value) == pytest.approx(abs(most), rel=1e-5)
    assert found.gap < 1e-4
    alone, better = make()(jobs), -1 if make is policies.total_duration else 1
    assert better * (found.value - alone.value) >= -1e-6 * abs(alone.value)


def test_who_knows_no_speeds_shares_with_nobody() -> None:
    with pytest.raises(InputError, match="by_speed"):
        policies.max_min(by_speed=False, sharing=True)


def test_no_jobs_need_no_solver() -> None:
    none = JobsSnapshot.of([], speed=np.zeros((0, 1)), workers=[1])
    assert len(policies.max_min(sharing=True)(none)) == 0
