"""Random rounds of jobs that share workers, for tests of policies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import cvxpy as cp
import numpy as np

from walras.rounds import JobsSnapshot
from walras.types import Floats


def random_jobs(seed: int, n: int = 12, types: int = 3) -> JobsSnapshot:
    """Jobs of several sizes, weights and ages; some cannot run on some types."""
    rng = np.random.default_rng(seed)
    speed = rng.uniform(0.5, 4.0, (n, types)) * (rng.random((n, types)) < 0.85)
    speed[:, 0] = np.maximum(speed[:, 0], 0.5)
    steps = rng.integers(1000, 20_000, n).astype(float)
    return JobsSnapshot.of(
        [f"j{k}" for k in range(n)],
        at=1e5,
        size=rng.choice([1, 1, 2], n),
        weight=rng.choice([1.0, 2.0, 5.0], n),
        arrival=np.sort(rng.uniform(0, 1e5, n)),
        steps=steps,
        left=np.ceil(steps * rng.uniform(0.05, 1.0, n)),
        speed=speed,
        workers=[2, 3, 2][:types],
    )


def sharing_jobs(seed: int, n: int = 9) -> JobsSnapshot:
    """Random jobs that may share their workers in pairs; some pairs do not fit."""
    rng = np.random.default_rng(seed + 77)
    paired = rng.uniform(0.3, 2.5, (3, 3, 3)) * (rng.random((3, 3, 3)) < 0.8)
    return replace(random_jobs(seed, n), group=rng.integers(-1, 3, n), paired=paired)


def best_with_pairs(jobs: JobsSnapshot, per: Floats) -> float:
    """The largest least rate times ``per`` of a job, stated in cvxpy pair by pair."""
    return most_with_pairs(jobs, lambda rates: cp.min(cp.multiply(per, rates)))


def most_with_pairs(
    jobs: JobsSnapshot, gain: Callable[[cp.Expression], cp.Expression], solver: str = "HIGHS"
) -> float:
    """The largest ``gain`` of the rates (N,), stated in cvxpy pair by pair."""
    rates, within = rates_with_pairs(jobs)
    return float(cp.Problem(cp.Maximize(gain(rates)), within).solve(solver=solver))


def rates_with_pairs(jobs: JobsSnapshot) -> tuple[cp.Expression, list[cp.Constraint]]:
    """The rates (N,) of jobs alone and in pairs, and what shares of time must keep to."""
    x = cp.Variable(jobs.speed.shape, nonneg=True)
    rate = [cp.sum(cp.multiply(jobs.speed[j] * jobs.fits[j], x[j])) for j in range(len(jobs))]
    hours = [cp.sum(x[j]) for j in range(len(jobs))]
    taken = jobs.size @ x
    for j in range(len(jobs)):
        for k in range(j + 1, len(jobs)):
            a, b = jobs.group[j], jobs.group[k]
            if min(a, b) < 0 or jobs.size[j] != jobs.size[k]:
                continue
            fit = jobs.fits[j] & jobs.fits[k] & (jobs.paired[a, b] > 0) & (jobs.paired[b, a] > 0)
            y = cp.Variable(3, nonneg=True)
            rate[j] += cp.sum(cp.multiply(jobs.paired[a, b] * fit, y))
            rate[k] += cp.sum(cp.multiply(jobs.paired[b, a] * fit, y))
            hours[j] += cp.sum(y)
            hours[k] += cp.sum(y)
            taken += jobs.size[j] * y
    return cp.hstack(rate), [cp.hstack(hours) <= 1, taken <= jobs.workers]
