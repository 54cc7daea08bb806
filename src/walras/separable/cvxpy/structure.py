"""What becomes of each row and column of a canonicalised cvxpy problem, decided once per problem.

Columns (flattened variables) become entries or shared scalars; rows become constraint rows, utility
rows, bounds of one entry, or a quadratic cost of one entry. Nothing here depends on the values of
parameters, only on where coefficients can be nonzero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from walras.separable.cvxpy import leaves
from walras.separable.cvxpy.affine import Pattern
from walras.separable.form import Side, Utility
from walras.separable.grouping import RowBlock, Split, split
from walras.types import Bools, Floats, Ints, Longs

# More shared scalars than this are ordinary entries that belong to nobody.
MOST_SCALARS = 64


@dataclass(frozen=True, eq=False)
class Stacked:
    """A run of rows of the stack and where it comes from.

    Attributes:
        name: The user's word for it.
        start: First row in the stack.
        stop: One past the last.
        side: Side the user put it on, or None.
        is_equality: Whether the rows must vanish (else be <= 0).
        utility: Kind of utility its rows carry, or None for constraint and epigraph rows.
        is_constraint: Whether the user stated it as a constraint.
        epigraph: Id of the placeholder whose epigraph the rows describe, or None.
    """

    name: str
    start: int
    stop: int
    side: Side | None = None
    is_equality: bool = False
    utility: Utility | None = None
    is_constraint: bool = False
    epigraph: int | None = None


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of the stack: flattened variables and placeholders.

    Attributes:
        variable: (columns,) number of the variable a column belongs to.
        is_real: (columns,) False for placeholders of smooth atoms, which only carry weights.
        may_share: (columns,) True where a column may become a shared scalar.
        axes: (columns, 2) key of a matrix variable's row and of its column index, -1 if none.
    """

    variable: Longs
    is_real: Bools
    may_share: Bools
    axes: Longs


@dataclass(frozen=True, eq=False)
class Structure:
    """Roles of rows and columns.

    Attributes:
        split: Owners of the candidates for entries, and what was found.
        entries: Columns that become entries, demand by demand.
        scalars: Columns that become shared scalars.
        resource: (entries,) owner.
        demand: (entries,) owner.
        kept: Rows of the stack that stay rows, in the order of the form.
        side: (kept,) values of Side.
        owner: (kept,) owner, -1 on coupled rows.
        bounds: Rows of the stack that bound a single column.
        squares: Rows of the stack that are a quadratic cost of one entry.
        constant: Rows of the stack without variables.
    """

    split: Split
    entries: Longs
    scalars: Longs
    resource: Ints
    demand: Ints
    kept: Longs
    side: npt.NDArray[np.int8]
    owner: Ints
    bounds: Longs
    squares: Longs
    constant: Longs


def structure(
    pattern: Pattern, values: Floats, blocks: Sequence[Stacked], columns: Columns
) -> Structure:
    """Decide what every row and column becomes.

    Args:
        pattern: Where coefficients can be nonzero.
        values: Coefficients at the present parameters; only those of fixed ones are used.
        blocks: All rows but the objective's, in order.
        columns: All columns.
    """
    rows = _Rows(pattern, values, blocks)
    shareable = columns.may_share & columns.is_real
    own = np.flatnonzero(columns.is_real & ~shareable)
    found = _split(rows, blocks, columns, own)
    resource = np.full(pattern.columns, -1, np.int32)
    demand = np.full(pattern.columns, -1, np.int32)
    resource[own], demand[own] = found.resource, found.demand
    is_scalar = _share(rows, np.flatnonzero(shareable), resource, demand)
    # A square of a shared scalar stays a utility row: scalars carry no quadratic cost.
    squares = rows.squares[~is_scalar[rows.only_column(rows.squares)]]
    kept = np.setdiff1d(rows.candidates, squares)
    side, owner = _own(rows, blocks, kept, resource, demand, is_scalar)
    entries = np.flatnonzero(columns.is_real & ~is_scalar)
    last = np.iinfo(np.int32).max
    order = np.lexsort(
        (
            np.where(resource[entries] < 0, last, resource[entries]),
            np.where(demand[entries] < 0, last, demand[entries]),
        )
    )
    entries = entries[order]
    return Structure(
        split=found,
        entries=entries,
        scalars=np.flatnonzero(is_scalar),
        resource=resource[entries],
        demand=demand[entries],
        kept=kept,
        side=side,
        owner=owner,
        bounds=rows.bounds,
        squares=squares,
        constant=rows.constant,
    )


