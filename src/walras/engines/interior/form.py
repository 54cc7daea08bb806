"""The interior point's own form: blocks of columns, a few local rows each, and narrow rows.

From a :class:`~walras.separable.Separable` (or some of its entries)

    min c·x + 1/2 x·diag(h) x + e·t + sum f_k(s_k),   A x + E t + s = b,   0 <= x <= u

A constraint ``y <= upper`` keeps its sign; ``y >= lower`` and utility rows are negated. Then every
row has a slack s >= 0, or the utility's own activity s = y. Columns are ordered by *block*, the
side of the allocation with more groups. A row of one block is *local*; each block has at most
``MAX_SLOTS`` local rows. Every other row is *narrow* and enters the Schur complement.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from walras.certificate.structure import own_limit, structure
from walras.errors import EngineError
from walras.separable import Separable, Side
from walras.types import Bools, Floats, Longs

MAX_SLOTS = 4  # local rows of a block that are eliminated; further ones become narrow rows
MAX_BORDER = 64  # free entries and scalars: the border is dense
_CHUNK = 50_000  # entries that are looked at together, to avoid an array of the problem's size

# Kinds of row. A utility row has the number of its utility.
INEQUALITY, EQUALITY, EMPTY = -1, -2, -3


@dataclass(frozen=True, eq=False)
class Form:
    """Data of one interior-point solve.

    Attributes:
        problem: The problem it was made from.
        columns: (n,) entry of ``problem`` behind each column, block by block.
        ptr: (blocks + 1,) first column of each block.
        block: (n,) block of each column.
        slots: Local rows a block.
        local: (slots, n) coefficients of the local rows.
        matrix: A, CSR (rows, n): ``blocks*slots`` local rows, then the narrow ones.
        transposed: A transposed, CSR (n, rows).
        narrow: The narrow part of A, CSC (narrow rows, n).
        border: E, (rows, scalars): shared scalars, then free entries.
        b: (rows,) right-hand sides.
        kind: (rows,) INEQUALITY, EQUALITY, EMPTY or a Utility.
        weight: (rows,) of a utility.
        parameter: (rows,) of a utility.
        source: (rows,) row of ``problem``, -1 for the bound of a scalar or an empty slot.
        sign: (rows,) +1 or -1: price of the source row = sign * p.
        c: (n,) costs.
        h: (n,) diagonal of the quadratic.
        u: (n,) upper bounds.
        shift: (n,) entry = shift + flip * x.
        flip: (n,) +1 or -1.
        e: (scalars,) costs of the border.
        border_h: (scalars,) quadratic costs of the border.
        free: (k,) free entries; they are in the border.
        constant: Value at x = 0, t = 0.
        rest: (entries,) values of the entries that are neither columns nor free.
    """

    problem: Separable
    columns: Longs
    ptr: Longs
    block: Longs
    slots: int
    local: Floats
    matrix: sp.csr_array
    transposed: sp.csr_array
    narrow: sp.csc_array
    border: Floats
    b: Floats
    kind: npt.NDArray[np.int8]
    weight: Floats
    parameter: Floats
    source: Longs
    sign: Floats
    c: Floats
    h: Floats
    u: Floats
    shift: Floats
    flip: Floats
    e: Floats
    border_h: Floats
    free: Longs
    constant: float
    rest: Floats

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return len(self.ptr) - 1

    @property
    def local_rows(self) -> int:
        """Number of local rows, empty slots included."""
        return self.blocks * self.slots

    def entries(self, x: Floats, t: Floats) -> Floats:
        """The problem's entries, from columns and border; other entries rest."""
        out = self.rest.copy()
        out[self.columns] = self.shift + self.flip * x
        out[self.free] = t[self.problem.scalars :]
        return out

    def row_prices(self, p: Floats) -> Floats:
        """Prices of the problem's rows, from those of the form's rows."""
        out = np.zeros(self.problem.rows.count)
        known = self.source >= 0
        np.add.at(out, self.source[known], (self.sign * p)[known])
        return out


