"""Leximin against levels found by linear programs, one job at a time."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.policies.drawn import random_jobs

from walras import InputError
from walras.policies import leximin
from walras.policies.solved import relative_service
from walras.rounds import JobsSnapshot, check
from walras.types import Floats


def _levels(jobs: JobsSnapshot) -> Floats:
    """(N,) the leximin services: a job stops where it alone could not rise."""
    n, t = jobs.speed.shape
    service = relative_service(jobs, by_speed=True) / jobs.weight[:, None]
    flat = np.zeros((n, n * t + 1))
    for j in range(n):
        flat[j, j * t : (j + 1) * t] = -service[j]
    whole = np.hstack([np.kron(np.eye(n), np.ones((1, t))), np.zeros((n, 1))])
    taken = np.hstack([np.kron(jobs.size[None, :], np.eye(t)), np.zeros((t, 1))])
    right = np.concatenate([np.ones(n), jobs.workers])
    fixed = np.full(n, np.nan)
    level = 0.0

    def most(gain: Floats, rising: Floats, floor: Floats) -> float:
        rows = flat.copy()
        rows[:, -1] = rising
        found = linprog(
            -gain, np.vstack([rows, whole, taken]), np.concatenate([-floor, right]), method="highs"
        )
        return -float(found.fun or 0.0)

    while np.isnan(fixed).any():
        rises = np.isnan(fixed)
        floor = np.where(rises, 0.0, fixed * (1 - 1e-9))
        level = most(np.eye(n * t + 1)[-1], rises.astype(float), floor)
        floor = np.where(rises, level * (1 - 1e-9), floor)
        for j in np.flatnonzero(rises).tolist():
            if most(-flat[j], np.zeros(n), floor) <= level * (1 + 1e-6):
                fixed[j] = level
    return fixed


@pytest.mark.parametrize("seed", range(3))
def test_levels_are_those_of_single_programs(seed: int) -> None:
    jobs = random_jobs(seed, n=6)
    found = leximin()(jobs)
    assert check(jobs, found) == []
    service = (relative_service(jobs, by_speed=True) * found.time).sum(axis=1) / jobs.weight
    assert np.sort(service) == pytest.approx(np.sort(_levels(jobs)), rel=1e-4)


def test_levels_below_one_are_refused() -> None:
    with pytest.raises(InputError, match="levels"):
        leximin(levels=0)
