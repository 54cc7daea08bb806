"""Whole numbers under coefficients of 1e8 to 1e12: what has no optimum is told apart and named."""

from __future__ import annotations

import cvxpy as cp
import pytest

import walras as wl

k, z = cp.Variable(4, integer=True), cp.Variable(4, boolean=True)
SIZES = [1e8, 1e10, 1e12]


@pytest.mark.parametrize("size", SIZES)
def test_infeasible_is_infeasible(size: float) -> None:
    cases = [
        [size * k >= size * 5, k <= 4],
        [size * cp.sum(z) >= size * 5, k >= 0],
        [2 * size * k[0] + 4 * size * k[1] == size * 3, k >= 0, k <= 1000],  # by parity alone
    ]
    for rows in cases:
        with pytest.raises(wl.InfeasibleError):
            wl.Problem(cp.Minimize(cp.sum(k)), rows).solve(threads=1)


@pytest.mark.parametrize("size", SIZES)
def test_unbounded_is_unbounded(size: float) -> None:
    for rows in ([size * k[0] - k[1] <= 3], [size * (k[0] - k[1]) <= size]):
        with pytest.raises(wl.UnboundedError):
            wl.Problem(cp.Maximize(cp.sum(k)), rows).solve(threads=1)
