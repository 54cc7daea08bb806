"""The last end, against the exact value on one type and the linear program of shares on several."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from walras.policies.savings.makespan import last_end


def test_one_type_is_as_full_as_the_busiest_suffix() -> None:
    """On W workers, jobs that arrive from a on need a + work / W, each at least its own length."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        arrival = np.sort(rng.integers(0, 50, 12)).astype(float)
        size, seconds = rng.integers(1, 4, 12).astype(float), rng.uniform(1, 9, 12)
        found = last_end(arrival, size[:, None], seconds[:, None], np.array([4.0]))
        work = np.cumsum((size * seconds)[::-1])[::-1] / 4.0
        first = np.searchsorted(arrival, arrival)
        assert found == pytest.approx(max((arrival + work[first]).max(), (arrival + seconds).max()))


def test_several_types_at_once_are_the_linear_program() -> None:
    rng = np.random.default_rng(1)
    n, workers = 8, np.array([2.0, 3.0])
    alone = rng.uniform(1, 9, (n, 2))
    alone[0, 1] = np.inf
    size = rng.integers(1, 3, n).astype(float)
    rate = np.where(np.isfinite(alone), 1.0 / alone, 0.0)
    cost = np.append(np.zeros(2 * n), 1.0)
    upper = np.zeros((2 + n, 2 * n + 1))
    for t in range(2):
        upper[t, t : 2 * n : 2] = size
        upper[t, -1] = -workers[t]
    for j in range(n):
        upper[2 + j, 2 * j : 2 * j + 2], upper[2 + j, -1] = 1.0, -1.0
    equal = np.zeros((n, 2 * n + 1))
    for j in range(n):
        equal[j, 2 * j : 2 * j + 2] = rate[j]
    best = linprog(cost, upper, np.zeros(2 + n), equal, np.ones(n)).fun
    assert last_end(np.zeros(n), np.tile(size[:, None], 2), alone, workers) == pytest.approx(
        best, rel=1e-5
    )
