"""Compiled passes over blocks that choose from a simplex: activity ranges and best choices.

The entries of block j are at places ``ptr[j]:ptr[j + 1]``. Together they use all of its ``limit``,
or at most that if the block is not ``whole``. One unit of the limit on an entry adds its scaled
column to the rows. A closed entry stays at zero.
"""

from __future__ import annotations

import numpy as np

from walras.kernels.parallel import few, jit, map_runs, span
from walras.kernels.room import filled_floats, filled_ints, floats
from walras.types import Bools, Floats, Ints, Longs

_NEWTON = 40
_CENTRED = 1e-6  # the next error is about its square


@jit
def activity_ranges(
    ptr: Longs,
    entry: Longs,
    closed: Bools,
    whole: Bools,
    size: Floats,
    indptr: Ints,
    indices: Ints,
    data: Floats,
    rows: int,
) -> tuple[Floats, Floats]:
    """The least and the largest load that the blocks can put on each row together.

    Args:
        ptr: (blocks + 1,) first place of each block.
        entry: (places,) its column.
        closed: (places,) True where it stays at zero.
        whole: (blocks,) True where the block uses all of its limit.
        size: (places,) value of the entry when its block uses it alone.
        indptr: Column pointers of the matrix, CSC (rows, columns), coefficients >= 0.
        indices: Row indices of the matrix.
        data: Coefficients of the matrix.
        rows: Number of rows.

    Returns:
        (rows,) least and (rows,) largest load.
    """
    least, most = filled_floats(rows, 0.0), filled_floats(rows, 0.0)
    low, high, count = floats(rows), filled_floats(rows, 0.0), filled_ints(rows, 0)
    for j in range(len(ptr) - 1):
        open_entries = 0
        for k in span(ptr, j):
            if closed[k]:
                continue
            open_entries += 1
            for m in span(indptr, entry[k]):
                i, load = indices[m], data[m] * size[k]
                low[i] = load if count[i] == 0 else min(low[i], load)
                high[i] = max(high[i], load)
                count[i] += 1
        for k in span(ptr, j):
            for m in span(indptr, entry[k]):
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
    ptr: Longs,
    price: Floats,
    closed: Bools,
    whole: Bools,
    choice: Longs,
    margin: Floats,
) -> None:
    for j in range(first, last):
        best, second, at = (np.inf, np.inf, -1) if whole[j] else (0.0, np.inf, -1)
        for k in span(ptr, j):
            if closed[k]:
                continue
            if price[k] < best:
                best, second, at = price[k], best, k
            elif price[k] < second:
                second = price[k]
        choice[j], margin[j] = at, second - best


def choices(
    ptr: Longs, price: Floats, closed: Bools, whole: Bools, threads: int = 1
) -> tuple[Longs, Floats]:
    """Each block's cheapest place (-1: nothing), and its lead over the next one.

    Args:
        ptr: (blocks + 1,) first place of each block.
        price: (places,) reduced cost of one unit of the limit on each entry.
        closed: (places,) True where an entry stays at zero.
        whole: (blocks,) True where the block may not choose nothing.
        threads: Threads.
    """
    choice, margin = np.empty(len(ptr) - 1, dtype=np.int64), np.empty(len(ptr) - 1)
    map_runs(threads, lambda a, b: _choices(a, b, ptr, price, closed, whole, choice, margin), ptr)
    return choice, margin


@jit
def _centres(
    first: int,
    last: int,
    ptr: Longs,
    a: Floats,
    b: Floats,
    inside: Bools,
    r: Floats,
    mu: float,
    price: Floats,
    x: Floats,
) -> None:
    for j in range(first, last):
        low, least = 0.0 if inside[j] else -np.inf, mu / b[j]
        for q in span(ptr, j):
            low = max(low, -r[q] / a[q])
        low += least
        p = max(low, price[j])
        for _ in range(_NEWTON):
            load = mu / p if inside[j] else 0.0
            square = load * load
            for q in span(ptr, j):
                part = a[q] * mu / max(r[q] + a[q] * p, a[q] * least)
                load += part
                square += part * part
            over = load / b[j] - 1.0
            p = max(low, p + mu * load * over / square)
            if abs(over) < _CENTRED:
                break
        price[j] = p
        for q in span(ptr, j):
            x[q] = mu / max(r[q] + a[q] * p, a[q] * least)


def centres(
    ptr: Longs,
    a: Floats,
    b: Floats,
    inside: Bools,
    r: Floats,
    mu: float,
    threads: int = 1,
    near: Floats | None = None,
) -> tuple[Floats, Floats]:
    r"""Each block's centre of ``a x = b``, or ``a x <= b``, at given reduced costs.

    With ``x = mu/(r + a p)``, and ``s = mu/p`` inside, the price p is the root of
    ``load(p) = a x + s = b``. ``1/load`` is concave and increasing. So Newton's method for
    ``1/load = 1/b`` converges monotonically from the left of the root; from the right it reaches
    the left in one step. For a single entry one step is exact.

    Args:
        ptr: (blocks + 1,) first entry of each block.
        a: (entries,) coefficients > 0.
        b: (blocks,) limit of each block, > 0.
        inside: (blocks,) True where the block may use less.
        r: (entries,) reduced costs without the block's own price.
        mu: The barrier parameter, > 0.
        threads: Threads.
        near: (blocks,) first prices, such as prices for similar costs.

    Returns:
        (blocks,) prices and (entries,) x.
    """
    price = np.full(len(b), -np.inf) if near is None else near.copy()
    x = np.empty(len(r))
    map_runs(
        few(threads, len(r)),
        lambda first, last: _centres(first, last, ptr, a, b, inside, r, mu, price, x),
        ptr,
    )
    return price, x
