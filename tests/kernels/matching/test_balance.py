"""Balance of large matchings: loads and success come to their limits."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kernels.matching.rounds import as_kernel
from tests.matching.rounds import batch

from walras.kernels.matching.balance import anneal, balance
from walras.kernels.matching.local_search import improve, tally
from walras.kernels.matching.rounds import HARD


@pytest.mark.parametrize("together", [False, True])
def test_balance_brings_loads_and_success_to_their_limits(together: bool) -> None:
    times, success = batch(6, 1, 6, 120)
    t, a = as_kernel(times)[0], as_kernel(success)[0]
    zeta = np.ones((6, 121))
    if together:
        zeta[:, 1:] = 0.6 + 0.4 * np.exp(-0.2 * np.arange(120))
    x = t.argmin(axis=1).astype(np.int32)
    start = x.copy()
    near = np.argsort(t, axis=1)[:, :4].astype(np.int32)
    total, count = np.empty(6), np.empty(6, dtype=np.int32)
    known = start.copy()
    goal = 0.82 * 120
    tau = 1.05 * improve(t, a, zeta, goal, HARD, known, 10_000)
    assert tau < 1e6
    left = balance(t, a, zeta, goal, 1.0, x, near, tau, 100)
    reached = tally(t, a, x, total, count)
    over = np.maximum(zeta[np.arange(6), count] * total - tau, 0).sum()
    assert left == pytest.approx(over + max(goal - reached, 0))
    assert left < 1e-9
    excess = np.ascontiguousarray(t - t.min(axis=1, keepdims=True))
    twice = []
    for _ in range(2):
        y = start.copy()
        anneal(t, a, zeta, goal, 1.0, y, near, excess, tau, 0.01, 20_000, 3)
        twice.append(y)
    assert np.array_equal(*twice)
    assert np.all(np.isin(twice[0], np.arange(6)))
