"""The Schur complement of small blocks on many narrow rows: only what blocks have in common.

Blocks that touch a few of a thousand rows fill a fraction of the matrix. Its pattern is found once;
each product then knows its place among the nonzeros, which stay in the cache where the matrix
itself would not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from walras.kernels.reference import Floats, Ints
from walras.kernels.runs import jit

Indices = npt.NDArray[np.int32]

_LEAST_ROWS = 256  # a smaller matrix stays in the cache anyway
_PRODUCTS = 4.0  # products an element of the matrix up to which its pattern pays


@jit
def _mark(ptr: Ints, indptr: Indices, indices: Indices, place: Indices) -> None:
    """One in ``place`` (rows, rows) wherever a lower triangle's product falls."""
    for i in range(len(place)):
        place[i, i] = 1
    for j in range(len(ptr) - 1):
        low, high = indptr[ptr[j]], indptr[ptr[j + 1]]
        for m in range(low, high):
            for k in range(low, m + 1):
                a, b = indices[m], indices[k]
                place[max(a, b), min(a, b)] = 1


@jit
def _number(place: Indices, row: Indices, column: Indices) -> int:
    """Marks column by column replaced by their number; counts only while ``row`` is empty."""
    count = 0
    for k in range(len(place)):
        for i in range(k, len(place)):
            if place[i, k] > 0:
                if len(row):
                    row[count], column[count], place[i, k] = i, k, count
                count += 1
    return count


@jit
def _locate(ptr: Ints, indptr: Indices, indices: Indices, place: Indices, out: Indices) -> None:
    """The number of every product's element, in the order in which they are formed."""
    at = 0
    for j in range(len(ptr) - 1):
        low, high = indptr[ptr[j]], indptr[ptr[j + 1]]
        for m in range(low, high):
            for k in range(low, m + 1):
                a, b = indices[m], indices[k]
                out[at] = place[max(a, b), min(a, b)]
                at += 1


@jit
def _sum(
    ptr: Ints,
    d: Floats,
    v: Floats,
    indptr: Indices,
    indices: Indices,
    data: Floats,
    where: Indices,
    values: Floats,
) -> None:
    cell = np.empty(indptr[-1])
    for a in range(v.shape[0]):
        for q in range(len(d)):
            for m in range(indptr[q], indptr[q + 1]):
                cell[m] = data[m] * d[q] * v[a, q]
        at = 0
        for j in range(len(ptr) - 1):
            low, high = indptr[ptr[j]], indptr[ptr[j + 1]]
            for m in range(low, high):
                for k in range(low, m):
                    # Two columns that share a row meet in its diagonal, twice.
                    twice = 2.0 if indices[k] == indices[m] else 1.0
                    values[where[at]] -= twice * cell[m] * cell[k]
                    at += 1
                values[where[at]] -= cell[m] * cell[m]
                at += 1
    at = 0
    for j in range(len(ptr) - 1):
        low = indptr[ptr[j]]
        for q in range(ptr[j], ptr[j + 1]):
            for m in range(indptr[q], indptr[q + 1]):
                at += indptr[q] - low
                for k in range(indptr[q], m + 1):
                    values[where[at]] += d[q] * data[m] * data[k]
                    at += 1


@jit
def _expand(
    values: Floats, row: Indices, column: Indices, scale: Floats, shift: float, out: Floats
) -> None:
    size = len(out)
    for k in range(size):
        out[k, k:] = 0.0
    for n in range(len(values)):
        i, k = row[n], column[n]
        out[k, i] = values[n] * (scale[i] * scale[k])
    for i in range(size):
        out[i, i] = (out[i, i] if out[i, i] > 0 else 1.0) + shift


@dataclass(frozen=True, eq=False)
class SparseSchur:
    """Where the products of blocks fall; see the module.

    Attributes:
        ptr: (blocks + 1,) first column of each block.
        narrow: CSC (narrow rows, n).
        row: (nonzeros,) row of each nonzero of the lower triangle, column by column.
        column: (nonzeros,) its column.
        diagonal: (narrow rows,) nonzeros on the diagonal.
        where: (products,) nonzero that each product belongs to.
    """

    ptr: Ints
    narrow: sp.csc_array
    row: Indices
    column: Indices
    diagonal: Ints
    where: Indices

    @classmethod
    def of(cls, ptr: Ints, narrow: sp.csc_array) -> SparseSchur | None:
        """The pattern, or None where blocks have too many products or rows are too few."""
        size = narrow.shape[0]
        each = np.diff(narrow.indptr[ptr]).astype(np.int64)
        products = int(np.sum(each * (each + 1) // 2))
        if size < _LEAST_ROWS or products > _PRODUCTS * size**2 or not products:
            return None
        place = np.zeros((size, size), dtype=np.int32)
        _mark(ptr, narrow.indptr, narrow.indices, place)
        none = np.zeros(0, dtype=np.int32)
        count = _number(place, none, none)
        row, column = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)
        _number(place, row, column)
        where = np.empty(products, dtype=np.int32)
        _locate(ptr, narrow.indptr, narrow.indices, place, where)
        return cls(ptr, narrow, row, column, np.flatnonzero(row == column), where)

    def values(self, d: Floats, v: Floats, theta: Floats) -> Floats:
        """(nonzeros,) the lower triangle of :func:`walras.kernels.reference.schur` plus theta."""
        out = np.zeros(len(self.row))
        narrow = self.narrow
        _sum(self.ptr, d, v, narrow.indptr, narrow.indices, narrow.data, self.where, out)
        out[self.diagonal] += theta
        return out

    def expand(self, values: Floats, scale: Floats, shift: float, out: Floats) -> None:
        """As :func:`walras.kernels.cpu.scaled_triangle`, from the nonzeros."""
        _expand(values, self.row, self.column, scale, shift, out)
