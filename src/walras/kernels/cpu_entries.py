"""Compiled kernels that look at single entries: the cheapest ones, and the rows that limit them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from walras.kernels.reference import Floats, Ints
from walras.kernels.runs import jit, map_runs


@jit
def _cheapest(
    first: int,
    last: int,
    ptr: Ints,
    score: Floats,
    active: npt.NDArray[np.bool_],
    limit: float,
    most: int,
    found: Ints,
    count: Ints,
) -> None:
    for j in range(first, last):
        kept = 0
        base = j * most
        for q in range(ptr[j], ptr[j + 1]):
            if active[q] or not score[q] < limit:
                continue
            if kept == most and not score[q] < score[found[base + most - 1]]:
                continue
            k = kept if kept < most else most - 1
            while k > 0 and score[found[base + k - 1]] > score[q]:
                found[base + k] = found[base + k - 1]
                k -= 1
            found[base + k] = q
            kept = min(kept + 1, most)
        count[j] = kept


def cheapest(
    ptr: Ints,
    score: Floats,
    active: npt.NDArray[np.bool_],
    limit: float,
    most: int,
    threads: int = 1,
) -> Ints:
    """Compiled :func:`walras.kernels.reference.cheapest`."""
    blocks = len(ptr) - 1
    found = np.full(blocks * most, -1, dtype=np.int64)
    count = np.zeros(blocks, dtype=np.int64)
    map_runs(
        threads,
        lambda a, b: _cheapest(a, b, ptr, score, active, limit, most, found, count),
        ptr,
    )
    kept = np.arange(most)[None, :] < count[:, None]
    return np.sort(found.reshape(blocks, most)[kept])


@jit
def _price_rise(
    row: npt.NDArray[np.int32],
    coefficient: Floats,
    reduced: Floats,
    exempt: npt.NDArray[np.bool_],
    out: Floats,
) -> None:
    for q in range(len(row)):
        if row[q] >= 0 and reduced[q] < 0 and not exempt[q]:
            need = -reduced[q] / coefficient[q]
            if need > out[row[q]]:
                out[row[q]] = need


def price_rise(
    row: npt.NDArray[np.int32],
    coefficient: Floats,
    reduced: Floats,
    exempt: npt.NDArray[np.bool_],
    rows: int,
) -> Floats:
    """Compiled :func:`walras.kernels.reference.price_rise`."""
    out = np.zeros(rows)
    _price_rise(row, coefficient, reduced, exempt, out)
    return out


@jit
def _first_rows(
    indptr: npt.NDArray[np.int32],
    indices: npt.NDArray[np.int32],
    data: Floats,
    rank: npt.NDArray[np.int8],
    row: npt.NDArray[np.int32],
    coefficient: Floats,
) -> None:
    for q in range(len(row)):
        for m in range(indptr[q], indptr[q + 1]):
            k = indices[m]
            wanted = rank[k] >= 0 and data[m] > 0
            if wanted and (row[q] < 0 or rank[k] < rank[row[q]]):
                row[q] = k
                coefficient[q] = data[m]


def first_rows(
    indptr: npt.NDArray[np.int32],
    indices: npt.NDArray[np.int32],
    data: Floats,
    rank: npt.NDArray[np.int8],
) -> tuple[npt.NDArray[np.int32], Floats]:
    """Compiled :func:`walras.kernels.reference.first_rows`."""
    row = np.full(len(indptr) - 1, -1, dtype=np.int32)
    coefficient = np.ones(len(row))
    _first_rows(indptr, indices, data, rank, row, coefficient)
    return row, coefficient
