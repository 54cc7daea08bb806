"""Compiled passes over blocks that each choose from a simplex: what rows can carry, best choices.

The entries of block j stand at places ``ptr[j]:ptr[j + 1]``; together they use its ``limit`` or,
where the block is not ``whole``, at most that. One unit of the limit on an entry puts its column
(scaled to that unit) on the rows. A closed entry stays at zero.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from walras.kernels.reference import Floats, Ints
from walras.kernels.runs import jit, map_runs

Bools = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.int32]


@jit
def activity_ranges(
    ptr: Ints,
    entry: Ints,
    closed: Bools,
    whole: Bools,
    size: Floats,
    indptr: Indices,
    indices: Indices,
    data: Floats,
    rows: int,
) -> tuple[Floats, Floats]:
    """Least and most that the blocks can put on each row together.

    Args:
        ptr: (blocks + 1,) first place of each block.
        entry: (places,) its column.
        closed: (places,) True where it stays at zero.
        whole: (blocks,) True where the block uses all of its limit.
        size: (places,) what the entry is when its block uses it alone.
        indptr: Of the matrix, CSC (rows, columns), coefficients >= 0.
        indices: Of the matrix.
        data: Of the matrix.
        rows: Number of rows.

    Returns:
        (rows,) least and (rows,) most.
    """
    least, most = np.zeros(rows), np.zeros(rows)
    low, high, count = np.zeros(rows), np.zeros(rows), np.zeros(rows, dtype=np.int64)
    for j in range(len(ptr) - 1):
        open_entries = 0
        for k in range(ptr[j], ptr[j + 1]):
            if closed[k]:
                continue
            open_entries += 1
            for m in range(indptr[entry[k]], indptr[entry[k] + 1]):
                i, load = indices[m], data[m] * size[k]
                low[i] = load if count[i] == 0 else min(low[i], load)
                high[i] = max(high[i], load)
                count[i] += 1
        for k in range(ptr[j], ptr[j + 1]):
            for m in range(indptr[entry[k]], indptr[entry[k] + 1]):
                i = indices[m]
                if whole[j] and count[i] == open_entries:
                    least[i] += low[i]
                most[i] += high[i]
                high[i], count[i] = 0.0, 0
    return least, most


@jit
def _choices(
    first: int,
    last: int,
    ptr: Ints,
    price: Floats,
    closed: Bools,
    whole: Bools,
    choice: Ints,
    margin: Floats,
) -> None:
    for j in range(first, last):
        best, second, at = (np.inf, np.inf, -1) if whole[j] else (0.0, np.inf, -1)
        for k in range(ptr[j], ptr[j + 1]):
            if closed[k]:
                continue
            if price[k] < best:
                best, second, at = price[k], best, k
            elif price[k] < second:
                second = price[k]
        choice[j], margin[j] = at, second - best


def choices(
    ptr: Ints, price: Floats, closed: Bools, whole: Bools, threads: int = 1
) -> tuple[Ints, Floats]:
    """Each block's cheapest place (-1: nothing) and by how much it is cheaper than the next one.

    Args:
        ptr: (blocks + 1,) first place of each block.
        price: (places,) reduced cost of one unit of the limit on each entry.
        closed: (places,) True where an entry stays at zero.
        whole: (blocks,) True where nothing is no choice.
        threads: Threads.
    """
    choice, margin = np.empty(len(ptr) - 1, dtype=np.int64), np.empty(len(ptr) - 1)
    map_runs(threads, lambda a, b: _choices(a, b, ptr, price, closed, whole, choice, margin), ptr)
    return choice, margin
