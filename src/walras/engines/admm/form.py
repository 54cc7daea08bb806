"""The form that splits a problem in two: groups of a demand's rows, and single narrow rows.

Block 2 solves every demand alone: its entries with up to three of its rows. Block 1 solves every
other row alone, on copies of its entries; an entry has one copy for each such row. The side with
more rows of single owners plays the demands. On request, rows of a single demand beyond the three
are kept apart from the rows that demands share (:mod:`.private_rows`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from walras.certificate.structure import structure
from walras.engines.admm.entries import Entries, Homes, with_copies, without_copies
from walras.engines.admm.scalars import copied, lifted
from walras.kernels import columns
from walras.kernels.block_prox.newton import MOST_ROWS
from walras.separable import Separable, Side, Utility, utility
from walras.types import Bools, Floats, Ints, Longs

Kinds = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class RowData:
    """Data of rows, in the shape (groups, K) or (narrow,).

    Attributes:
        source: Row of the problem, -1 on padding.
        kind: Values of :class:`Utility`.
        weight: Weight of a cost.
        parameter: Parameter of a cost.
        lower: Lower bound.
        upper: Upper bound.
        shift: Coefficient of the shared scalar.
    """

    source: Longs
    kind: Kinds
    weight: Floats
    parameter: Floats
    lower: Floats
    upper: Floats
    shift: Floats

    @classmethod
    def of(cls, problem: Separable, source: Longs) -> RowData:
        """Gather rows; places where ``source`` is -1 become empty rows."""
        rows, at, real = problem.rows, np.maximum(source, 0), source >= 0
        kind = np.where(_costs_nothing(problem), Utility.NONE, rows.utility).astype(np.int8)
        shift = rows.scalar_matrix[:, 0] if problem.scalars else np.zeros(rows.count)

        def pick(values: npt.NDArray[np.generic], rest: float) -> npt.NDArray[np.generic]:
            if not rows.count:
                return np.full(source.shape, rest, dtype=values.dtype)
            return np.where(real, values[at], values.dtype.type(rest))

        return cls(
            source,
            np.asarray(pick(kind, Utility.NONE), dtype=np.int8),
            np.asarray(pick(rows.weight, 1.0), dtype=np.float64),
            np.asarray(pick(rows.parameter, 0.0), dtype=np.float64),
            np.asarray(pick(rows.lower, -np.inf), dtype=np.float64),
            np.asarray(pick(rows.upper, np.inf), dtype=np.float64),
            np.asarray(pick(shift, 0.0), dtype=np.float64),
        )

    def part(self, groups: slice) -> RowData:
        """A run of groups."""
        return RowData(
            self.source[groups],
            self.kind[groups],
            self.weight[groups],
            self.parameter[groups],
            self.lower[groups],
            self.upper[groups],
            self.shift[groups],
        )


def _costs_nothing(problem: Separable) -> Bools:
    """(rows,) True on utility rows without entries whose cost is then zero.

    They are left out, since the price that proves them may be minus infinity.
    """
    rows, still = problem.rows, structure(problem).unmoved
    if not np.any(still):
        return still
    cost = utility.value(rows.utility, rows.weight, rows.parameter, np.zeros(rows.count))
    return np.asarray(still & (cost == 0.0))


@dataclass(frozen=True, eq=False)
class Form:
    """A problem split in two.

    Attributes:
        problem: The problem whose entries and rows are meant: the caller's, or one with more
            entries and rows behind the caller's (:mod:`.scalars`).
        order: (entries,) entry at each place.
        entries: The entries, group by group.
        groups: (groups, K) rows of the demands.
        own: (own,) other rows of single demands, group by group; empty unless requested.
        own_ptr: (groups + 1,) first own row of each group.
        narrow: (narrow + 1,) the rest of the rows, and an empty one. Copies name rows in this
            order, with the own rows before the last.
        scalar_in: ``groups``, ``narrow``, or nothing.
        asked_entries: Number of entries of the caller's problem.
        asked_rows: Number of its rows.
        capacities: (narrow + 1,) sum of a^2 / w of each row, when the weights are not kept.
    """

    problem: Separable
    order: Longs
    entries: Entries
    groups: RowData
    own: RowData
    own_ptr: Longs
    narrow: RowData
    scalar_in: str
    asked_entries: int
    asked_rows: int
    capacities: Floats | None = None


def make_form(
    problem: Separable, *, published: bool = False, collapse: bool = False, own: bool = False
) -> Form:
    """Split a problem.

    Args:
        problem: The problem.
        collapse: Whether to split without copies.
        published: Whether to split as published: all copies have the same weight, and every demand
            has its own copy of a scalar in its rows; the scalar is the mean of the copies.
        own: Whether to keep the rows of single demands apart; only with copies.
    """
    asked = problem
    owner, local, private = _wide_side(problem, own=own)
    scalar_in = _scalar_home(problem, local)
    if problem.scalars and not scalar_in:
        problem = lifted(problem)
    elif scalar_in == "groups" and published:
        problem, scalar_in = copied(problem, owner), "narrow"
    if problem is not asked:
        owner, local, private = _wide_side(problem, own=own)
    order = np.argsort(owner, kind="stable").astype(np.int64)
    ptr = _group_ptr(owner[order])
    groups = owner[order][ptr[:-1]].astype(np.int64)
    source = _slots(problem, local, groups)
    narrow = np.append(np.flatnonzero(~local & ~private), -1)
    apart, own_ptr = _by_group(problem, private, groups)
    homes, capacities = _homes(problem, source, np.insert(narrow, len(narrow) - 1, apart)), None
    if collapse:
        entries, capacities = without_copies(problem, order, ptr, homes)
    else:
        entries = with_copies(problem, order, ptr, homes, even=published)
    return Form(
        problem,
        order,
        entries,
        RowData.of(problem, source),
        RowData.of(problem, apart),
        own_ptr,
        RowData.of(problem, narrow),
        scalar_in,
        asked.entries,
        asked.rows.count,
        capacities,
    )


def has_own_rows(problem: Separable) -> bool:
    """Whether single demands have rows beyond the ones in their blocks."""
    return bool(np.any(_wide_side(problem, own=True)[2]))


def _wide_side(problem: Separable, *, own: bool) -> tuple[Ints, Bools, Bools]:
    """Owners of the entries on the side that plays the demands, the rows in its blocks, and its own
    rows beyond these on request.
    """
    found = []
    for side, owner in ((Side.DEMAND, problem.demand), (Side.RESOURCE, problem.resource)):
        whole = _rows_of_one(problem, side, owner)
        local = _most(problem, whole)
        found.append((owner, local, whole & ~local & _plain(problem) if own else whole & False))
    demand, resource = found
    return resource if np.sum(resource[1:]) > np.sum(demand[1:]) else demand


def _plain(problem: Separable) -> Bools:
    """(rows,) True on rows with some entries and no scalars."""
    rows = problem.rows
    used = np.bincount(rows.matrix.indices, minlength=rows.count) > 0
    return np.asarray(used & ~np.any(rows.scalar_matrix, axis=1))


def _rows_of_one(problem: Separable, side: Side, owner: Ints) -> Bools:
    """(rows,) True on rows with entries of one owner only."""
    rows = problem.rows
    local = (rows.side == side) & (rows.owner >= 0)
    columns.strays(rows.matrix.indptr, rows.matrix.indices, owner, rows.owner, local)
    return np.asarray(local)


def _most(problem: Separable, local: Bools) -> Bools:
    """(rows,) True on at most three such rows an owner, costs first."""
    rows, local = problem.rows, local.copy()
    at = np.flatnonzero(local)
    at = at[np.lexsort((~rows.is_utility[at], rows.owner[at]))]
    first = np.flatnonzero(np.append(True, np.diff(rows.owner[at]) != 0))
    rank = np.arange(len(at)) - np.repeat(first, np.diff(np.append(first, len(at))))
    local[at[rank >= MOST_ROWS]] = False
    return local


def _scalar_home(problem: Separable, local: Bools) -> str:
    if problem.scalars != 1:
        return ""
    held = problem.rows.scalar_matrix[:, 0] != 0
    if not np.any(held) or np.any(held & problem.rows.is_utility):
        return ""
    if np.all(local[held]):
        return "groups"
    return "" if np.any(local[held]) else "narrow"


def _group_ptr(owner: Ints) -> Longs:
    """First entry of each owner's run; entries without owner are groups of their own."""
    new = np.append(True, np.diff(owner) != 0) | (owner < 0)
    return np.append(np.flatnonzero(new), len(owner)).astype(np.int64)


def _slots(problem: Separable, local: Bools, groups: Longs) -> Longs:
    """(groups, K) row in each slot of each group, -1 where there is none."""
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


def _by_group(problem: Separable, private: Bools, groups: Longs) -> tuple[Longs, Longs]:
    """The own rows group by group, and (groups + 1,) the first of each group."""
    at = np.flatnonzero(private)
    place = np.searchsorted(groups, problem.rows.owner[at])
    ptr = np.searchsorted(np.sort(place), np.arange(len(groups) + 1))
    return at[np.argsort(place, kind="stable")], ptr


def _homes(problem: Separable, source: Longs, narrow: Longs) -> Homes:
    """The destination of each row of the problem."""
    count, real = problem.rows.count, source >= 0
    slot = np.full(count, -1, dtype=np.int64)
    slot[source[real]] = np.nonzero(real)[1]
    place = np.full(count, len(narrow) - 1, dtype=np.uint32)
    place[narrow[:-1]] = np.arange(len(narrow) - 1, dtype=np.uint32)
    return Homes(slot, place, source.shape[1], len(narrow))
