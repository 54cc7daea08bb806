"""Which resource and which demand owns an entry, found from the pattern of the rows.

Rows of one side that share an entry must sit in one group of that side (union-find), so a side is
a partition of the entries in which no row spans two groups. A few rows that would glue many groups
together (a quota, a budget) are better kept apart as *coupled* rows.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from walras.separable.form import Side
from walras.types import Bools, Ints, Longs

# Coupled rows cost an engine one dense column each; past this many, groups are merged instead.
MOST_COUPLED = 100


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Rows that came from one constraint or one atom, as lists of entries.

    Attributes:
        name: The user's word for them.
        start: (rows + 1,) where each row's entries begin in ``entries``; no row is empty.
        entries: Entries of all rows, row by row.
        side: Which side the user put it on, or None when that is to be found.
        hint: The side its rows fit by the axes of the user's matrix variables, or None.
    """

    name: str
    start: Longs
    entries: Longs
    side: Side | None = None
    hint: Side | None = None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.start) - 1


class Groups:
    """Disjoint groups of entries, grown block by block.

    Attributes:
        label: (entries,) group of each entry before merges, -1 if none; see :meth:`owners`.
    """

    def __init__(self, entries: int) -> None:
        self.label = np.full(entries, -1, dtype=np.int64)
        self._parent = np.zeros(0, dtype=np.int64)
        self._absorbed: list[tuple[RowBlock, Bools]] = []

    @property
    def is_empty(self) -> bool:
        """Whether no entry has a group yet."""
        return len(self._parent) == 0

    def of(self, entries: Longs) -> Longs:
        """Present group of each entry, -1 if none."""
        label = self.label[entries]
        if self.is_empty:
            return label
        return np.where(label >= 0, self._parent[label], -1)

    def spans(self, block: RowBlock) -> Longs:
        """(rows,) how many groups each row touches: 0, 1, or 2 for two and more."""
        group = self.of(block.entries)
        at = block.start[:-1]
        low = np.minimum.reduceat(np.where(group < 0, np.iinfo(np.int64).max, group), at)
        high = np.maximum.reduceat(group, at)
        return np.where(high < 0, 0, np.where(low < high, 2, 1))

    def absorb(self, block: RowBlock, chosen: Bools) -> None:
        """Put all entries of each chosen row into one group, merging groups as needed."""
        if not np.any(chosen):
            return
        self._absorbed.append((block, chosen))
        row = np.repeat(np.arange(block.rows), np.diff(block.start))
        kept = chosen[row]
        row, entries = row[kept], block.entries[kept]
        group = self.of(entries)
        if np.all(group < 0) and self._open(row, entries):
            return
        if np.all(group >= 0) and np.all(self.spans(block)[chosen] == 1):
            return
        self._merge(block.rows, row, entries, group)

    def open_all(self, blocks: Sequence[RowBlock]) -> bool:
        """Make each row of several blocks a new group at once.

        Returns:
            False, and nothing is done, where rows share an entry or an entry has a group.
        """
        entries = np.concatenate([block.entries for block in blocks])
        length = np.concatenate([np.diff(block.start) for block in blocks])
        row = np.repeat(np.arange(len(length)), length)
        if np.any(self.of(entries) >= 0) or not self._open(row, entries):
            return False
        self._absorbed += [(block, np.ones(block.rows, bool)) for block in blocks]
        return True

    def _open(self, row: Longs, entries: Longs) -> bool:
        """Make each row a new group, if no two rows share an entry."""
        order = np.unique(row, return_inverse=True)[1]
        self.label[entries] = len(self._parent) + order
        if np.any(self.label[entries] != len(self._parent) + order):
            self.label[entries] = -1
            return False
        fresh = np.arange(len(self._parent), len(self._parent) + int(order[-1]) + 1)
        self._parent = np.concatenate([self._parent, fresh])
        return True

    def _merge(self, rows: int, row: Longs, entries: Longs, group: Longs) -> None:
        """Union-find over rows, groups and entries without one, as connected components."""
        fresh = np.unique(entries[group < 0])
        # Nodes: the rows, then the groups there are, then the entries without one.
        first_group, first_entry = rows, rows + len(self._parent)
        token = np.where(
            group >= 0, first_group + group, first_entry + np.searchsorted(fresh, entries)
        )
        count = first_entry + len(fresh)
        links = sp.coo_array((np.ones(len(row), np.int8), (row, token)), shape=(count, count))
        components, component = connected_components(links, directed=False)
        # A component keeps its lowest group, or becomes a new one.
        root = np.full(components, -1, dtype=np.int64)
        groups = np.unique(self._parent)
        root[component[first_group + groups[::-1]]] = groups[::-1]
        new = np.unique(component[first_entry:])
        new = new[root[new] < 0]
        root[new] = len(self._parent) + np.arange(len(new))
        merged = root[component[first_group + self._parent]]
        self._parent = np.concatenate([merged, root[new]])
        self.label[fresh] = root[component[first_entry:]]

    def tied(self, side: Side) -> Counter[tuple[str, ...]]:
        """Names of the blocks that overlap into one group, and how many groups they make so.

        These are the groups of which no row holds all entries: chains of rows that share some.
        Blocks whose axes say that all their rows are of this side make no such group.
        """
        group = self.of(np.arange(len(self.label)))
        size = np.bincount(group[group >= 0], minlength=len(self._parent))
        loose = size > 0
        if self._absorbed:
            heads = [block.entries[block.start[:-1][chosen]] for block, chosen in self._absorbed]
            lengths = [np.diff(block.start)[chosen] for block, chosen in self._absorbed]
            home = self.of(np.concatenate(heads))
            loose[home[np.concatenate(lengths) >= size[home]]] = False
        names: dict[int, dict[str, bool]] = {}
        for block, chosen in self._absorbed if np.any(loose) else ():
            home = self._home(block, chosen)
            for label in np.unique(home[loose[home]]).tolist():
                names.setdefault(label, {})[block.name] = block.hint is side
        return Counter(tuple(known) for known in names.values() if not all(known.values()))

    def _home(self, block: RowBlock, chosen: Bools) -> Longs:
        """Present group of each chosen row."""
        return self.of(block.entries[block.start[:-1][chosen]])

    def owners(self) -> tuple[Ints, int]:
        """(entries,) groups numbered by their first entry, -1 if none; and their number."""
        group = self.of(np.arange(len(self.label)))
        covered = np.flatnonzero(group >= 0)
        names, first, place = np.unique(group[covered], return_index=True, return_inverse=True)
        rank = np.empty(len(names), dtype=np.int32)
        rank[np.argsort(first)] = np.arange(len(names), dtype=np.int32)
        owner = np.full(len(group), -1, dtype=np.int32)
        owner[covered] = rank[place]
        return owner, len(names)