class _Rows:
    """The stack's rows as lists of columns, and what each could become."""

    def __init__(self, pattern: Pattern, values: Floats, blocks: Sequence[Stacked]) -> None:
        linear = np.flatnonzero(pattern.column < pattern.columns)
        order = linear[np.lexsort((pattern.column[linear], pattern.row[linear]))]
        self.column = pattern.column[order]
        self.count = np.bincount(pattern.row[order], minlength=pattern.rows)
        self.start = np.concatenate([[0], np.cumsum(self.count)])
        firm = pattern.fixed[order] & (values[order] != 0)
        is_utility = np.zeros(pattern.rows, bool)
        is_quadratic = np.zeros(pattern.rows, bool)
        is_block = np.zeros(pattern.rows, bool)
        for block in blocks:
            is_block[block.start : block.stop] = True
            is_utility[block.start : block.stop] = block.utility is not None
            is_quadratic[block.start : block.stop] = block.utility is Utility.QUADRATIC
        single = np.flatnonzero(is_block & (self.count == 1))
        self.bounds = single[~is_utility[single] & firm[self.start[single]]]
        self.squares = single[is_quadratic[single]]
        self.constant = np.flatnonzero(is_block & (self.count == 0))
        stays = is_block & (self.count > 0)
        stays[self.bounds] = False
        self.candidates = np.flatnonzero(stays)

    def only_column(self, rows: Longs) -> Longs:
        """The single column of each of these rows."""
        found: Longs = self.column[self.start[rows]]
        return found

    def lists(self, rows: Longs) -> tuple[Longs, Longs]:
        """Starts and columns of the chosen rows."""
        count = self.count[rows]
        start = np.concatenate([[0], np.cumsum(count)])
        flat = np.repeat(self.start[rows] - start[:-1], count) + np.arange(start[-1])
        return start, self.column[flat]


def _split(rows: _Rows, blocks: Sequence[Stacked], columns: Columns, own: Longs) -> Split:
    """Groups from all rows that stay rows, over the columns that are surely entries."""
    place = np.full(len(columns.is_real), -1, dtype=np.int64)
    place[own] = np.arange(len(own))
    start, column = rows.lists(rows.candidates)
    entries = place[column]
    inside = np.concatenate([[0], np.cumsum(entries >= 0)])[start]  # entries before each row
    length = np.diff(inside)
    column, entries = column[entries >= 0], entries[entries >= 0]
    some = length > 0
    hints = _hints(columns.axes[column], inside[:-1], some)
    edges = np.append(inside[:-1][some], inside[-1])  # of the rows with entries
    filled = np.concatenate([[0], np.cumsum(some)])  # rows with entries before each row
    missed = np.concatenate([np.zeros((1, 2), int), np.cumsum(~hints, axis=0)])
    ends = np.searchsorted(rows.candidates, [(block.start, block.stop) for block in blocks])
    low, high = ends.reshape(-1, 2).T
    constraints: list[RowBlock] = []
    others: list[RowBlock] = []
    along = missed[low] == missed[high]
    for block, first, last, axes in zip(blocks, filled[low], filled[high], along, strict=True):
        if first == last:
            continue
        start = edges[first : last + 1]
        held = entries[start[0] : start[-1]]
        found = RowBlock(block.name, start - start[0], held, block.side, _hint(*axes))
        (constraints if block.is_constraint else others).append(found)
    return split(len(own), constraints, others)


def _hints(axes: Longs, first: Longs, some: Bools) -> Bools:
    """(rows, 2) whether a row's entries lie in a matrix variable and share its row, its column.

    Args:
        axes: (entries, 2) row and column of each entry in its variable, -1 outside a matrix.
        first: (rows,) place of each row's first entry.
        some: (rows,) True on rows that have one; the others say nothing against either.
    """
    found = np.ones((len(first), 2), dtype=bool)
    if np.any(some):
        low, high = (f.reduceat(axes, first[some]) for f in (np.minimum, np.maximum))
        found[some] = (low == high) & (low[:, :1] >= 0)
    return found


def _hint(in_row: bool, in_column: bool) -> Side | None:
    """RESOURCE if each row stays in one row of a matrix variable, DEMAND if in one column."""
    if in_row == in_column:
        return None
    return Side.RESOURCE if in_row else Side.DEMAND


