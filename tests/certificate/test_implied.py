"""Bounds that rows imply: nothing that meets the rows lies outside, and simple ones are found."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.bank.statement import Entry, Row, Scalar, state

from walras.certificate.implied import implied, implied_bounds

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


def one_pass(a: np.ndarray, columns: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Bounds that each row implies of each column, the others at their least or most."""
    found = np.array([np.full(a.shape[1], -INF), np.full(a.shape[1], INF)])
    for k, q in zip(*np.nonzero(a), strict=True):
        least = most = 0.0
        for other in np.flatnonzero(a[k]):
            if other != q:
                ends = sorted(a[k, other] * columns[:, other])
                least, most = least + ends[0], most + ends[1]
        ends = sorted([(rows[0][k] - most) / a[k, q], (rows[1][k] - least) / a[k, q]])
        found[0, q], found[1, q] = max(found[0, q], ends[0]), min(found[1, q], ends[1])
    return found


@pytest.mark.parametrize("seed", range(40))
def test_bounds_are_those_of_intervals_pass_by_pass(seed: int) -> None:
    """A bound that is there is replaced where it moves by more than a hundredth of its size."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    a = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.7)
    lower = np.where(rng.random(n) < 0.7, -rng.random(n) - 0.1, -INF)
    upper = np.where(rng.random(n) < 0.7, rng.random(n) + 0.1, INF)
    top = np.where(rng.random(m) < 0.8, rng.random(m), INF)
    bottom = np.where(rng.random(m) < 0.5, -rng.random(m), -INF)
    wanted = np.array([lower, upper])
    for _ in range(10):
        low, high = one_pass(a, wanted, np.array([bottom, top]))
        before = wanted.copy()
        for q in range(n):
            for end, bound, sign in ((0, low[q], 1.0), (1, high[q], -1.0)):
                known = wanted[end, q]
                size = 0.01 * max(abs(known), abs(bound))
                if np.isfinite(bound) and (np.isinf(known) or sign * (bound - known) > size):
                    wanted[end, q] = bound
        if np.array_equal(before, wanted):
            break
    found = implied_bounds(sp.csc_array(a), (lower, upper), (bottom, top))
    assert found[0] == pytest.approx(wanted[0], rel=1e-9, abs=1e-10)
    assert found[1] == pytest.approx(wanted[1], rel=1e-9, abs=1e-10)
    assert np.all(found[0] <= wanted[0])
    assert np.all(found[1] >= wanted[1])


def test_bounds_lie_outside_what_rounding_may_cost_and_no_further() -> None:
    """x + y <= b of large terms: to the last digits, outwards."""
    matrix = sp.csc_array(np.array([[3.0, 7.0]]))
    columns = np.array([-INF, 1e8 / 3.0]), np.array([INF, 1e8 / 3.0])
    _, high = implied_bounds(matrix, columns, (np.full(1, -INF), np.full(1, 1e9 / 7.0)))
    exact = (1e9 / 7.0 - 7e8 / 3.0) / 3.0
    assert exact < high[0] < exact + 1e-13 * 1e9
    low, _ = implied_bounds(matrix, columns, (np.full(1, 1e9 / 7.0), np.full(1, INF)))
    assert exact - 1e-13 * 1e9 < low[0] < exact


def test_bounds_beyond_1e20_are_none() -> None:
    matrix = sp.csc_array(np.ones((1, 1)))
    free = np.full(1, -INF), np.full(1, INF)
    for b, wanted in ((0.9e20, 0.9e20), (1.1e20, INF)):
        low, high = implied_bounds(matrix, free, (np.full(1, -b), np.full(1, b)))
        assert [low[0], high[0]] == pytest.approx([-wanted, wanted])


def test_bounds_of_entries_come_before_those_of_scalars_and_are_found_once() -> None:
    rows = [
        Row("one[0]", {0: 1.0}, upper=4.0, scalars={0: 2.0}),
        Row("two[0]", {}, lower=-1.0, upper=5.0, scalars={0: 1.0}),
    ]
    problem = state([Entry(0, 0)], rows, [Scalar(1.0)])
    low, high = implied(problem)
    assert low.tolist() == pytest.approx([0.0, -1.0])
    assert high.tolist() == pytest.approx([6.0, 2.0])
    assert implied(problem)[0] is low
    bare = state([Entry(0, 0, lower=-3.0)], [Row("one[0]", {0: 2.0}, upper=4.0)])
    assert [float(end[0]) for end in implied(bare)] == pytest.approx([-3.0, 2.0])