def resting(problem: Separable) -> Floats:
    """(entries,) the value of an entry that no engine moves: its finite bound nearest to 0."""
    out = np.array(problem.lower)
    open_below = np.flatnonzero(np.isinf(out))
    if len(open_below):
        out[open_below] = np.minimum(problem.upper[open_below], 0.0)
    return out


@dataclass(frozen=True, eq=False)
class _Standard:
    """One-sided rows in the order of the problem's, before they are placed in blocks."""

    source: Longs
    sign: Floats
    bound: Floats
    kind: npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class _Places:
    """Places of the standard rows among all rows of a form.

    Attributes:
        standard: The rows.
        placed: (standard rows,) the place of each.
        slots: Local rows a block.
        blocks: Number of blocks.
        scalar_rows: First of the rows that bound scalars; they come last.
        total: Number of rows of the form.
    """

    standard: _Standard
    placed: Longs
    slots: int
    blocks: int
    scalar_rows: int
    total: int

    def scatter(self, values: npt.NDArray[np.generic], fill: float) -> Floats:
        """(total,) the values in their places, ``fill`` elsewhere."""
        out = np.full(self.total, fill, dtype=np.float64)
        out[self.placed] = values
        return out

    def matrix(self, rows: int) -> sp.csr_array:
        """(total, rows) signed selection of the problem's rows."""
        standard = self.standard
        place, source = (k.astype(np.int32) for k in (self.placed, standard.source))
        return sp.csr_array((standard.sign, (place, source)), shape=(self.total, rows))


@dataclass(frozen=True, eq=False)
class Restriction:
    """The part of a problem that a form leaves out.

    Attributes:
        entries: (n,) entries to keep, or None for all.
        redundant: (rows,) True where the upper bound is left out, as :func:`redundant_rows` finds.
        absent: (rows,) True on rows that are left out, since the entries at rest meet them.
        rest: (entries,) values of the entries that are not kept; :func:`resting` if None.
        side: The side whose owners are the blocks; the one with fewer foreign rows if None.
    """

    entries: Longs | None = None
    redundant: Bools | None = None
    absent: Bools | None = None
    rest: Floats | None = None
    side: Side | None = None


def make_form(problem: Separable, restriction: Restriction | None = None) -> Form:
    """The form of a problem, or of some of its entries while the others rest.

    Args:
        problem: What to solve.
        restriction: What to leave out; nothing if None.

    Raises:
        EngineError: More than ``MAX_BORDER`` entries are free (unbounded both ways).
    """
    kept = restriction or Restriction()
    chosen = np.arange(problem.entries) if kept.entries is None else kept.entries
    chosen = chosen[problem.lower[chosen] < problem.upper[chosen]]
    is_free = np.isinf(problem.lower[chosen]) & np.isinf(problem.upper[chosen])
    free, chosen = chosen[is_free], chosen[~is_free]
    if len(free) + problem.scalars > MAX_BORDER:
        raise EngineError(
            f"{len(free)} entries have no bound on either side",
            where="engine 'interior'",
            allowed=f"at most {MAX_BORDER} free entries and scalars",
            remedy="bound the entries or use engine='exact'",
        )
    side, block_of = _block_side(problem, chosen, kept.side)
    order = np.argsort(block_of, kind="stable")
    columns, (_, block) = chosen[order], np.unique(block_of[order], return_inverse=True)
    whole = len(columns) == problem.entries and bool(np.all(np.diff(columns) == 1))
    matrix = problem.rows.matrix if whole else problem.rows.matrix[:, columns]
    places = _place(problem, side, matrix, block, kept)
    rest = resting(problem) if kept.rest is None else kept.rest.copy()
    return _assemble(problem, columns, free, block, matrix, places, rest)