@dataclass(frozen=True, eq=False)
class Split:
    """The partition of the entries, and what was found on the way.

    Attributes:
        resource: (entries,) owning resource, -1 if none.
        demand: (entries,) owning demand, -1 if none.
        resources: Number of resource groups.
        demands: Number of demand groups.
        coupled: Names of the blocks with coupled rows, and how many rows and groups they couple.
        merged: Names of the blocks that merged groups, and how many rows they have.
        misplaced: Name and right side of blocks that fit only the side they were not put on.
        tied: Names of blocks whose rows overlap into one group, its side, how many such groups.
    """

    resource: Ints
    demand: Ints
    resources: int
    demands: int
    coupled: tuple[tuple[str, int, int], ...]
    merged: tuple[tuple[str, int], ...]
    misplaced: tuple[tuple[str, Side], ...]
    tied: tuple[tuple[tuple[str, ...], Side, int], ...] = ()


_Order = Callable[[RowBlock], float]


@dataclass
class _Sides:
    groups: dict[Side, Groups]
    coupled: list[tuple[str, int, int]] = field(default_factory=list)
    merged: list[tuple[str, int]] = field(default_factory=list)
    misplaced: list[tuple[str, Side]] = field(default_factory=list)
    hinted: bool = False


def split(entries: int, constraints: Sequence[RowBlock], others: Sequence[RowBlock]) -> Split:
    """Partition the entries into resources and demands.

    Blocks are taken one by one. Each goes to the side the user put it on, else to the one its
    matrix axes suggest, else to the first on which no row of it spans two groups. Rows that span
    several groups everywhere become coupled rows while these are few, else they merge groups of
    the side that keeps more of them. Where neither the user nor the axes decide, blocks are tried
    with short rows first and with large blocks first, and the split with fewer spanning rows wins.

    Args:
        entries: Number of entries.
        constraints: Blocks of constraint rows.
        others: Blocks of utility and epigraph rows; they follow the constraints' groups.
    """
    orders = [_by_row_length]
    if any(block.side is None and block.hint is None for block in constraints):
        orders.append(_by_size)
    found = [_split_in_order(entries, constraints, others, order) for order in orders]
    return min(found, key=_badness)


def _split_in_order(
    entries: int, constraints: Sequence[RowBlock], others: Sequence[RowBlock], order: _Order
) -> Split:
    sides = _Sides({Side.RESOURCE: Groups(entries), Side.DEMAND: Groups(entries)})
    for blocks in (constraints, others):
        waiting: list[tuple[RowBlock, Bools]] = []
        for fits, run in groupby(_ordered(blocks, order), _likely):
            alike = list(run)
            if fits is not None and len(alike) > 1 and sides.groups[fits].open_all(alike):
                sides.hinted |= any(block.side is None for block in alike)
                continue
            for block in alike:
                _place(sides, block, waiting)
        _couple_or_merge(sides, waiting)
    resource, resources = sides.groups[Side.RESOURCE].owners()
    demand, demands = sides.groups[Side.DEMAND].owners()
    labelled = any(block.side is not None for block in constraints)
    is_turned = not labelled and not sides.hinted and resources > demands
    if is_turned:
        # Nothing tells the sides apart: the fewer are called resources.
        resource, resources, demand, demands = demand, demands, resource, resources
    return Split(
        resource,
        demand,
        resources,
        demands,
        tuple(sides.coupled),
        tuple(sides.merged),
        tuple(sides.misplaced),
        tuple(
            (names, _other(side) if is_turned else side, count)
            for side, groups in sides.groups.items()
            for names, count in groups.tied(side).items()
        ),
    )


