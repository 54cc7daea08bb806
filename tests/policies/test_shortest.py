"""Shortest remaining time has the least mean completion time on one worker."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.policies.drawn import random_jobs

from walras.policies import fifo, las, shortest_remaining_time
from walras.rounds import JobsSnapshot, check
from walras.simulate import Cluster, Trace, run


@pytest.mark.parametrize("by_speed", [False, True])
def test_decisions_are_feasible_and_whole(by_speed: bool) -> None:
    for seed in range(5):
        jobs = random_jobs(seed)
        found = shortest_remaining_time(by_speed)(jobs)
        assert check(jobs, found) == []
        assert set(np.unique(found.time)) <= {0.0, 1.0}
        assert found.time.any()


def _least_total(arrival: np.ndarray, work: np.ndarray) -> float:
    """The least sum of completion times over all priority orders with pre-emption."""
    n, least = len(work), np.inf
    for order in itertools.permutations(range(n)):
        left, now, total = work.copy(), 0.0, 0.0
        while (left > 0).any():
            there = [j for j in order if left[j] > 0 and arrival[j] <= now]
            later = arrival[(left > 0) & (arrival > now)]
            if not there:
                now = later.min()
                continue
            span = left[there[0]]
            if len(later):
                span = min(span, later.min() - now)
            left[there[0]] -= span
            now += span
            if left[there[0]] == 0:
                total += now - arrival[there[0]]
        least = min(least, total)
    return least


@pytest.mark.parametrize("seed", range(4))
def test_no_priority_order_is_better_on_one_worker(seed: int) -> None:
    rng = np.random.default_rng(seed)
    work = rng.integers(1, 60, 5).astype(float)
    arrival = np.sort(rng.integers(0, 80, 5)).astype(float)
    trace = Trace.of([f"j{k}" for k in range(5)], arrival=arrival, steps=work)
    cluster = Cluster({"type 0": 1})
    totals = {
        policy.__name__: run(trace, cluster, policy, round_seconds=0).completion.sum()
        for policy in (shortest_remaining_time(), fifo(), las())
    }
    assert totals["shortest remaining time"] == pytest.approx(_least_total(arrival, work))
    assert min(totals.values()) == totals["shortest remaining time"]


def test_large_jobs_let_small_ones_pass() -> None:
    jobs = JobsSnapshot.of(
        ["soon", "large", "late"],
        speed=np.ones((3, 1)),
        size=[1, 2, 1],
        steps=[1, 5, 9],
        workers=[2],
    )
    assert shortest_remaining_time()(jobs).time.tolist() == [[1.0], [0.0], [1.0]]
