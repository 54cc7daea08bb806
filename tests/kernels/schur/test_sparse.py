"""Sparse Schur complements against dense ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from walras.kernels import reference
from walras.kernels.schur import sparse
from walras.types import Longs

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


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[sparse.SparseSchur | None]:
    """The patterns that are found anew, whatever the size of the matrix."""
    out: list[sparse.SparseSchur | None] = []
    find = sparse.SparseSchur.of

    def counted(ptr: Longs, narrow: sp.csc_array) -> sparse.SparseSchur | None:
        out.append(find(ptr, narrow))
        return out[-1]

    monkeypatch.setattr(sparse, "_LEAST_ROWS", 0)
    monkeypatch.setattr(sparse, "_PRODUCTS", np.inf)
    monkeypatch.setattr(sparse.SparseSchur, "of", counted)
    return out


def test_a_pattern_serves_other_coefficients(found: list[sparse.SparseSchur | None]) -> None:
    ptr, rng = np.array([0, 2, 3], dtype=np.int64), np.random.default_rng(0)
    narrow = sp.csc_array(np.array([[1.0, 0.0, 2.0], [3.0, 4.0, 0.0], [0.0, 5.0, 6.0]]))
    other = narrow.copy()
    other.data = rng.random(narrow.nnz)
    d, v, theta = rng.random(3), rng.random((1, 3)), rng.random(3)
    patterns = sparse.Patterns()
    patterns.of(ptr, narrow)
    taken = patterns.of(ptr, other)
    assert taken is not None
    assert (len(found), len(patterns)) == (1, 1)
    out = np.zeros((3, 3))
    taken.expand(taken.values(d, v, theta), np.ones(3), 0.0, out)
    expected = np.triu(reference.schur(ptr, d, v, other) + np.diag(theta))
    assert np.triu(out) == pytest.approx(expected)


def test_another_structure_has_a_pattern_of_its_own(found: list[sparse.SparseSchur | None]) -> None:
    ptr, narrow = np.array([0, 2, 3], dtype=np.int64), sp.csc_array(np.tri(3))
    moved = sp.csc_array(np.tri(3, k=-1) + np.eye(3)[::-1])
    forms = (
        (ptr, narrow),
        (np.array([0, 1, 3], dtype=np.int64), narrow),  # other blocks
        (ptr, moved),  # other rows of a column
        (ptr, sp.csc_array(np.vstack([np.tri(3), np.zeros((1, 3))]))),  # one row more
    )
    patterns = sparse.Patterns()
    for k, form in enumerate(forms):
        patterns.of(*form)
        assert len(found) == len(patterns) == k + 1
    for form in reversed(forms):
        patterns.of(*form)
    assert len(found) == 4


def test_only_the_last_patterns_are_kept(found: list[sparse.SparseSchur | None]) -> None:
    forms = [
        (np.array([0, 1], dtype=np.int64), sp.csc_array(np.ones((rows, 1)))) for rows in range(1, 6)
    ]
    patterns = sparse.Patterns()
    for form in (*forms[:4], forms[0], forms[4]):  # the first is used again, so the second goes
        patterns.of(*form)
    assert repr(patterns) == "Patterns(4 of 4)"
    patterns.of(*forms[0])
    assert len(found) == 5
    patterns.of(*forms[1])
    assert len(found) == 6


def test_what_is_dense_leaves_no_pattern() -> None:
    patterns = sparse.Patterns()
    ptr, few = np.array([0, 1], dtype=np.int64), sp.csc_array(np.ones((20, 1)))
    assert patterns.of(ptr, few) is None
    assert len(patterns) == 0
