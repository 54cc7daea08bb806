"""Passes over sparse columns against dense arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from walras.kernels import columns

SEEDS = range(5)


def random_matrix(seed: int, rows: int = 9, entries: int = 30) -> sp.csc_array:
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(rows, entries)) * (rng.random((rows, entries)) < 0.3)
    return sp.csc_array(dense)


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_with_strangers_are_not_an_owners_own(seed: int) -> None:
    matrix, rng = random_matrix(seed), np.random.default_rng(seed)
    owner = rng.integers(0, 2, 30).astype(np.int32)
    row_owner = rng.integers(0, 2, 9).astype(np.int32)
    own = np.ones(9, dtype=bool)
    columns.strays(matrix.indptr, matrix.indices, owner, row_owner, own)
    foreign = owner[None, :] != row_owner[:, None]
    assert np.array_equal(own, ~np.any((matrix.toarray() != 0) & foreign, axis=1))


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_least_of_what_rows_allow(seed: int, unit: bool) -> None:
    matrix, limit = random_matrix(seed), np.random.default_rng(seed).random(9)
    out = np.full(30, 0.5)
    columns.least(matrix.indptr, matrix.indices, matrix.data, limit, unit, out)
    dense = matrix.toarray()
    dense = (dense != 0).astype(float) if unit else dense
    allowed = np.where(dense > 0, limit[:, None] / np.where(dense > 0, dense, 1.0), np.inf)
    assert out == pytest.approx(np.minimum(0.5, allowed.min(axis=0)))


@pytest.mark.parametrize("seed", SEEDS)
def test_every_coefficient_goes_to_a_slot_or_to_a_copy(seed: int) -> None:
    matrix, rng = random_matrix(seed), np.random.default_rng(seed)
    order = rng.permutation(30).astype(np.int64)
    slot = np.where(np.arange(9) < 3, np.arange(9) % 2, -1).astype(np.int64)
    place = (np.arange(9) - 3).astype(np.uint32)  # only those of the last six are looked at
    copies = np.zeros(31, dtype=np.int64)
    columns.count_copies(order, matrix.indptr, matrix.indices, slot, copies)
    copies = np.cumsum(copies)
    local, row, a = np.zeros((2, 30)), np.full(copies[-1], 6, np.uint32), np.zeros(copies[-1])
    columns.split(
        order, matrix.indptr, matrix.indices, matrix.data, slot, place, copies, local, row, a
    )
    dense = matrix.toarray()[:, order]
    wide = np.zeros((7, 30))
    np.add.at(wide, (row, np.repeat(np.arange(30), np.diff(copies))), a)
    assert np.array_equal(wide[:6], dense[3:])
    assert not np.any(wide[6])
    assert np.all((local[0] == dense[0]) | (local[0] == dense[2]))
    assert np.all(np.diff(copies) >= 1)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_entries_are_scaled_by_their_worst_row(seed: int, sign: float) -> None:
    matrix, rng = random_matrix(seed), np.random.default_rng(seed)
    ratio = sign * rng.uniform(0.2, 3.0, 9)
    ratio[0] = np.inf
    x, most, upper = rng.random(30), np.where(rng.random(30) < 0.5, 2.0, 1.0), np.full(30, 0.9)
    found, load = x.copy(), np.zeros(9)
    for part in ((0, 13), (13, 30)):
        columns.scaled(
            *part, matrix.indptr, matrix.indices, matrix.data, sign, ratio, most, upper, found, load
        )
    dense = matrix.toarray()
    factor = np.min(np.where(sign * dense > 0, ratio[:, None], np.inf), axis=0)
    factor = np.where(np.isfinite(factor), np.abs(factor), 1.0)
    known = np.minimum(x * np.minimum(factor, most), upper)
    assert found == pytest.approx(known)
    assert load == pytest.approx(dense @ known)
