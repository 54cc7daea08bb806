"""Presolve of blocks that choose from a simplex under shared capacities.

In flows on candidate paths a block is a pair of nodes. Its entries are >= 0 under one row of its
own, ``a x <= b`` or ``a x = b``, and every other row is a capacity, ``A x + e t <= c`` with A >= 0.
The polytope of such a block is a simplex. The least and the largest load of a row are then known in
closed form (activity bounds; Brearley, Mitra and Williams 1975). A block that has chosen rests at a
vertex: all on one entry, or nothing.

In rows ``A x - w t <= c`` with one scalar t, w > 0, any prices p >= 0 with ``w p = 1`` prove

    t >= sum_j min_q (A_q p size_q) - c p      over the entries q of each block j.

A block alone needs a t of ``1 / sum_q 1 / max_r (A_rq size_q / w_r)`` where c = 0 and its entries
meet different rows. The prices that prove this for the block that needs most often prove the
optimum, since a network's traffic is seldom scarce in two places at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras.certificate.structure import structure
from walras.kernels import columns
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
        # Rows that hold whatever the open entries are, as that of a pair without a path.
        open_part = rows.matrix[:, entry] if np.any(fixed) else rows.matrix
        idle = np.bincount(open_part.indices, minlength=rows.count) == 0
        idle &= ~np.any(rows.scalar_matrix, axis=1) & (rows.lower <= 0) & (rows.upper >= 0)
        others = ~own & ~idle
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
    ``load - c t <= 0``, cannot bind if its largest load is below c times a t that is proved: that
    which another row's least load forces, or a bound by prices.
    """
    problem, s = simplices.problem, simplices
    matrix, rows = problem.rows.matrix, problem.rows
    capacity = np.ones(rows.count, dtype=bool)
    capacity[s.row] = False
    closed = np.zeros(len(s.entry), dtype=bool)
    settled = s.is_equation & (np.diff(s.ptr) == 1)
    loose = np.zeros(rows.count, dtype=bool)
    proof = _scarcest(simplices, capacity)
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
        found = capacity & _cannot_bind(problem, least, most, capacity, proof)
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


@dataclass(frozen=True, eq=False)
class _ScalarProof:
    """A lower bound of the scalar and (rows,) the prices that prove it."""

    value: float
    prices: Floats


def _scarcest(simplices: Simplices, capacity: Bools) -> _ScalarProof:
    """The bound of the scalar by the block that needs the largest one alone, and all others."""
    s, rows = simplices, simplices.problem.rows
    none = _ScalarProof(-np.inf, np.zeros(rows.count))
    if not simplices.problem.scalars:
        return none
    pays = capacity & (rows.scalar_matrix[:, 0] < 0)
    width = np.where(pays, -rows.scalar_matrix[:, 0], np.inf)  # of a row, for one unit of t
    matrix, most = rows.matrix, np.full(simplices.problem.entries, np.inf)
    columns.least(matrix.indptr, matrix.indices, matrix.data, width, False, most)
    part = most[s.entry] / s.size  # of a block's limit that fits on an entry, for one unit of t
    room = np.where(s.is_equation, np.add.reduceat(part, s.ptr[:-1]), np.inf)
    j = int(np.argmin(room))
    if not np.isfinite(room[j]):
        return none
    prices = none.prices
    for k in range(s.ptr[j], s.ptr[j + 1]):
        own = slice(matrix.indptr[s.entry[k]], matrix.indptr[s.entry[k] + 1])
        row = matrix.indices[own][np.argmin(width[matrix.indices[own]] / matrix.data[own])]
        prices[row] += part[k] / width[row] / room[j]
    cheapest = np.minimum.reduceat((matrix.T @ prices)[s.entry] * s.size, s.ptr[:-1])
    value = float(cheapest @ s.is_equation - np.where(prices > 0, rows.upper, 0.0) @ prices)
    return _ScalarProof(value, prices)


def _cannot_bind(
    problem: Separable, least: Floats, most: Floats, capacity: Bools, proof: _ScalarProof
) -> Bools:
    """(rows,) True where the largest load is within the bound."""
    upper = problem.rows.upper
    if not problem.scalars:
        return np.asarray(_WITH_ROUNDING * most <= upper)
    e = problem.rows.scalar_matrix[:, 0]
    pays = capacity & (e < 0)
    share = np.where(pays, -e, 1.0)
    forced = np.where(pays, (least - upper) / share, -np.inf)
    t = float(max(np.max(forced, initial=-np.inf), problem.scalar_lower[0], proof.value))
    if not np.isfinite(t):
        return np.asarray((_WITH_ROUNDING * most <= upper) & (e == 0))
    room = upper + np.where(pays, share * t, 0.0)
    # The rows that force t stay, since the others are loose only because of them.
    forces = (forced >= t) | ((proof.value >= t) & (proof.prices > 0))
    return np.asarray((_WITH_ROUNDING * most <= room) & (pays | (e == 0)) & ~forces)


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
