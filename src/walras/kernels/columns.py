"""Passes over the columns of a sparse matrix: what splitting a problem and balancing ask of it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from walras.kernels.reference import Floats, Ints
from walras.kernels.runs import jit, span

Index = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


@jit
def strays(ptr: Index, row: Index, owner: Index, row_owner: Index, own: Bools) -> None:
    """Clear ``own`` of each row that holds an entry of another owner."""
    for q in range(len(ptr) - 1):
        for k in span(ptr, q):
            if owner[q] != row_owner[row[k]]:
                own[row[k]] = False


@jit
def least(ptr: Index, row: Index, a: Floats, limit: Floats, out: Floats) -> None:
    """out_q = the least of its values and ``limit / a`` of the column's rows with ``a > 0``."""
    for q in range(len(out)):
        for k in span(ptr, q):
            if a[k] > 0.0:
                out[q] = min(out[q], limit[row[k]] / a[k])


@jit
def count_copies(order: Ints, ptr: Index, row: Index, slot: Ints, out: Ints) -> None:
    """out[q + 1] = copies of entry order[q]: rows without a slot, at least one."""
    for q in range(len(order)):
        count = 0
        for k in span(ptr, order[q]):
            count += slot[row[k]] < 0
        out[q + 1] = max(count, 1)


@jit
def split(
    order: Ints, ptr: Index, row: Index, data: Floats, slot: Ints, place: Index,
    copies: Ints, local: Floats, copy_row: npt.NDArray[np.uint32], copy_a: Floats,
) -> None:  # fmt: skip
    """Coefficients of rows with a slot to ``local``, of others to the entry's copies."""
    for q in range(len(order)):
        at = copies[q]
        for k in span(ptr, order[q]):
            r = row[k]
            if slot[r] >= 0:
                local[slot[r], q] = data[k]
            else:
                copy_row[at], copy_a[at] = place[r], data[k]
                at += 1


@jit
def scaled(
    first: int, last: int, ptr: Index, row: Index, a: Floats, sign: float, ratio: Floats,
    most: Floats, upper: Floats, x: Floats, load: Floats,
) -> None:  # fmt: skip
    """Scale x by the least |ratio| of the rows with ``sign a > 0``, and add up what rows then use.

    A ratio of ``inf`` says nothing; negative ones make it the largest |ratio|. No factor is above
    ``most``, no entry above ``upper``.
    """
    for q in range(first, last):
        factor = np.inf
        for k in span(ptr, q):
            if sign * a[k] > 0.0:
                factor = min(factor, ratio[row[k]])
        factor = abs(factor) if factor < np.inf else 1.0
        x[q] = min(x[q] * min(factor, most[q]), upper[q])
        for k in span(ptr, q):
            load[row[k]] += a[k] * x[q]
