"""Compiled passes over entries against their definition in plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernels.blocks import Blocks, same

from walras.kernels import cpu, reference

SEEDS = st.integers(0, 100_000)


THREADS = st.sampled_from([1, 2, 3])


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
    reach = rng.uniform(0, 1, n) * (rng.random(n) < 0.9)
    least = zip(cpu.least_terms(matrix, reach), reference.least_terms(matrix, reach), strict=True)
    assert all(np.array_equal(one, other) for one, other in least)
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
