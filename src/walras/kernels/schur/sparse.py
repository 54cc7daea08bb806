"""The sparse Schur complement of small blocks on many narrow rows.

Blocks that touch a few of a thousand rows fill only a fraction of the matrix. Its pattern is found
once. Each product then has a known place among the nonzeros, which fit into the cache, unlike the
full matrix. A later form with the same structure takes the pattern over.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from walras.kernels.parallel import jit, span
from walras.types import Floats, Ints, Longs

Places = npt.NDArray[np.uint32]  # unsigned, so that no index counts from the end

_LEAST_ROWS = 256  # a smaller matrix stays in the cache anyway
_PRODUCTS = 4.0  # products for each element of the matrix up to which its pattern pays
_KEPT = 4  # patterns: those of the rounds of one solve with generation of entries


@jit
def _mark(ptr: Longs, indptr: Ints, indices: Ints, place: Ints) -> None:
    """Mark in ``place`` (rows, rows) every element of the lower triangle with a product."""
    for i in range(len(place)):
        place[i, i] = 1
    for j in range(len(ptr) - 1):
        low, high = indptr[ptr[j]], indptr[ptr[j + 1]]
        for m in range(low, high):
            for k in range(low, m + 1):
                a, b = indices[m], indices[k]
                place[max(a, b), min(a, b)] = 1


@jit
def _number(place: Ints, row: Ints, column: Ints) -> int:
    """Number the marked elements column by column; only count while ``row`` is empty."""
    count = 0
    for k in range(len(place)):
        for i in range(k, len(place)):
            if place[i, k] > 0:
                if len(row):
                    row[count], column[count], place[i, k] = i, k, count
                count += 1
    return count


@jit
def _locate(ptr: Longs, indptr: Ints, indices: Ints, place: Ints, out: Places) -> None:
    """Find the number of every product's element, in the order of the products."""
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
    ptr: Longs,
    d: Floats,
    v: Floats,
    indptr: Ints,
    data: Floats,
    where: Places,
    values: Floats,
) -> None:
    """Compute S with its diagonal halved, since both orders of two columns in a row are added."""
    cell = np.empty(indptr[-1])
    for a in range(v.shape[0]):
        for q in range(len(d)):
            for m in span(indptr, q):
                cell[m] = data[m] * d[q] * v[a, q]
        at = np.uint64(0)
        for j in range(len(ptr) - 1):
            low, high = np.uint64(indptr[ptr[j]]), np.uint64(indptr[ptr[j + 1]])
            for m in range(low, high):
                own = cell[m]
                for k in range(low, m):
                    values[where[at]] -= own * cell[k]
                    at += np.uint64(1)
                values[where[at]] -= 0.5 * own * own
                at += np.uint64(1)
    at = np.uint64(0)
    for j in range(len(ptr) - 1):
        low = np.uint64(indptr[ptr[j]])
        for q in span(ptr, j):
            first = np.uint64(indptr[q])
            for m in span(indptr, q):
                own = d[q] * data[m]
                at += first - low
                for k in range(first, m):
                    values[where[at]] += own * data[k]
                    at += np.uint64(1)
                values[where[at]] += 0.5 * own * data[m]
                at += np.uint64(1)


@jit
def _expand(
    values: Floats, row: Ints, column: Ints, scale: Floats, shift: float, out: Floats
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
    """The places of the blocks' products; see the module.

    Attributes:
        ptr: (blocks + 1,) first column of each block.
        narrow: CSC (narrow rows, n).
        row: (nonzeros,) row of each nonzero of the lower triangle, column by column.
        column: (nonzeros,) its column.
        diagonal: (narrow rows,) nonzeros on the diagonal.
        where: (products,) nonzero of each product.
    """

    ptr: Longs
    narrow: sp.csc_array
    row: Ints
    column: Ints
    diagonal: Longs
    where: Places

    @classmethod
    def of(cls, ptr: Longs, narrow: sp.csc_array) -> SparseSchur | None:
        """The pattern, or None if blocks have too many products or rows are too few."""
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
        where = np.empty(products, dtype=np.uint32)
        _locate(ptr, narrow.indptr, narrow.indices, place, where)
        return cls(ptr, narrow, row, column, np.flatnonzero(row == column), where)

    def fits(self, ptr: Longs, narrow: sp.csc_array) -> bool:
        """Whether other blocks and rows have this structure; their coefficients may differ."""
        mine = self.narrow
        same = ((self.ptr, ptr), (mine.indptr, narrow.indptr), (mine.indices, narrow.indices))
        return mine.shape == narrow.shape and all(np.array_equal(*pair) for pair in same)

    def values(self, d: Floats, v: Floats, theta: Floats) -> Floats:
        """(nonzeros,) the lower triangle of :func:`walras.kernels.reference.schur` plus theta."""
        out = np.zeros(len(self.row))
        narrow = self.narrow
        _sum(self.ptr, d, v, narrow.indptr, narrow.data, self.where, out)
        out[self.diagonal] = 2.0 * out[self.diagonal] + theta
        return out

    def expand(self, values: Floats, scale: Floats, shift: float, out: Floats) -> None:
        """Expand the nonzeros as :func:`walras.kernels.cpu.scaled_triangle` does."""
        _expand(values, self.row, self.column, scale, shift, out)


class Patterns:
    """The patterns of the last forms, which those of the same structure take over."""

    def __init__(self) -> None:
        self._kept: tuple[SparseSchur, ...] = ()

    def __repr__(self) -> str:
        return f"Patterns({len(self)} of {_KEPT})"

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, ptr: Longs, narrow: sp.csc_array) -> SparseSchur | None:
        """The pattern as :meth:`SparseSchur.of` finds it, from a kept one where the form fits."""
        same = next((pattern for pattern in self._kept if pattern.fits(ptr, narrow)), None)
        found = SparseSchur.of(ptr, narrow) if same is None else replace(same, narrow=narrow)
        if found is not None:
            others = (pattern for pattern in self._kept if pattern is not same)
            self._kept = (found, *others)[:_KEPT]
        return found
