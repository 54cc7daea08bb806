"""Compiled kernels against their definition in plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernels.blocks import Blocks, same

from walras.kernels import cpu, reference

SEEDS = st.integers(0, 100_000)
THREADS = st.sampled_from([1, 2, 3])


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


@pytest.mark.parametrize("size", [1, 5, 40, 70])
def test_a_triangle_is_scaled_and_turned(size: int) -> None:
    rng = np.random.default_rng(size)
    s = np.tril(rng.normal(size=(size, size)))
    s[0, 0], scale = 0.0, rng.lognormal(size=size)
    s[np.arange(1, size), np.arange(1, size)] = rng.lognormal(size=size - 1)
    out = np.zeros((size, size))
    cpu.scaled_triangle(s, scale, 0.25, out)
    expected = (scale[:, None] * s * scale).T
    expected[0, 0] = 1.0  # in place of zero
    np.testing.assert_allclose(out, expected + 0.25 * np.eye(size), rtol=1e-14)
