"""Jobs in line on slots begin when a plain simulation says."""

from __future__ import annotations

import numpy as np
import pytest

from walras.kernels.queues import run_in_order


def _plainly(
    cluster: np.ndarray,
    arrival: np.ndarray,
    seconds: np.ndarray,
    size: np.ndarray,
    slots: list[int],
) -> np.ndarray:
    """Each slot has the time from which it is free."""
    free = [np.full(count, -np.inf) for count in slots]
    last = [-np.inf] * len(slots)
    start = np.empty(len(cluster))
    for j, i in enumerate(cluster.tolist()):
        free[i].sort()
        last[i] = start[j] = max(arrival[j], free[i][size[j] - 1], last[i])
        free[i][: size[j]] = start[j] + seconds[j]
    return start


@pytest.mark.parametrize("seed", range(5))
def test_begins_are_those_of_a_plain_simulation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 300
    cluster, size = rng.integers(0, 3, n), rng.integers(1, 4, n)
    arrival, seconds = np.sort(rng.random(n) * 100), rng.exponential(1.0, n)
    slots = np.array([3, 4, 7])
    found = run_in_order(cluster, arrival, seconds, size, slots, np.array([0.0, 0.0]))
    assert found == pytest.approx(_plainly(cluster, arrival, seconds, size, slots.tolist()))


def test_begins_lie_on_the_grid_but_for_jobs_that_run_already() -> None:
    found = run_in_order(
        np.zeros(3, np.int64),
        np.array([-5.0, 1.0, 2.0]),
        np.array([12.0, 3.0, 3.0]),
        np.ones(3, np.int64),
        np.array([1]),
        np.array([0.0, 10.0]),
    )
    assert found.tolist() == [-5.0, 10.0, 20.0]
