"""The entries of the split form, with a copy for every narrow row or without any.

The collapsed scheme needs only two sums of the copies' weights w: ``W_q = sum_k w_k`` of an entry
and ``sum_k a_k^2 / w_k`` of a row. It keeps neither copies nor weights. If entries are already in
the order of the demands, it keeps no coefficients either and runs on the problem's own columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from walras.kernels import columns
from walras.programs.implied_bounds import reach
from walras.separable import Separable
from walras.types import Floats, Longs

Rows32 = npt.NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Entries:
    """Entries group by group, with their copies.

    Attributes:
        ptr: (groups + 1,) first entry of each group.
        local: (K, n) coefficients in the group's rows.
        cost: (n,) c.
        quadratic: (n,) h.
        lower: (n,) bounds.
        upper: (n,) bounds.
        copies: (n + 1,) first copy of each entry; every entry has at least one.
        row: (copies,) narrow row of each copy; the last row is empty.
        a: (copies,) coefficient in it.
        w: (copies,) weight of the copy in the metric.
        weight: (n,) weight of all copies of an entry.
        place: None with copies. Without copies (:func:`without_copies`): (rows,) the narrow row of
            each row of the problem, the last one for rows of demands; ``row`` then holds rows of
            the problem.
    """

    ptr: Longs
    local: Floats
    cost: Floats
    quadratic: Floats
    lower: Floats
    upper: Floats
    copies: Longs
    row: Rows32
    a: Floats
    w: Floats
    weight: Floats
    place: Rows32 | None = None

    @property
    def count(self) -> int:
        """Number of entries."""
        return len(self.cost)

    def part(self, first: int, last: int) -> Entries:
        """The entries of a run of groups."""
        low, high = int(self.ptr[first]), int(self.ptr[last])
        here, there = int(self.copies[low]), int(self.copies[high])
        q, k = slice(low, high), slice(here, there)
        return Entries(
            self.ptr[first : last + 1] - low,
            np.ascontiguousarray(self.local[:, q]),
            self.cost[q],
            self.quadratic[q],
            self.lower[q],
            self.upper[q],
            self.copies[low : high + 1] - here,
            self.row[k],
            self.a[k],
            self.w[k],
            self.weight[q],
            self.place,
        )


@dataclass(frozen=True, eq=False)
class Homes:
    """The destination of each row of the problem.

    Attributes:
        slot: (rows,) slot among its demand's rows, -1 on narrow rows.
        place: (rows,) narrow row, the last on rows of demands.
        slots: Largest number of rows of a demand.
        narrow: Number of narrow rows, including the empty last one.
    """

    slot: Longs
    place: Rows32
    slots: int
    narrow: int


def with_copies(
    problem: Separable, order: Longs, ptr: Longs, homes: Homes, *, even: bool = False
) -> Entries:
    """The entries with a copy for every narrow row, at least one copy each.

    Args:
        problem: The problem.
        order: (entries,) entry at each place.
        ptr: (groups + 1,) first entry of each group.
        homes: The destinations of the rows.
        even: Whether all copies have the same weight.
    """
    matrix, count = problem.rows.matrix, len(order)
    copies, local = np.zeros(count + 1, dtype=np.int64), np.zeros((homes.slots, count))
    columns.count_copies(order, matrix.indptr, matrix.indices, homes.slot, copies)
    np.cumsum(copies, out=copies)
    row = np.full(copies[-1], homes.narrow - 1, dtype=np.uint32)
    a = np.zeros(copies[-1])
    columns.split(
        order,
        matrix.indptr,
        matrix.indices,
        matrix.data,
        homes.slot,
        homes.place,
        copies,
        local,
        row,
        a,
    )
    if even:
        w = np.ones(len(a))
    else:
        w = metric(row, a, np.repeat(reach(problem)[order], np.diff(copies)), homes.narrow)
    weight = np.add.reduceat(w, copies[:-1]) if count else np.zeros(0)
    return Entries(ptr, local, *_own(problem, order), copies, row, a, w, weight)


def without_copies(
    problem: Separable, order: Longs, ptr: Longs, homes: Homes
) -> tuple[Entries, Floats]:
    """The entries without copies, and (narrow,) ``sum_k a_k^2 / w_k`` of each narrow row.

    Args:
        problem: The problem.
        order: (entries,) entry at each place.
        ptr: (groups + 1,) first entry of each group.
        homes: Where the rows go.
    """
    matrix, count, narrow = problem.rows.matrix, len(order), homes.narrow
    if not np.array_equal(order, np.arange(count)):
        matrix = matrix[:, order]
    first, row, a = matrix.indptr, matrix.indices.view(np.uint32), matrix.data
    # otherwise these passes would be compiled again
    if not (row.flags.writeable and a.flags.writeable):
        row, a = row.copy(), a.copy()
    local, weight, capacity = np.zeros((homes.slots, count)), np.zeros(count), np.zeros(narrow)
    columns.own(first, matrix.indices, a, homes.slot, local)
    total, number = np.zeros(narrow), np.zeros(narrow)
    columns.sizes(first, row, a, homes.place, total, number)
    mean = np.where(total > 0, total / np.maximum(number, 1), 1.0)
    root = np.sqrt(gathered(reach(problem), order))
    whole = columns.metric_sums(first, row, a, homes.place, mean, root, weight, capacity)
    unit = whole / max(float(np.sum(number)), 1.0)  # the mean of the weights is one
    weight /= unit
    capacity *= unit
    starts = first.astype(np.int64)
    kept = Entries(
        ptr, local, *_own(problem, order), starts, row, a, np.zeros(0), weight, homes.place
    )
    return kept, capacity


def runs(copies: Longs, some: Longs) -> tuple[Longs, Longs]:
    """All copies of some entries, and the index of each copy's entry among them."""
    first, size = copies[some], copies[some + 1] - copies[some]
    entry = np.repeat(np.arange(len(some)), size)
    return np.arange(len(entry)) + (first - np.cumsum(size) + size)[entry], entry


def _own(problem: Separable, order: Longs) -> tuple[Floats, Floats, Floats, Floats]:
    """Costs, their quadratic parts, and bounds."""
    return (
        gathered(problem.cost, order),
        gathered(problem.quadratic, order),
        gathered(problem.lower, order),
        gathered(problem.upper, order),
    )


def metric(row: Rows32, a: Floats, most: Floats, narrow: int) -> Floats:
    """(copies,) weights: coefficient over the row's mean, times the root of the entry's limit.

    The multiplier of a copy is its row's price times its coefficient. At equal weights, copies with
    large coefficients and small entries would move too much.

    Args:
        row: (copies,) narrow row.
        a: (copies,) coefficient.
        most: (copies,) largest possible value of the entry alone.
        narrow: Number of narrow rows.
    """
    size = np.abs(a)
    total = np.bincount(row, size, narrow)
    count = np.bincount(row, minlength=narrow)
    mean = np.where(total > 0, total / np.maximum(count, 1), 1.0)
    w = np.where(size > 0, size / mean[row], 1.0) / np.sqrt(most)
    return np.asarray(w / np.mean(w))


def gathered(values: Floats, order: Longs) -> Floats:
    """The values in an order; the same array if it has that order already.

    Read-only arrays and arrays with gaps are copied, since passes would be compiled again for them.
    """
    plain = values.flags.writeable and values.flags.c_contiguous
    return values if plain and np.array_equal(order, np.arange(len(order))) else values[order]
