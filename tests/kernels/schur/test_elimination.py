"""Newton systems without their local rows against one dense solve."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from walras.kernels.schur.elimination import CpuElimination, FactorError


@settings(max_examples=40)
@given(
    seed=st.integers(0, 100_000), slots=st.sampled_from([0, 1, 2]), threads=st.sampled_from([1, 2])
)
def test_a_solve_meets_all_equations(seed: int, slots: int, threads: int) -> None:
    rng = np.random.default_rng(seed)
    blocks, rows = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    ptr = np.append(0, np.cumsum(rng.integers(slots + 1, 6, blocks))).astype(np.int64)
    n = int(ptr[-1])
    local, d = rng.normal(size=(slots, n)), rng.lognormal(size=n)
    narrow = sp.csc_array(sp.random(rows, n, 0.6, random_state=seed))
    theta = rng.lognormal(size=blocks * slots + rows)
    g, beta = rng.normal(size=n), rng.normal(size=len(theta))
    x, p = CpuElimination(ptr, local, narrow, threads).factor(d, theta).solve(g, beta)
    own = np.zeros((blocks * slots, n))
    for j in range(blocks):
        part = slice(ptr[j], ptr[j + 1])
        own[j * slots : (j + 1) * slots, part] = local[:, part]
    matrix = np.vstack([own, narrow.toarray()])
    whole = np.block([[np.diag(1 / d), matrix.T], [matrix, -np.diag(theta)]])
    wanted = np.linalg.solve(whole, np.concatenate([g, -beta]))
    np.testing.assert_allclose(np.concatenate([x, p]), wanted, rtol=1e-8, atol=1e-9)


def test_dependent_rows_are_factored_with_a_small_shift() -> None:
    """Twice the same row without slack: the least shift that factors leaves its equation true."""
    ptr = np.array([0, 2], dtype=np.int64)
    narrow = sp.csc_array(np.ones((2, 2)))
    system = CpuElimination(ptr, np.zeros((0, 2)), narrow, 1)
    x, p = system.factor(np.ones(2), np.zeros(2)).solve(np.array([1.0, 0.0]), np.zeros(2))
    assert x.sum() == pytest.approx(0.0, abs=1e-6)
    assert x == pytest.approx(np.array([1.0, 0.0]) - p.sum(), abs=1e-6)


def test_numbers_that_are_none_are_a_factor_error() -> None:
    ptr = np.array([0, 1], dtype=np.int64)
    system = CpuElimination(ptr, np.zeros((0, 1)), sp.csc_array(np.ones((1, 1))), 1)
    with pytest.raises(FactorError):
        system.factor(np.array([np.nan]), np.zeros(1))