def _block_side(problem: Separable, chosen: Longs, given: Side | None) -> tuple[Side, Longs]:
    """Take the side with fewer foreign rows as blocks; an entry without owner is its own block."""
    side = problem.rows.side
    foreign = {s: int(np.sum(side != s)) for s in (Side.DEMAND, Side.RESOURCE)}
    fewer = Side.DEMAND if foreign[Side.DEMAND] <= foreign[Side.RESOURCE] else Side.RESOURCE
    best = fewer if given is None else given
    owner = (problem.demand if best == Side.DEMAND else problem.resource)[chosen].astype(np.int64)
    alone = owner < 0
    owner[alone] = len(problem.demand_names) + len(problem.resource_names) + np.flatnonzero(alone)
    return best, owner


def redundant_rows(problem: Separable) -> Bools:
    """(rows,) True on upper bounds that follow from the entries' own limits; their price is zero.

    The limit of an entry is its upper bound, or the bound from its demand's packing row alone.
    """
    rows, shape = problem.rows, structure(problem)
    most = np.zeros(rows.count)
    for first in range(0, problem.entries, _CHUNK):
        some = slice(first, first + _CHUNK)
        limit = np.minimum(problem.upper[some], own_limit(problem, shape, some))
        part = rows.matrix[:, some]
        count = np.diff(part.indptr)
        low = np.repeat(problem.lower[some], count)
        reach = np.where(part.data > 0, np.repeat(limit, count), low)
        most += np.bincount(part.indices, weights=part.data * reach, minlength=rows.count)
    own = np.zeros(rows.count, dtype=bool)
    own[shape.cap[shape.cap >= 0]] = True
    return np.asarray((most <= rows.upper) & ~own & ~np.any(rows.scalar_matrix, axis=1))


def _standard_rows(problem: Separable, kept: Restriction) -> _Standard:
    rows = problem.rows
    equal = rows.lower == rows.upper
    none = np.zeros(rows.count, dtype=bool)
    redundant = none if kept.redundant is None else kept.redundant
    present = ~none if kept.absent is None else ~kept.absent
    groups = (
        (rows.is_utility, -1.0, np.zeros(rows.count), None),
        (equal, 1.0, rows.upper, EQUALITY),
        (np.isfinite(rows.upper) & ~equal & ~redundant, 1.0, rows.upper, INEQUALITY),
        (np.isfinite(rows.lower) & ~equal, -1.0, -rows.lower, INEQUALITY),
    )
    source = [np.flatnonzero(mask & present) for mask, *_ in groups]
    return _Standard(
        source=np.concatenate(source),
        sign=np.concatenate([np.full(len(r), g[1]) for r, g in zip(source, groups, strict=True)]),
        bound=np.concatenate([g[2][r] for r, g in zip(source, groups, strict=True)]),
        kind=np.concatenate(
            [
                rows.utility[r] if g[3] is None else np.full(len(r), g[3], dtype=np.int8)
                for r, g in zip(source, groups, strict=True)
            ]
        ),
    )


def _place(
    problem: Separable, side: Side, matrix: sp.csc_array, block: Longs, kept: Restriction
) -> _Places:
    """Place of every standard row: ``block*slots + slot`` when local, after them when narrow."""
    standard = _standard_rows(problem, kept)
    blocks = int(block[-1]) + 1 if len(block) else 0
    touched_low = np.full(problem.rows.count, blocks, dtype=np.int64)
    touched_high = np.full(problem.rows.count, -1, dtype=np.int64)
    of_nonzero = np.repeat(block, np.diff(matrix.indptr))
    np.minimum.at(touched_low, matrix.indices, of_nonzero)
    np.maximum.at(touched_high, matrix.indices, of_nonzero)
    mine = (problem.rows.side == side) & (touched_low == touched_high)
    home = np.where(mine, touched_low, -1)[standard.source]
    order = np.argsort(home, kind="stable")
    sorted_home = home[order]
    first = np.searchsorted(sorted_home, sorted_home, side="left")
    slot = np.empty(len(home), dtype=np.int64)
    slot[order] = np.arange(len(home)) - first
    local = (home >= 0) & (slot < MAX_SLOTS)
    slots = int(slot[local].max()) + 1 if np.any(local) else 0
    placed = np.empty(len(home), dtype=np.int64)
    placed[local] = home[local] * slots + slot[local]
    placed[~local] = blocks * slots + np.arange(int(np.sum(~local)))
    narrow = int(np.sum(~local))
    total = blocks * slots + narrow + len(_scalar_bounds(problem))
    return _Places(standard, placed, slots, blocks, blocks * slots + narrow, total)


