"""The form that splits a problem in two: groups of a demand's rows, and single narrow rows.

Block 2 solves every demand by itself: its entries with up to three of its rows. Block 1 solves
every other row by itself, on copies of its entries, one for each row that an entry stands in. The
side with more rows to itself plays the demands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from walras.engines.admm.scalars import copied, lifted
from walras.kernels import columns
from walras.kernels.groups import MOST_ROWS
from walras.separable import Separable, Side, Utility

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Kinds = npt.NDArray[np.int8]
Rows32 = npt.NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class RowData:
    """What rows ask for, whatever their shape: (groups, K) or (narrow,).

    Attributes:
        source: Row of the problem, -1 on padding.
        kind: Values of :class:`Utility`.
        weight: Weight of a cost.
        parameter: Parameter of a cost.
        lower: Lower bound.
        upper: Upper bound.
        shift: Coefficient of the shared scalar.
    """

    source: Ints
    kind: Kinds
    weight: Floats
    parameter: Floats
    lower: Floats
    upper: Floats
    shift: Floats

    @classmethod
    def of(cls, problem: Separable, source: Ints) -> RowData:
        """Gather rows; the places where ``source`` is -1 ask for nothing."""
        rows, at, real = problem.rows, np.maximum(source, 0), source >= 0
        shift = rows.scalar_matrix[:, 0] if problem.scalars else np.zeros(rows.count)

        def pick(values: npt.NDArray[np.generic], rest: float) -> npt.NDArray[np.generic]:
            if not rows.count:
                return np.full(source.shape, rest, dtype=values.dtype)
            return np.where(real, values[at], values.dtype.type(rest))

        return cls(
            source,
            np.asarray(pick(rows.utility, Utility.NONE), dtype=np.int8),
            np.asarray(pick(rows.weight, 1.0), dtype=np.float64),
            np.asarray(pick(rows.parameter, 0.0), dtype=np.float64),
            np.asarray(pick(rows.lower, -np.inf), dtype=np.float64),
            np.asarray(pick(rows.upper, np.inf), dtype=np.float64),
            np.asarray(pick(shift, 0.0), dtype=np.float64),
        )

    def part(self, groups: slice) -> RowData:
        """A run of groups."""
        return RowData(
            self.source[groups], self.kind[groups], self.weight[groups], self.parameter[groups],
            self.lower[groups], self.upper[groups], self.shift[groups],
        )  # fmt: skip


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
        row: (copies,) narrow row of each copy; the last row asks for nothing.
        a: (copies,) coefficient in it.
        w: (copies,) weight of the copy in the metric.
    """

    ptr: Ints
    local: Floats
    cost: Floats
    quadratic: Floats
    lower: Floats
    upper: Floats
    copies: Ints
    row: Rows32
    a: Floats
    w: Floats

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
            self.ptr[first : last + 1] - low, np.ascontiguousarray(self.local[:, q]),
            self.cost[q], self.quadratic[q], self.lower[q], self.upper[q],
            self.copies[low : high + 1] - here, self.row[k], self.a[k], self.w[k],
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Form:
    """A problem split in two.

    Attributes:
        problem: The problem in whose entries and rows this speaks: the one asked about, or one
            with more entries and rows behind the asked ones (:mod:`.scalars`).
        order: (entries,) entry at each place.
        entries: The entries, group by group.
        groups: (groups, K) rows of the demands.
        narrow: (narrow + 1,) other rows, and one that asks for nothing.
        scalar_in: ``groups``, ``narrow``, or nothing.
        asked_entries: Entries of the problem that was asked about.
        asked_rows: Its rows.
    """

    problem: Separable
    order: Ints
    entries: Entries
    groups: RowData
    narrow: RowData
    scalar_in: str
    asked_entries: int
    asked_rows: int


def make_form(problem: Separable, *, published: bool = False) -> Form:
    """Split a problem.

    Args:
        problem: The problem.
        published: As published: all copies weigh the same, and every demand has a copy of a scalar
            that its rows share, the copies' mean being the scalar.
    """
    asked = problem
    owner, local = _wide_side(problem)
    scalar_in = _scalar_home(problem, local)
    if problem.scalars and not scalar_in:
        problem = lifted(problem)
    elif scalar_in == "groups" and published:
        problem, scalar_in = copied(problem, owner), "narrow"
    if problem is not asked:
        owner, local = _wide_side(problem)
    order = np.argsort(owner, kind="stable").astype(np.int64)
    ptr = _group_ptr(owner[order])
    source = _slots(problem, local, owner[order][ptr[:-1]].astype(np.int64))
    narrow = np.append(np.flatnonzero(~local), -1)
    entries = _entries(problem, order, ptr, source, narrow)
    if published:
        entries = replace(entries, w=np.ones(len(entries.w)))
    return Form(
        problem, order, entries, RowData.of(problem, source), RowData.of(problem, narrow),
        scalar_in, asked.entries, asked.rows.count,
    )  # fmt: skip


def _wide_side(problem: Separable) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    """Owners of the entries on the side that plays the demands, and the rows that stay with it."""
    found = []
    for side, owner in ((Side.DEMAND, problem.demand), (Side.RESOURCE, problem.resource)):
        found.append((owner, _local_rows(problem, side, owner)))
    demand, resource = found
    return resource if np.sum(resource[1]) > np.sum(demand[1]) else demand


