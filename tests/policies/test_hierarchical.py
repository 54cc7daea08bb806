"""Hierarchical fairness: the throughputs that Gavel's authors printed, and the same by one LP."""

from __future__ import annotations

import random

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.policies.drawn import random_jobs

from walras.policies import hierarchical
from walras.rounds import JobsSnapshot, check
from walras.types import Floats

# Printed with three decimals by ``hierarchical.ipynb`` of stanford-futuredata/gavel at 2271544:
# entities of weights 1, 2 and 3, six jobs of weights 1, 2, 1, ... each; in the first entity 0.201
# and 0.402, and so on. With fewer than 17 jobs, jobs at their best leave room, and what is printed
# is no longer the water filling, but wherever an interior-point method stopped.
AWARE = [0.201, 0.402] * 3 + [0.402, 0.805] * 3 + [0.604, 1.207] * 3
BLIND = [0.167, 0.333] * 3 + [0.333, 0.667] * 3 + [0.5, 1.0] * 3
AWARE_17 = [0.202, 0.404] * 3 + [0.404, 0.808] * 3 + [0.78, 1.559, 0.78, 1.559, 0.78]


def _published(jobs: int) -> JobsSnapshot:
    """The first jobs of their instance: sorted random speeds, three workers of each type."""
    draws = random.Random(0)
    return JobsSnapshot.of(
        [str(k) for k in range(jobs)],
        kind=[f"entity {k // 6}" for k in range(jobs)],
        speed=[sorted(draws.random() for _ in range(3)) for _ in range(jobs)],
        weight=[1.0 + k % 2 for k in range(jobs)],
        workers=[3, 3, 3],
        types=("k80", "p100", "v100"),
    )


def _throughput(jobs: JobsSnapshot, *, by_speed: bool) -> Floats:
    weights = {f"entity {k}": k + 1 for k in range(4)}
    found = hierarchical(entity_weight=weights, by_speed=by_speed)(jobs)
    assert check(jobs, found) == []
    assert found.gap < 1e-6
    speed = jobs.speed / jobs.speed.mean(axis=1, keepdims=True) if by_speed else jobs.fits
    return np.asarray((speed * found.time).sum(axis=1))


@pytest.mark.parametrize(
    ("jobs", "by_speed", "printed"), [(18, True, AWARE), (18, False, BLIND), (17, True, AWARE_17)]
)
def test_throughputs_are_those_printed(jobs: int, by_speed: bool, printed: list[float]) -> None:
    found = _throughput(_published(jobs), by_speed=by_speed)
    assert np.abs(found - printed).max() <= 0.0005 + 1e-6


def test_the_only_level_is_that_of_one_linear_program() -> None:
    jobs = _published(18)
    entity = np.arange(18) // 6
    due = (entity + 1.0) * jobs.weight / 9.0  # each entity's weights sum to nine
    speed = jobs.speed / jobs.speed.mean(axis=1, keepdims=True)
    rows = np.zeros((18, 55))
    for j in range(18):
        rows[j, 3 * j : 3 * j + 3], rows[j, -1] = -speed[j], due[j]
    whole = np.hstack([np.kron(np.eye(18), np.ones(3)), np.zeros((18, 1))])
    taken = np.hstack([np.kron(np.ones(18), np.eye(3)), np.zeros((3, 1))])
    right = np.concatenate([np.zeros(18), np.ones(18), np.full(3, 3.0)])
    found = linprog(-np.eye(55)[-1], np.vstack([rows, whole, taken]), right, method="highs")
    assert _throughput(jobs, by_speed=True) == pytest.approx(
        -float(found.fun or 0.0) * due, rel=1e-6
    )
    assert _throughput(jobs, by_speed=False) == pytest.approx(due * 1.5, rel=1e-6)


def test_entities_are_named_by_job_or_class_and_may_be_first_come() -> None:
    jobs = JobsSnapshot.of(["a", "b", "c"], speed=np.ones((3, 1)), workers=[1])
    policy = hierarchical(
        {"a": "x", "job": "y"}, {"x": 3, "z": 1}, inside={"y": "fifo", "z": "fifo"}
    )
    assert policy(jobs).time[:, 0] == pytest.approx([0.75, 0.25, 0.0], abs=1e-6)
    assert check(random_jobs(1), hierarchical()(random_jobs(1))) == []


def test_no_jobs_need_no_solver() -> None:
    none = JobsSnapshot.of([], speed=np.zeros((0, 2)), workers=[1, 1])
    assert len(hierarchical()(none)) == 0
