"""Sparse Schur complements against dense ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from walras.kernels import reference
from walras.kernels.schur import sparse

SEEDS = st.integers(0, 100_000)


@settings(max_examples=40)
@given(seed=SEEDS, slots=st.sampled_from([0, 1, 2]))
def test_a_sparse_schur_complement_is_the_dense_one(seed: int, slots: int) -> None:
    rng = np.random.default_rng(seed)
    blocks, rows = int(rng.integers(1, 30)), 20
    ptr = np.append(0, np.cumsum(rng.integers(1, 5, blocks))).astype(np.int64)
    n = int(ptr[-1])
    narrow = sp.csc_array(sp.random(rows, n, 0.1, random_state=seed))
    d, v, theta = rng.lognormal(size=n), rng.normal(size=(slots, n)), rng.random(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse, "_LEAST_ROWS", 0)
        patch.setattr(sparse, "_PRODUCTS", np.inf)
        pattern = sparse.SparseSchur.of(ptr, narrow)
    if not narrow.nnz:
        assert pattern is None
        return
    assert pattern is not None
    values = pattern.values(d, v, theta)
    whole = reference.schur(ptr, d, v, narrow) + np.diag(theta)
    scale, out = rng.random(rows), np.full((rows, rows), np.nan)
    scale[0] = 0.0
    pattern.expand(values, scale, 1e-3, out)
    expected = whole * np.outer(scale, scale)
    diagonal = np.diagonal(expected)
    np.fill_diagonal(expected, np.where(diagonal > 0, diagonal, 1.0) + 1e-3)
    upper = np.triu_indices(rows)
    assert out[upper] == pytest.approx(expected[upper], abs=1e-10 * np.abs(whole).max())


def test_only_many_rows_with_few_products_are_sparse() -> None:
    ptr, few = np.array([0, 1], dtype=np.int64), sp.csc_array(np.ones((20, 1)))
    assert sparse.SparseSchur.of(ptr, few) is None
    many = sp.csc_array(([1.0, 1.0], [0, 500], [0, 2]), shape=(501, 1))
    pattern = sparse.SparseSchur.of(ptr, many)
    assert pattern is not None
    assert len(pattern.row) == 502  # the diagonal, and what the two rows have in common
    assert sparse.SparseSchur.of(ptr, sp.csc_array(np.ones((501, 1)))) is not None
