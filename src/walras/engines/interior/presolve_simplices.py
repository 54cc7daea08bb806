"""Presolve of blocks that choose from a simplex under shared capacities.

In flows on candidate paths a block is a pair of nodes. Its entries are >= 0 under one row of its
own, ``a x <= b`` or ``a x = b``, and every other row is a capacity, ``A x + e t <= c`` with A >= 0.
The polytope of such a block is a simplex. The least and the largest load of a row are then known in
closed form (activity bounds; Brearley, Mitra and Williams 1975). A block that has chosen rests at a
vertex: all on one entry, or nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras.certificate.structure import structure
from walras.kernels.simplices import activity_ranges, choices
from walras.separable import Separable, Side
from walras.types import Bools, Floats, Longs

_PASSES = 5  # rounds of bounds and choices at most; each may settle more
_WITH_ROUNDING = 1.0 + 1e-9  # a row is left out if its largest load times this is within its bound


@dataclass(frozen=True, eq=False)
class Simplices:
    """The blocks of a problem in which every block chooses from a simplex.

    Attributes:
        problem: The problem.
        entry: (places,) entries, block by block.
        ptr: (blocks + 1,) first place of each block.
        row: (blocks,) the block's own row.
        size: (places,) value of an entry when its block uses it alone.
        is_equation: (blocks,) True where the row is an equation.
    """

    problem: Separable
    entry: Longs
    ptr: Longs
    row: Longs
    size: Floats
    is_equation: Bools

    @classmethod
    def of(cls, problem: Separable) -> Simplices | None:
        """The blocks, or None unless all blocks are simplices and all other rows are capacities."""
        rows = problem.rows
        if np.any(rows.is_utility) or np.any(problem.quadratic) or problem.scalars > 1:
            return None
        if np.any(problem.lower) or problem.integer is not None:
            return None
        fixed = problem.upper == 0
        shape = structure(problem)
        own = shape.open_rows | (shape.shares & (rows.lower == rows.upper))
        entry = np.flatnonzero(~fixed)
        cap = shape.cap[entry]
        if not len(entry) or np.any(cap < 0) or not np.all(np.isinf(problem.upper[entry])):
            return None
        if not (np.all(own[cap]) and np.array_equal(rows.owner[cap], problem.demand[entry])):
            return None
        others = ~own
        if np.any(rows.side[others] != Side.RESOURCE) or np.any(np.isfinite(rows.lower[others])):
            return None
        if np.any(rows.matrix.data < 0) or np.any(rows.upper[own] <= 0):
            return None
        order = np.argsort(cap, kind="stable") if np.any(np.diff(cap) < 0) else slice(None)
        entry, cap = entry[order], cap[order]
        ptr = np.append(np.flatnonzero(np.append(True, np.diff(cap) > 0)), len(cap))
        row = cap[ptr[:-1]].astype(np.int64)
        size = rows.upper[cap] / shape.coefficient[entry]
        return cls(problem, entry, ptr, row, size, rows.lower[row] == rows.upper[row])

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return len(self.row)

    @property
    def block(self) -> Longs:
        """(places,) block of each place."""
        return np.repeat(np.arange(self.blocks), np.diff(self.ptr))

    def choose(self, reduced: Floats, closed: Bools, threads: int) -> tuple[Longs, Floats]:
        """Each block's cheapest place at given reduced costs (entries,), -1 if none pays.

        Returns:
            (blocks,) place, and (blocks,) how much more the next one costs for each unit of the
            limit.
        """
        price = reduced[self.entry] * self.size / self.problem.rows.upper[self.row][self.block]
        return choices(self.ptr, price, closed, self.is_equation, threads)


@dataclass(frozen=True, eq=False)
class Presolved:
    """Facts that hold in some optimal allocation, found before solving.

    Attributes:
        closed: (places,) True on entries that may stay at zero.
        settled: (blocks,) True where only one entry is open; it takes all.
        loose: (rows,) True on capacities that cannot bind.
    """

    closed: Bools
    settled: Bools
    loose: Bools


def presolve(simplices: Simplices) -> Presolved:
    """Find rows that cannot bind, entries that meet no other row, and blocks with one choice.

    The three steps repeat while they find something. A row with the one scalar,
    ``load - c t <= 0``, cannot bind if its largest load is below c times the t that another row's
    least load forces.
    """
    problem, s = simplices.problem, simplices
    matrix, rows = problem.rows.matrix, problem.rows
    capacity = np.ones(rows.count, dtype=bool)
    capacity[s.row] = False
    closed = np.zeros(len(s.entry), dtype=bool)
    settled = s.is_equation & (np.diff(s.ptr) == 1)
    loose = np.zeros(rows.count, dtype=bool)
    for _ in range(_PASSES):
        least, most = activity_ranges(
            s.ptr,
            s.entry,
            closed,
            s.is_equation | settled,
            s.size,
            matrix.indptr,
            matrix.indices,
            matrix.data,
            rows.count,
        )
        found = capacity & _cannot_bind(problem, least, most, capacity)
        if np.array_equal(found, loose):
            break
        loose = found
        binds = capacity & ~loose
        free = matrix.T @ binds.astype(np.float64) == 0
        closed, settled = _taken(simplices, free[s.entry], closed, settled)
    if np.all(settled):  # keep one block that meets a capacity, so that there is something to solve
        load = matrix.T @ (capacity & ~loose).astype(np.float64)
        meets = np.maximum.reduceat(np.where(closed, 0.0, load[s.entry] * s.size), s.ptr[:-1])
        settled[int(np.argmax(meets))] = False
    return Presolved(closed, settled, loose)


def _cannot_bind(problem: Separable, least: Floats, most: Floats, capacity: Bools) -> Bools:
    """(rows,) True where the largest load is within the bound."""
    upper = problem.rows.upper
    if not problem.scalars:
        return np.asarray(_WITH_ROUNDING * most <= upper)
    e = problem.rows.scalar_matrix[:, 0]
    pays = capacity & (e < 0)
    share = np.where(pays, -e, 1.0)
    forced = np.where(pays, (least - upper) / share, -np.inf)
    t = float(max(np.max(forced, initial=-np.inf), problem.scalar_lower[0]))
    if not np.isfinite(t):
        return np.asarray((_WITH_ROUNDING * most <= upper) & (e == 0))
    room = upper + np.where(pays, share * t, 0.0)
    # The row that forces t stays, since the others are loose only because of it.
    return np.asarray((_WITH_ROUNDING * most <= room) & (pays | (e == 0)) & (forced < t))


def _taken(simplices: Simplices, free: Bools, closed: Bools, settled: Bools) -> tuple[Bools, Bools]:
    """Settle blocks at an entry that meets no capacity and costs least."""
    s = simplices
    cost = s.problem.cost[s.entry] * s.size
    cheapest = np.minimum.reduceat(np.where(closed, np.inf, cost), s.ptr[:-1])
    takes = free & ~closed & (cost <= cheapest[s.block]) & (s.is_equation[s.block] | (cost <= 0))
    takes &= ~settled[s.block]
    places = np.flatnonzero(takes)
    block, first = np.unique(s.block[places], return_index=True)
    closed, settled = closed.copy(), settled.copy()
    mine = np.zeros(s.blocks, dtype=bool)
    mine[block] = True
    closed[mine[s.block]] = True
    closed[places[first]] = False
    settled[block] = True
    return closed, settled
