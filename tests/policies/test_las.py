"""Least attained service against the linear program stated directly in cvxpy."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from tests.policies.drawn import best_with_pairs, random_jobs, sharing_jobs

from walras import InputError
from walras.policies import las
from walras.rounds import JobsSnapshot, check


def _stated(jobs: JobsSnapshot, *, by_speed: bool) -> float:
    speed = np.where(jobs.fits, jobs.speed if by_speed else 1.0, 0.0)
    if by_speed:
        speed = speed / (jobs.speed @ jobs.workers / jobs.workers.sum())[:, None]
    x = cp.Variable(jobs.speed.shape, nonneg=True)
    service = cp.multiply(jobs.size, cp.sum(cp.multiply(speed, x), axis=1))
    least = cp.min(service / jobs.weight)
    within = [cp.sum(x, axis=1) <= 1, jobs.size @ x <= jobs.workers]
    return float(cp.Problem(cp.Maximize(least), within).solve(solver="HIGHS"))


@pytest.mark.parametrize("engine", [None, "interior"])
@pytest.mark.parametrize("by_speed", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_least_service_is_the_best(seed: int, by_speed: bool, engine: str | None) -> None:
    jobs = random_jobs(seed)
    found = las(by_speed, engine=engine)(jobs)
    assert check(jobs, found) == []
    assert found.value == pytest.approx(_stated(jobs, by_speed=by_speed), rel=1e-6)
    assert found.gap < 1e-6
    assert found.blind is not by_speed


def test_no_jobs_need_no_solver() -> None:
    none = JobsSnapshot.of([], speed=np.zeros((0, 2)), workers=[1, 1])
    assert len(las()(none)) == 0


@pytest.mark.parametrize("engine", [None, "interior"])
@pytest.mark.parametrize("seed", range(5))
def test_pairs_raise_the_least_service_to_its_best(seed: int, engine: str | None) -> None:
    jobs = sharing_jobs(seed)
    found = las(by_speed=True, sharing=True, engine=engine)(jobs)
    assert check(jobs, found) == []
    mean = jobs.speed @ jobs.workers / jobs.workers.sum()
    best = best_with_pairs(jobs, jobs.size / mean / jobs.weight)
    assert found.value == pytest.approx(best, rel=1e-6)
    assert found.bound >= best * (1 - 1e-9)
    assert engine is not None or found.gap < 1e-5
    assert best > las(by_speed=True)(jobs).value * (1 - 1e-9)


def test_sharing_needs_speeds() -> None:
    with pytest.raises(InputError, match="without by_speed"):
        las(sharing=True)


@pytest.mark.parametrize(("by_speed", "sharing"), [(False, False), (True, False), (True, True)])
def test_weights_of_any_size_give_numbers(by_speed: bool, sharing: bool) -> None:
    """Services are equal by weight, so that the heavy job has all of its best worker."""
    jobs = JobsSnapshot.of(
        ["a", "b"], speed=[[3.0, 1.0], [1.0, 1.0]], workers=[1, 1], weight=[1e-100, 1e100]
    )
    shares = las(by_speed, sharing)(jobs)
    assert not check(jobs, shares)
    assert shares.time[1].sum() == pytest.approx(1.0, abs=1e-5)
    assert shares.value * 1e100 == pytest.approx(1.0, rel=1e-6)


def test_weights_and_speeds_of_any_size_give_shares() -> None:
    rng = np.random.default_rng(0)
    for _ in range(150):
        n, t = int(rng.integers(1, 6)), int(rng.integers(1, 4))
        jobs = JobsSnapshot.of(
            [str(j) for j in range(n)],
            speed=10.0 ** rng.uniform(-100, 100, (n, t)),
            workers=[1] * t,
            weight=10.0 ** rng.uniform(-50, 50, n),
        )
        assert check(jobs, las(by_speed=True)(jobs)) == []