def _local_rows(
    problem: Separable, side: Side, owner: npt.NDArray[np.int32]
) -> npt.NDArray[np.bool_]:
    """Rows of one owner and no other entries, at most three an owner, costs first."""
    rows = problem.rows
    local = (rows.side == side) & (rows.owner >= 0)
    columns.strays(rows.matrix.indptr, rows.matrix.indices, owner, rows.owner, local)
    at = np.flatnonzero(local)
    at = at[np.lexsort((~rows.is_utility[at], rows.owner[at]))]
    first = np.flatnonzero(np.append(True, np.diff(rows.owner[at]) != 0))
    rank = np.arange(len(at)) - np.repeat(first, np.diff(np.append(first, len(at))))
    local[at[rank >= MOST_ROWS]] = False
    return np.asarray(local)


def _scalar_home(problem: Separable, local: npt.NDArray[np.bool_]) -> str:
    if problem.scalars != 1:
        return ""
    held = problem.rows.scalar_matrix[:, 0] != 0
    if not np.any(held) or np.any(held & problem.rows.is_utility):
        return ""
    if np.all(local[held]):
        return "groups"
    return "" if np.any(local[held]) else "narrow"


def _group_ptr(owner: npt.NDArray[np.int32]) -> Ints:
    """First entry of each owner's run; entries of nobody are groups of their own."""
    new = np.append(True, np.diff(owner) != 0) | (owner < 0)
    return np.append(np.flatnonzero(new), len(owner)).astype(np.int64)


def _slots(problem: Separable, local: npt.NDArray[np.bool_], groups: Ints) -> Ints:
    """(groups, K) row in each slot of each group, -1 where none."""
    rows = problem.rows
    at = np.flatnonzero(local)
    at = at[np.argsort(rows.owner[at], kind="stable")]
    first = np.flatnonzero(np.append(True, np.diff(rows.owner[at]) != 0))
    count = np.diff(np.append(first, len(at)))
    rank = np.arange(len(at)) - np.repeat(first, count)
    source = np.full((len(groups), max(int(np.max(count, initial=1)), 1)), -1, dtype=np.int64)
    place = np.searchsorted(groups, rows.owner[at])
    known = place < len(groups)
    known[known] = groups[place[known]] == rows.owner[at[known]]
    source[place[known], rank[known]] = at[known]
    return source


def _entries(problem: Separable, order: Ints, ptr: Ints, source: Ints, narrow: Ints) -> Entries:
    rows = problem.rows
    slot = np.full(rows.count, -1, dtype=np.int64)
    real = source >= 0
    slot[source[real]] = np.nonzero(real)[1]
    place = np.full(rows.count, -1, dtype=np.int32)
    place[narrow[:-1]] = np.arange(len(narrow) - 1, dtype=np.int32)
    matrix, count = rows.matrix, len(order)
    copies, local = np.zeros(count + 1, dtype=np.int64), np.zeros((source.shape[1], count))
    columns.count_copies(order, matrix.indptr, matrix.indices, slot, copies)
    np.cumsum(copies, out=copies)
    row, a = np.full(copies[-1], len(narrow) - 1, dtype=np.uint32), np.zeros(copies[-1])
    columns.split(
        order, matrix.indptr, matrix.indices, matrix.data, slot, place, copies, local, row, a
    )
    return Entries(
        ptr, local, problem.cost[order], problem.quadratic[order], problem.lower[order],
        problem.upper[order], copies, row, a,
        metric(row, a, np.repeat(_reach(problem)[order], np.diff(copies)), len(narrow)),
    )  # fmt: skip


def metric(row: Rows32, a: Floats, reach: Floats, narrow: int) -> Floats:
    """(copies,) weights: a copy's coefficient over the mean one of its row and the root of reach.

    The multiplier of a copy is its row's price times its coefficient; at equal weights copies of
    large coefficients, and small entries, would be pushed about most.

    Args:
        row: (copies,) narrow row.
        a: (copies,) coefficient.
        reach: (copies,) the most that the entry can be by itself.
        narrow: Number of narrow rows.
    """
    size = np.abs(a)
    total = np.bincount(row, size, narrow)
    count = np.bincount(row, minlength=narrow)
    mean = np.where(total > 0, total / np.maximum(count, 1), 1.0)
    w = np.where(size > 0, size / mean[row], 1.0) / np.sqrt(reach)
    return np.asarray(w / np.mean(w))


def _reach(problem: Separable) -> Floats:
    """(entries,) the most that an entry can be by itself; the median where nothing limits it."""
    upper = problem.rows.upper
    own = np.where(problem.upper > 0, problem.upper, np.inf)
    out = least_limit(problem, np.where(upper > 0, upper, np.inf), own)
    known = np.isfinite(out)
    return np.where(known, out, np.median(out[known]) if np.any(known) else 1.0)


def least_limit(problem: Separable, limit: Floats, own: Floats, a: Floats | None = None) -> Floats:
    """(entries,) the least of what rows allow each entry, by itself.

    Args:
        problem: The problem.
        limit: (rows,) the most that a row may be used.
        own: (entries,) the entries' own limits.
        a: (nonzeros,) what a unit of an entry uses, if not its coefficient.
    """
    matrix, out = problem.rows.matrix, own.copy()
    columns.least(matrix.indptr, matrix.indices, matrix.data if a is None else a, limit, out)
    return out
