"""Gandiva-like packing: who is paired, who stays, equal parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.policies.drawn import sharing_jobs

from walras.policies import gandiva
from walras.rounds import JobsSnapshot, check

_SEEN = ("size", "weight", "arrival", "steps", "left", "received", "speed", "group")
_BY_JOB = (*_SEEN, "deadline", "attempt")


def _jobs(n: int, gain: float = 1.5, workers: int = 2) -> JobsSnapshot:
    return JobsSnapshot.of(
        [f"j{k}" for k in range(n)],
        speed=np.ones((n, 1)),
        workers=[workers],
        group=np.zeros(n, np.int64),
        paired=np.full((1, 1, 1), gain / 2),
    )


@given(st.integers(0, 10_000))
def test_shares_are_good(seed: int) -> None:
    policy, jobs = gandiva(seed), sharing_jobs(seed, n=12)
    for _ in range(3):
        found = policy(jobs)
        assert check(jobs, found) == []
        stay = np.flatnonzero(np.arange(len(jobs)) != seed % len(jobs))
        jobs = replace(
            jobs,
            **{name: getattr(jobs, name)[stay] for name in _BY_JOB},
            name=tuple(jobs.name[j] for j in stay),
            kind=tuple(jobs.kind[j] for j in stay),
        )


def test_jobs_that_fit_have_equal_parts_alone() -> None:
    found = gandiva()(_jobs(2))
    assert found.time.ravel().tolist() == [1.0, 1.0]
    assert len(found.pair) == 0


def test_jobs_that_do_not_fit_are_paired_and_stay_paired() -> None:
    policy = gandiva(3)
    first = policy(_jobs(6, workers=3)).pair.tolist()
    assert len(first) == 3
    assert sorted(np.ravel(first).tolist()) == list(range(6))
    assert policy(_jobs(6, workers=3)).pair.tolist() == first


def test_pairs_that_gain_nothing_part() -> None:
    policy = gandiva(0)
    seen = {str(policy(_jobs(4, gain=0.9)).pair.tolist()) for _ in range(12)}
    assert len(seen) > 1


@pytest.mark.parametrize("seed", range(3))
def test_a_job_without_a_partner_is_alone(seed: int) -> None:
    found = gandiva(seed)(_jobs(3))
    assert len(found.pair) == 1
    assert sorted([*found.pair[0].tolist(), int(np.argmax(found.time))]) == [0, 1, 2]
    assert found.pair_time.ravel().tolist() == [1.0]