def _badness(found: Split) -> tuple[int, int]:
    """Fewest rows that span groups, then most groups."""
    spanning = sum(rows for _, rows, _ in found.coupled) + sum(rows for _, rows in found.merged)
    return spanning, -max(found.resources, 1) * max(found.demands, 1)


def _by_row_length(block: RowBlock) -> float:
    return len(block.entries) / block.rows


def _by_size(block: RowBlock) -> float:
    return -float(len(block.entries))


def _ordered(blocks: Sequence[RowBlock], order: _Order) -> list[RowBlock]:
    """Blocks in an order; last those on the other side than their axes suggest.

    Blocks that nothing assigns to a side follow those that their axes do. Which axis is a
    resource's is the author's choice, so what most rows do counts as right.
    """
    hinted = [b for b in blocks if b.side is not None and b.hint is not None]
    along = sum(b.rows for b in hinted if b.side is b.hint)
    is_along = 2 * along >= sum(b.rows for b in hinted)

    def key(block: RowBlock) -> tuple[bool, bool, float]:
        is_hinted = block.side is not None and block.hint is not None
        is_odd = is_hinted and (block.side is block.hint) != is_along
        is_loose = block.side is None and block.hint is None
        return is_odd, is_loose, order(block)

    return sorted((block for block in blocks if block.rows), key=key)


def _likely(block: RowBlock) -> Side | None:
    """The side that takes a block if none of its rows spans two groups there."""
    return block.hint if block.side is None else block.side


def _place(sides: _Sides, block: RowBlock, waiting: list[tuple[RowBlock, Bools]]) -> None:
    """Let a block's rows grow the groups of one side; rows that span two wait."""
    options = [block.side] if block.side is not None else _preference(sides, block)
    spans = {side: sides.groups[side].spans(block) for side in options}
    best = min(options, key=lambda side: int(np.sum(spans[side] > 1)))
    fits = spans[best] <= 1
    sides.groups[best].absorb(block, fits)
    sides.hinted = sides.hinted or (block.side is None and block.hint is not None)
    if not np.all(fits):
        waiting.append((block, ~fits))


def _preference(sides: _Sides, block: RowBlock) -> list[Side]:
    if block.hint is not None:
        other = Side.DEMAND if block.hint is Side.RESOURCE else Side.RESOURCE
        return [block.hint, other]
    # Prefer the side on which every row lies within a group that is already there.
    both = [Side.DEMAND, Side.RESOURCE]
    return sorted(both, key=lambda side: not np.all(sides.groups[side].spans(block) == 1))


def _couple_or_merge(sides: _Sides, waiting: list[tuple[RowBlock, Bools]]) -> None:
    rows = sum(int(np.sum(spanning)) for _, spanning in waiting)
    for block, spanning in waiting:
        if block.side is not None and _fits_elsewhere(sides, block, block.side):
            sides.misplaced.append((block.name, _other(block.side)))
        glued = {side: _glued(groups, block, spanning) for side, groups in sides.groups.items()}
        if rows <= MOST_COUPLED:
            sides.coupled.append((block.name, int(np.sum(spanning)), min(glued.values())))
            continue
        side = block.side if block.side is not None else _roomier(sides, block, spanning)
        sides.groups[side].absorb(block, spanning)
        sides.merged.append((block.name, int(np.sum(spanning))))


def _roomier(sides: _Sides, block: RowBlock, spanning: Bools) -> Side:
    """The side that keeps more groups when these rows merge some of its own."""
    left: dict[Side, int] = {}
    for side, groups in sides.groups.items():
        trial = copy.deepcopy(groups)
        trial.absorb(block, spanning)
        left[side] = trial.owners()[1]
    return max(left, key=lambda side: left[side])


def _fits_elsewhere(sides: _Sides, block: RowBlock, side: Side) -> bool:
    """Whether each row spans groups on its own side yet lies in one group of the other."""
    own, other = sides.groups[side], sides.groups[_other(side)]
    return bool(np.all(own.spans(block) == 2) and np.all(other.spans(block) == 1))


def _other(side: Side) -> Side:
    return Side.DEMAND if side is Side.RESOURCE else Side.RESOURCE


def _glued(groups: Groups, block: RowBlock, spanning: Bools) -> int:
    """How many groups the spanning rows of a block touch in all."""
    row = np.repeat(np.arange(block.rows), np.diff(block.start))
    group = groups.of(block.entries[spanning[row]])
    return len(np.unique(group[group >= 0]))