def _assemble(
    problem: Separable,
    columns: Longs,
    free: Longs,
    block: Longs,
    matrix: sp.csc_array,
    places: _Places,
    rest: Floats,
) -> Form:
    """Scatter the rows to their places, and append the bounds of the scalars as narrow rows."""
    rows, standard, local = problem.rows, places.standard, places.blocks * places.slots
    low, high = problem.lower[columns], problem.upper[columns]
    flip = np.where(np.isfinite(low), 1.0, -1.0)
    shift = np.where(np.isfinite(low), low, high)
    rest[columns], rest[free] = shift, 0.0
    offset: Floats = np.zeros(rows.count)
    constant = problem.constant
    if np.any(rest):
        offset = rows.matrix @ rest
        constant += float(problem.cost @ rest + 0.5 * problem.quadratic @ (rest * rest))
    place = places.matrix(rows.count)
    a = place @ matrix @ sp.diags_array(flip) if np.any(flip < 0) else place @ matrix
    a = sp.csr_array(a)
    a.sort_indices()
    b = places.scatter(standard.bound - standard.sign * offset[standard.source], 0.0)
    kind = places.scatter(standard.kind, EMPTY).astype(np.int8)
    border = _border(problem, free, place)
    for row, (scalar, sense, bound) in enumerate(_scalar_bounds(problem), places.scalar_rows):
        border[row, scalar], b[row], kind[row] = sense, sense * bound, INEQUALITY
    return Form(
        problem=problem,
        columns=columns,
        ptr=np.searchsorted(block, np.arange(places.blocks + 1)).astype(np.int64),
        block=block,
        slots=places.slots,
        local=_local_coefficients(a, places.blocks, places.slots, len(columns)),
        matrix=a,
        transposed=sp.csr_array(a.T),
        narrow=sp.csc_array(a[local:]),
        border=border,
        b=b,
        kind=kind,
        weight=places.scatter(rows.weight[standard.source], 1.0),
        parameter=places.scatter(rows.parameter[standard.source], 2.0),
        source=places.scatter(standard.source, -1).astype(np.int64),
        sign=places.scatter(standard.sign, 1.0),
        c=flip * problem.cost[columns] + flip * problem.quadratic[columns] * shift,
        h=problem.quadratic[columns],
        u=np.where(flip > 0, high - low, np.inf),
        shift=shift,
        flip=flip,
        e=np.concatenate([problem.scalar_cost, problem.cost[free]]),
        border_h=np.concatenate([np.zeros(problem.scalars), problem.quadratic[free]]),
        free=free,
        constant=constant,
        rest=rest,
    )


def _border(problem: Separable, free: Longs, place: sp.csr_array) -> Floats:
    """E: the rows' coefficients of the shared scalars, then of the free entries."""
    shared = place @ problem.rows.scalar_matrix
    if not len(free):
        return np.asarray(shared, dtype=np.float64)
    return np.hstack([shared, (place @ problem.rows.matrix[:, free]).toarray()])


def _scalar_bounds(problem: Separable) -> list[tuple[int, float, float]]:
    """(scalar, sense, bound) of every finite bound of a shared scalar."""
    found = []
    for k in range(problem.scalars):
        if np.isfinite(problem.scalar_upper[k]):
            found.append((k, 1.0, float(problem.scalar_upper[k])))
        if np.isfinite(problem.scalar_lower[k]):
            found.append((k, -1.0, float(problem.scalar_lower[k])))
    return found


def _local_coefficients(a: sp.csr_array, blocks: int, slots: int, n: int) -> Floats:
    out = np.zeros((slots, n))
    part = a[: blocks * slots].tocoo()
    out[part.row % max(slots, 1), part.col] = part.data
    return out
