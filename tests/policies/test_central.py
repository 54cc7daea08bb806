"""Max-min fairness at a central solution: best, within the rows, proved, and spread."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.policies.drawn import random_jobs

from walras.domains import cluster_scheduling
from walras.policies.central import central_max_min
from walras.solving import solve

NO_PAIRS = np.zeros((0, 2), np.int64), np.zeros((0, 2, 3))


@given(st.integers(0, 2000))
def test_the_value_is_the_best_and_proved(seed: int) -> None:
    jobs = random_jobs(seed, n=1 + seed % 20)
    service = np.where(jobs.fits, jobs.speed, 0.0) / jobs.weight[:, None]
    found = central_max_min(service, jobs.size, jobs.workers, *NO_PAIRS)
    assert (found.time >= 0.0).all()
    assert (found.time.sum(axis=1) <= 1 + 1e-12).all()
    assert (jobs.size @ found.time <= jobs.workers * (1 + 1e-12)).all()
    assert (found.time[~jobs.fits] == 0.0).all()
    assert found.value <= found.bound * (1 + 1e-9)
    assert found.value == pytest.approx(found.bound, rel=1e-5)
    best = solve(cluster_scheduling.max_min(service.T, jobs.size, jobs.workers))
    assert found.value == pytest.approx(best.value, rel=1e-5)


def test_alike_jobs_have_alike_shares() -> None:
    """Three jobs can have all the time: it is spread over the types alike."""
    one = np.ones(3, np.int64)
    none = np.zeros((0, 2), np.int64), np.zeros((0, 2, 2))
    found = central_max_min(np.ones((3, 2)), one, np.array([4, 4]), *none)
    assert found.time == pytest.approx(np.full((3, 2), 0.5), abs=1e-4)
