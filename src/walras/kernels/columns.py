"""Passes over the columns of a sparse matrix, for splitting a problem and for balancing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from walras.kernels.parallel import jit, span
from walras.types import Bools, Floats, Ints, Longs

Rows = npt.NDArray[np.uint32]  # unsigned: no index is taken from the end


@jit
def strays(ptr: Ints, row: Ints, owner: Ints, row_owner: Ints, own: Bools) -> None:
    """Clear ``own`` on each row with an entry of another owner."""
    for q in range(len(ptr) - 1):
        for k in span(ptr, q):
            if owner[q] != row_owner[row[k]]:
                own[row[k]] = False


@jit
def least(ptr: Ints, row: Ints, a: Floats, limit: Floats, unit: bool, out: Floats) -> None:
    """Set out_q to the least of its value and ``limit / a`` over the column's rows with ``a > 0``.

    If ``unit``, every a is one.
    """
    for q in range(len(out)):
        for k in span(ptr, q):
            size = 1.0 if unit else a[k]
            if size > 0.0:
                out[q] = min(out[q], limit[row[k]] / size)


@jit
def count_copies(order: Longs, ptr: Ints, row: Ints, slot: Longs, out: Longs) -> None:
    """Count in out[q + 1] the copies of entry order[q]: rows without a slot, at least one."""
    for q in range(len(order)):
        count = 0
        for k in span(ptr, order[q]):
            count += slot[row[k]] < 0
        out[q + 1] = max(count, 1)


@jit
def split(
    order: Longs,
    ptr: Ints,
    row: Ints,
    data: Floats,
    slot: Longs,
    place: Rows,
    copies: Longs,
    local: Floats,
    copy_row: Rows,
    copy_a: Floats,
) -> None:
    """Write coefficients of rows with a slot to ``local``, the others to the entry's copies."""
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
def own(ptr: Ints, row: Ints, data: Floats, slot: Longs, local: Floats) -> None:
    """Write coefficients of rows with a slot to ``local``."""
    for q in range(local.shape[1]):
        for k in span(ptr, q):
            if slot[row[k]] >= 0:
                local[slot[row[k]], q] = data[k]


@jit
def sizes(ptr: Ints, row: Rows, a: Floats, place: Rows, total: Floats, number: Floats) -> None:
    """Add |a| and 1 for every copy to its row; an empty column has one copy, in the last row."""
    last = len(total) - 1
    for q in range(len(ptr) - 1):
        none = True
        for k in span(ptr, q):
            r = place[row[k]]
            if r < last:
                total[r] += abs(a[k])
                number[r] += 1.0
                none = False
        number[last] += none


@jit
def metric_sums(
    ptr: Ints,
    row: Rows,
    a: Floats,
    place: Rows,
    mean: Floats,
    root: Floats,
    weight: Floats,
    capacity: Floats,
) -> float:
    """Sum ``w = |a| / (mean root)`` over columns and ``a^2 / w`` over rows; return all w's sum.

    A coefficient of zero counts as the mean, and a column of no copies as one of weight 1 / root.
    """
    last, whole = len(mean) - 1, 0.0
    for q in range(len(root)):
        for k in span(ptr, q):
            r, size = place[row[k]], abs(a[k])
            if r < last:
                w = (size / mean[r] if size > 0.0 else 1.0) / root[q]
                weight[q] += w
                capacity[r] += size * size / w
        if weight[q] == 0.0:
            weight[q] = 1.0 / root[q]
        whole += weight[q]
    return whole


@jit
def scaled(
    first: int,
    last: int,
    ptr: Ints,
    row: Ints,
    a: Floats,
    sign: float,
    ratio: Floats,
    most: Floats,
    upper: Floats,
    x: Floats,
    load: Floats,
) -> None:
    """Scale x by the least |ratio| of the rows with ``sign a > 0``, and add up the rows' use.

    A ratio of ``inf`` sets no limit; a negative one asks for the largest |ratio|. No factor is
    above ``most``, and no entry above ``upper``.
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