def _share(rows: _Rows, shareable: Longs, resource: Ints, demand: Ints) -> Bools:
    """Which shareable columns are shared scalars; the others get their owners.

    A column whose rows all lie in one demand (or one resource) is an entry of that owner.
    """
    start, column = rows.lists(rows.candidates)
    row = np.repeat(np.arange(len(rows.candidates)), np.diff(start))
    is_scalar = np.zeros(len(resource), bool)
    touches = np.isin(column, shareable)
    homes = {}
    for name, owner in (("resource", resource), ("demand", demand)):
        low, high = _extent(owner[column], start)
        homes[name] = np.where(low == high, high, np.where(high < 0, -1, -2))
    order = np.argsort(column[touches], kind="stable")
    by_column, by_row = column[touches][order], row[touches][order]
    for k in shareable:
        low, high = np.searchsorted(by_column, [k, k + 1])
        if low == high:
            continue
        for name, owner in (("resource", resource), ("demand", demand)):
            home = homes[name][by_row[low:high]]
            home = home[home != -1]
            if len(home) and np.all(home == home[0]) and home[0] >= 0:
                owner[k] = home[0]
        is_scalar[k] = resource[k] < 0 and demand[k] < 0
    if np.sum(is_scalar) > MOST_SCALARS:
        is_scalar[:] = False
    return is_scalar


def _extent(owner: Ints, start: Longs) -> tuple[Ints, Ints]:
    """Lowest and highest owner among each row's columns, those without one left out."""
    high = np.maximum.reduceat(owner, start[:-1])
    low = np.minimum.reduceat(np.where(owner < 0, np.iinfo(np.int32).max, owner), start[:-1])
    return low, high


def _own(
    rows: _Rows,
    blocks: Sequence[Stacked],
    kept: Longs,
    resource: Ints,
    demand: Ints,
    is_scalar: Bools,
) -> tuple[npt.NDArray[np.int8], Ints]:
    """Side and owner of every kept row: all its entries must have that owner."""
    start, column = rows.lists(kept)
    homes = {}
    for name, owner in ((Side.RESOURCE, resource), (Side.DEMAND, demand)):
        present = np.where(is_scalar[column], -1, owner[column])
        _, high = _extent(present, start)
        # Entries without that owner rule it out; scalars belong to no side and do not.
        barred = np.where(is_scalar[column], np.iinfo(np.int32).max, owner[column])
        lowest = np.minimum.reduceat(barred, start[:-1])
        homes[name] = np.where((lowest == high) & (high >= 0), high, -1).astype(np.int32)
    said = np.zeros(len(rows.count), dtype=bool)  # to be a resource's
    for block in blocks:
        said[block.start : block.stop] = block.side is Side.RESOURCE
    prefers = said[kept]
    either = homes[Side.RESOURCE] >= 0, homes[Side.DEMAND] >= 0
    is_resource = np.where(prefers, either[0], either[0] & ~either[1])
    is_demand = either[1] & ~is_resource
    side = np.select([is_resource, is_demand], [Side.RESOURCE, Side.DEMAND], Side.COUPLED)
    owner = np.where(is_resource, homes[Side.RESOURCE], homes[Side.DEMAND])
    return side.astype(np.int8), owner


def columns_of(variables: Sequence[Any], smooth: set[int], extremes: set[int]) -> Columns:
    """Describe the flattened variables.

    Args:
        variables: cvxpy variables in the order of the stack, placeholders among them.
        smooth: Ids of placeholders of smooth atoms.
        extremes: Ids of epigraph variables.
    """
    variable: list[Longs] = []
    axes: list[Longs] = []
    users = [v for v in variables if v.id not in smooth and v.id not in extremes]
    all_small = all(v.size == 1 for v in users)
    lines = 0
    for k, v in enumerate(variables):
        variable.append(np.full(v.size, k, dtype=np.int64))
        keys = np.full((v.size, 2), -1, dtype=np.int64)
        if len(v.shape) == 2 and min(v.shape) > 1 and v.id not in extremes:
            flat = np.arange(v.size)
            keys[:, 0] = lines + flat % v.shape[0]
            keys[:, 1] = flat // v.shape[0]
            lines += v.shape[0]
        axes.append(keys)
    flat_variable = np.concatenate(variable)
    is_smooth = np.array([v.id in smooth for v in variables])
    # Shared scalars are continuous: a whole number is an entry, be it on its own.
    may_share = np.array(
        [
            v.id in extremes or (v.size == 1 and not all_small and not np.any(leaves.whole(v)))
            for v in variables
        ]
    )
    return Columns(
        flat_variable, ~is_smooth[flat_variable], may_share[flat_variable], np.concatenate(axes)
    )
