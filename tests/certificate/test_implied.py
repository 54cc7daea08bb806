"""Bounds that rows imply: nothing that meets the rows lies outside, and simple ones are found."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from walras.certificate.implied import implied_bounds

INF = np.inf


def test_a_chain_of_rows_bounds_every_column() -> None:
    """x0 <= 3, x1 <= 2 x0, x1 + x2 - x3 <= 1, x3 <= x1."""
    matrix = sp.csc_array(
        np.array([[1.0, 0, 0, 0], [-2.0, 1, 0, 0], [0, 1.0, 1, -1], [0, -1.0, 0, 1]])
    )
    rows = np.full(4, -INF), np.array([3.0, 0.0, 1.0, 0.0])
    low, high = implied_bounds(matrix, (np.zeros(4), np.full(4, INF)), rows)
    assert np.all(low == 0.0)
    assert high == pytest.approx([3.0, 6.0, 7.0, 6.0], rel=1e-9)
    assert np.all(high >= [3.0, 6.0, 7.0, 6.0])


def test_free_columns_get_both_bounds_from_equalities() -> None:
    matrix = sp.csc_array(np.array([[1.0, -4.0], [0.0, 1.0]]))
    free = np.full(2, -INF), np.full(2, INF)
    low, high = implied_bounds(matrix, free, (np.array([8.0, -1.0]), np.array([8.0, 2.0])))
    assert low == pytest.approx([4.0, -1.0])
    assert high == pytest.approx([16.0, 2.0])


def test_what_nothing_bounds_stays_open() -> None:
    matrix = sp.csc_array(np.array([[1.0, -1.0]]))
    low, high = implied_bounds(matrix, (np.zeros(2), np.full(2, INF)), (np.zeros(1), np.zeros(1)))
    assert np.all(low == 0.0)
    assert np.all(np.isinf(high))


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6))
def test_no_feasible_point_lies_outside(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    a = np.round(rng.normal(size=(m, n)), 2) * (rng.random((m, n)) < 0.7)
    point = rng.uniform(-2, 2, n)
    lower = np.where(rng.random(n) < 0.6, point - rng.random(n), -INF)
    upper = np.where(rng.random(n) < 0.4, point + rng.random(n), INF)
    top = np.where(rng.random(m) < 0.8, a @ point + rng.random(m), INF)
    bottom = np.where(rng.random(m) < 0.5, a @ point - rng.random(m), -INF)
    low, high = implied_bounds(sp.csc_array(a), (lower, upper), (bottom, top))
    up, down = np.isfinite(top), np.isfinite(bottom)
    limits = np.vstack([a[up], -a[down]]), np.concatenate([top[up], -bottom[down]])
    for q in range(n):
        for sign, end in ((1.0, low[q]), (-1.0, -high[q])):
            cost = np.zeros(n)
            cost[q] = sign
            found = linprog(cost, *limits, bounds=np.c_[lower, upper], method="highs")
            if found.fun is not None:
                assert end <= found.fun + 1e-7 * max(1.0, abs(found.fun))
            else:  # without end
                assert end == -INF
