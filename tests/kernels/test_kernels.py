"""Compiled kernels against their definition in plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from walras.kernels import cpu, reference

SEEDS = st.integers(0, 100_000)
THREADS = st.sampled_from([1, 2, 3])


class Blocks:
    """Random blocks of columns, local rows and a narrow matrix."""

    def __init__(self, seed: int, *, empty: bool = False, degenerate: bool = False) -> None:
        rng = np.random.default_rng(seed)
        blocks, slots = int(rng.integers(1, 9)), int(rng.integers(0, 4))
        width = rng.integers(0 if empty else 1, 7, blocks)
        self.ptr = np.concatenate([[0], np.cumsum(width)]).astype(np.int64)
        n = int(self.ptr[-1])
        self.local = rng.normal(size=(slots, n)) * (rng.random((slots, n)) < 0.8)
        if degenerate and slots > 1:
            self.local[1] = 2.0 * self.local[0]  # dependent local rows
        self.d = rng.lognormal(0, 3 if degenerate else 1, n)
        self.theta = rng.lognormal(0, 1, (blocks, slots)) * (rng.random((blocks, slots)) < 0.7)
        if degenerate:
            self.theta[:] = 0.0
        rows = int(rng.integers(1, 8))
        self.narrow = sp.csc_array(sp.random(rows, n, 0.4, random_state=seed, format="csc"))
        self.slots, self.blocks, self.n, self.rows = slots, blocks, n, rows
        self.rng = rng


def same(a: np.ndarray, b: np.ndarray, tolerance: float = 1e-10) -> None:
    assert a.shape == b.shape
    finite = np.isfinite(b)
    assert np.array_equal(np.isfinite(a), finite)
    size = max(1.0, float(np.max(np.abs(b[finite]), initial=0.0)))
    assert np.max(np.abs(a[finite] - b[finite]), initial=0.0) <= tolerance * size


@settings(max_examples=60)
@given(seed=SEEDS, threads=THREADS)
def test_orthogonalise(seed: int, threads: int) -> None:
    b = Blocks(seed)
    r, v = cpu.orthogonalise(b.ptr, b.local, b.d, b.theta, threads)
    for found, expected in zip(
        (r, v), reference.orthogonalise(b.ptr, b.local, b.d, b.theta), strict=True
    ):
        same(found, expected, 1e-8)


@settings(max_examples=60)
@given(seed=SEEDS)
def test_the_factor_is_that_of_the_weighted_gram_matrix(seed: int) -> None:
    """R'R = U D U' + Theta and V = R^-T U, where the rows are independent."""
    b = Blocks(seed)
    theta = b.theta + 0.1
    r, v = cpu.orthogonalise(b.ptr, b.local, b.d, theta, 1)
    for j in range(b.blocks):
        here = slice(b.ptr[j], b.ptr[j + 1])
        gram = (b.local[:, here] * b.d[here]) @ b.local[:, here].T + np.diag(theta[j])
        assert r[j].T @ r[j] == pytest.approx(gram, rel=1e-9, abs=1e-9)
        assert r[j].T @ v[:, here] == pytest.approx(b.local[:, here], rel=1e-8, abs=1e-8)


@settings(max_examples=40)
@given(seed=SEEDS)
def test_dependent_local_rows_are_marked_not_divided_by(seed: int) -> None:
    b = Blocks(seed, degenerate=True)
    r, v = cpu.orthogonalise(b.ptr, b.local, b.d, b.theta, 1)
    assert np.all(np.isfinite(v))
    if b.slots > 1:
        assert np.all(np.isinf(r[:, 1, 1]))


@settings(max_examples=60)
@given(seed=SEEDS, threads=THREADS)
def test_forward_and_backward(seed: int, threads: int) -> None:
    b = Blocks(seed)
    r, v = reference.orthogonalise(b.ptr, b.local, b.d, b.theta + 0.1)
    g, beta = b.rng.normal(size=b.n), b.rng.normal(size=(b.blocks, b.slots))
    first = reference.forward(b.ptr, r, v, b.d, g, beta)
    for found, expected in zip(cpu.forward(b.ptr, r, v, b.d, g, beta, threads), first, strict=True):
        same(found, expected)
    charge = np.asarray(b.narrow.T @ b.rng.normal(size=b.rows))
    for found, expected in zip(
        cpu.backward(b.ptr, r, v, b.d, g, first[0], charge, threads),
        reference.backward(b.ptr, r, v, b.d, g, first[0], charge),
        strict=True,
    ):
        same(found, expected)


@settings(max_examples=40)
@given(seed=SEEDS)
def test_a_whole_solve_satisfies_its_system(seed: int) -> None:
    """x, q, p of forward, Schur complement and backward solve the block system itself."""
    b = Blocks(seed)
    theta = b.theta + 0.1
    r, v = cpu.orthogonalise(b.ptr, b.local, b.d, theta, 1)
    g, beta = b.rng.normal(size=b.n), b.rng.normal(size=(b.blocks, b.slots))
    right = b.rng.normal(size=b.rows)
    top, free = cpu.forward(b.ptr, r, v, b.d, g, beta, 1)
    s = np.tril(cpu.schur(b.ptr, b.d, v, b.narrow, 1))
    s = s + np.tril(s, -1).T + np.eye(b.rows)
    p = np.linalg.solve(s, b.narrow @ free + right).astype(np.float64)
    x, q = cpu.backward(b.ptr, r, v, b.d, g, top, np.asarray(b.narrow.T @ p), 1)
    block = np.repeat(np.arange(b.blocks), np.diff(b.ptr))
    pulled = np.sum(b.local * q.T[:, block], axis=0) if b.slots else np.zeros(b.n)
    # D^-1 x + U'q + N'p = g,   U x - Theta q = -beta,   N x - p = -right.
    assert x / b.d + pulled + b.narrow.T @ p == pytest.approx(g, abs=1e-6)
    for j in range(b.blocks):
        here = slice(b.ptr[j], b.ptr[j + 1])
        assert b.local[:, here] @ x[here] - theta[j] * q[j] == pytest.approx(-beta[j], abs=1e-6)
    assert b.narrow @ x - p == pytest.approx(-right, abs=1e-6)


@settings(max_examples=60)
@given(seed=SEEDS, threads=THREADS)
def test_schur(seed: int, threads: int) -> None:
    b = Blocks(seed)
    _, v = reference.orthogonalise(b.ptr, b.local, b.d, b.theta + 0.1)
    found = cpu.schur(b.ptr, b.d, v, b.narrow, threads)
    same(np.tril(found), np.tril(reference.schur(b.ptr, b.d, v, b.narrow)), 1e-9)


@settings(max_examples=60)
@given(seed=SEEDS, threads=THREADS, heat=st.floats(0.05, 1.0))
def test_wanted(seed: int, threads: int, heat: float) -> None:
    b = Blocks(seed)
    row = b.rng.integers(0, b.rows, b.n).astype(np.int32)
    benefit = np.where(b.rng.random(b.n) < 0.2, -np.inf, b.rng.normal(size=b.n))
    benefit[b.ptr[:-1]] = 0.0  # nobody goes without any
    use, price = b.rng.lognormal(size=b.n), b.rng.lognormal(size=b.rows)
    arguments = b.ptr, row, benefit, use, b.rng.lognormal(size=b.blocks), price, heat
    found = cpu.wanted(*arguments, threads)
    for one, other in zip(found, reference.wanted(*arguments), strict=True):
        wide = np.isfinite(other)
        assert np.array_equal(wide, np.isfinite(one))
        same(one[wide], other[wide], 1e-12)


@settings(max_examples=60)
@given(seed=SEEDS, threads=THREADS, most=st.integers(1, 4))
def test_cheapest(seed: int, threads: int, most: int) -> None:
    b = Blocks(seed, empty=True)
    score = np.round(b.rng.normal(size=b.n), 1)  # with ties
    active = b.rng.random(b.n) < 0.3
    for limit in (0.0, np.inf, -10.0):
        found = cpu.cheapest(b.ptr, score, active, limit, most, threads)
        assert np.array_equal(found, reference.cheapest(b.ptr, score, active, limit, most))


@settings(max_examples=60)
@given(seed=SEEDS)
def test_price_rise(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, rows = int(rng.integers(1, 30)), int(rng.integers(1, 6))
    row = rng.integers(-1, rows, n, dtype=np.int32)
    arguments = row, rng.uniform(0.1, 3.0, n), rng.normal(size=n), rng.random(n) < 0.3, rows
    found = cpu.price_rise(*arguments)
    same(found, reference.price_rise(*arguments), 1e-14)
    _, coefficient, reduced, exempt, _ = arguments
    lifted = reduced + np.where(row >= 0, coefficient * found[row], 0.0)
    assert np.all(lifted[(row >= 0) & ~exempt] >= -1e-12)


def drawn_matrix(seed: int, columns: int) -> Any:
    """(5, columns) CSC, some coefficients negative, some rows and columns empty."""
    matrix: Any = sp.csc_array(sp.random(5, columns, 0.4, random_state=seed, format="csc"))
    matrix.data -= 0.3
    return matrix


@settings(max_examples=60)
@given(seed=SEEDS)
def test_what_entries_cost_and_where_they_lie(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 20))
    matrix = drawn_matrix(seed, n)
    cost, prices = rng.normal(size=n), rng.normal(size=5)
    found = cpu.reduced_costs(matrix, cost, prices)
    same(found, reference.reduced_costs(matrix, cost, prices), 1e-14)
    assert np.array_equal(cpu.negative_rows(matrix), reference.negative_rows(matrix))
    cap = rng.integers(-1, 5, n, dtype=np.int32)
    arguments = matrix.indices, cap, rng.integers(0, 3, n).astype(np.int8), 5, 3
    for one, other in zip(cpu.tallies(*arguments), reference.tallies(*arguments), strict=True):
        assert np.array_equal(one, other)


def test_passes_over_many_entries_are_the_same_in_threads() -> None:
    n = 250_000
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 50, (n, 2), dtype=np.int32).ravel()
    ptr = np.arange(0, 2 * n + 1, 2, dtype=np.int32)
    matrix: Any = sp.csc_array((rng.normal(size=2 * n), rows, ptr), (50, n))
    cost, prices, row = rng.normal(size=n), rng.normal(size=50), rows[::2].copy()
    one, two = (cpu.reduced_costs(matrix, cost, prices, threads) for threads in (1, 2))
    assert np.array_equal(one, two)
    same(one, reference.reduced_costs(matrix, cost, prices), 1e-14)
    arguments = row, rng.uniform(0.1, 3.0, n), one, rng.random(n) < 0.3, 50
    assert np.array_equal(cpu.price_rise(*arguments), cpu.price_rise(*arguments, 2))
    same(cpu.price_rise(*arguments), reference.price_rise(*arguments), 1e-14)


@settings(max_examples=60)
@given(seed=SEEDS)
def test_first_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = drawn_matrix(seed, int(rng.integers(1, 20)))
    rank = rng.integers(-1, 3, 5).astype(np.int8)
    arguments = matrix.indptr, matrix.indices, matrix.data, rank
    row, coefficient = cpu.first_rows(*arguments)
    expected = reference.first_rows(*arguments)
    assert np.array_equal(row, expected[0])
    assert np.array_equal(coefficient, expected[1])


def test_the_same_number_of_threads_gives_the_same_bits() -> None:
    rng = np.random.default_rng(0)
    ptr = np.arange(0, 40_001, 20, dtype=np.int64)
    n = int(ptr[-1])
    local, d = rng.normal(size=(2, n)), rng.lognormal(0, 1, n)
    theta = rng.random((len(ptr) - 1, 2))
    narrow = sp.csc_array(sp.random(30, n, 0.1, random_state=1, format="csc"))
    for threads in (1, 2):
        r, v = cpu.orthogonalise(ptr, local, d, theta, threads)
        again = cpu.orthogonalise(ptr, local, d, theta, threads)
        assert np.array_equal(r, again[0])
        assert np.array_equal(v, again[1])
        first = cpu.schur(ptr, d, v, narrow, threads)
        assert np.array_equal(first, cpu.schur(ptr, d, v, narrow, threads))
