"""Every objective with pairs of jobs that share workers, against its statement pair by pair."""

from __future__ import annotations

from collections.abc import Callable

import cvxpy as cp
import numpy as np
import pytest
from tests.policies.drawn import most_with_pairs, rates_with_pairs, sharing_jobs

from walras import policies
from walras.errors import InputError
from walras.rounds import JobsSnapshot, Shares, check
from walras.simulate.time_shared import Policy
from walras.types import Bools, Floats


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
    assert check(jobs, found) == []
    assert found.policy.endswith(" sharing")
    solver = "HIGHS" if make in (policies.max_min, policies.total_throughput) else "CLARABEL"
    most = most_with_pairs(jobs, lambda rates: STATED[make](jobs, rates), solver)
    assert abs(found.value) == pytest.approx(abs(most), rel=1e-5)
    assert found.gap < 1e-4
    alone, better = make()(jobs), -1 if make is policies.total_duration else 1
    assert better * (found.value - alone.value) >= -1e-6 * abs(alone.value)


def _filled(jobs: JobsSnapshot, pace: Callable[[Bools], Floats]) -> Floats:
    """(N,) services by water filling: who can rise further is asked of one program a job.

    Args:
        jobs: The round.
        pace: From the jobs that have stopped to how fast each job rises.
    """
    rates, within = rates_with_pairs(jobs)
    n, t, service = len(jobs), cp.Variable(), cp.multiply(_unit(jobs), rates)
    floor, rises, asked, level = cp.Parameter(n), cp.Parameter(n), cp.Parameter(n), cp.Parameter()
    goal = cp.Maximize(asked @ service + level * t)
    program = cp.Problem(goal, [*within, service >= floor + t * rises])

    def most(job: Floats, levels: float) -> float:
        asked.value, level.value = job, levels
        return float(program.solve(solver="HIGHS"))

    base, stopped = np.zeros(n), np.zeros(n, np.bool_)
    while not stopped.all():
        floor.value, rises.value = base * (1 - 1e-7), pace(stopped)
        base = base + rises.value * most(np.zeros(n), 1.0)
        floor.value, rising, rises.value = base * (1 - 1e-7), rises.value > 0, np.zeros(n)
        for j in np.flatnonzero(rising).tolist():
            stopped[j] = most(np.eye(n)[j], 0.0) <= base[j] * (1 + 1e-5)
    return base


def _unit(jobs: JobsSnapshot) -> Floats:
    """(N,) service of a step a second."""
    return np.asarray(jobs.size / (jobs.speed @ jobs.workers / jobs.workers.sum()))


def _service(jobs: JobsSnapshot, found: Shares) -> Floats:
    """(N,) service of shares of jobs alone and in pairs."""
    rate = (jobs.speed * found.time).sum(axis=1)
    for (one, other), speed, time in zip(*jobs.pairs, found.pair_time, strict=True):
        rate[one] += speed[0] @ time
        rate[other] += speed[1] @ time
    return np.asarray(_unit(jobs) * rate)


@pytest.mark.parametrize("seed", range(2))
def test_levels_with_pairs_are_those_of_single_programs(seed: int) -> None:
    jobs = sharing_jobs(seed, n=10)
    found = policies.leximin(sharing=True)(jobs)
    assert check(jobs, found) == []
    assert found.policy == "leximin sharing"
    assert found.pair_time.sum() > 0.1
    wanted = _filled(jobs, lambda stopped: np.where(stopped, 0.0, jobs.weight))
    assert _service(jobs, found) == pytest.approx(wanted, rel=1e-4)


@pytest.mark.parametrize("seed", range(2))
def test_entities_with_pairs_rise_as_stated(seed: int) -> None:
    jobs = sharing_jobs(seed, n=10)
    owner, weight = np.arange(10) % 2, np.array([1.0, 3.0])

    def pace(stopped: Bools) -> Floats:
        own = np.where(stopped, 0.0, jobs.weight)
        total = np.bincount(owner, own)
        return np.asarray(weight[owner] * own / np.where(total > 0, total, 1.0)[owner])

    found = policies.hierarchical(
        {name: str(e) for name, e in zip(jobs.name, owner, strict=True)},
        {"0": 1.0, "1": 3.0},
        sharing=True,
    )(jobs)
    assert check(jobs, found) == []
    assert found.policy == "hierarchical sharing"
    assert found.pair_time.sum() > 0.1
    assert _service(jobs, found) == pytest.approx(_filled(jobs, pace), rel=1e-4)


@pytest.mark.parametrize("make", [policies.max_min, policies.leximin, policies.hierarchical])
def test_who_knows_no_speeds_shares_with_nobody(make: Callable[..., Policy]) -> None:
    with pytest.raises(InputError, match="by_speed"):
        make(by_speed=False, sharing=True)


def test_no_jobs_need_no_solver() -> None:
    none = JobsSnapshot.of([], speed=np.zeros((0, 1)), workers=[1])
    assert len(policies.max_min(sharing=True)(none)) == 0
