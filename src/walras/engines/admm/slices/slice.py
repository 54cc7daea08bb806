"""Cut the demands into slices of about equal work."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from walras.engines.admm.entries import Entries
from walras.engines.admm.form import Form, RowData
from walras.engines.admm.slices.row_classification import RowClassification
from walras.engines.admm.tree_reduction import added, leaves_of
from walras.types import Floats, Longs

# groups, entries, copies; the arrays' indices of the first two
Leaf = tuple[slice, slice, slice, slice, slice]


@dataclass(frozen=True, eq=False)
class Slice:
    """A run of groups with all their copies: the complete data of its holder.

    Attributes:
        entries: Its entries.
        groups: Its rows.
        narrow: Number of narrow rows that its copies name: the shared rows, its own rows and the
            empty row.
        own: Its own narrow rows.
        own_ptr: (groups + 1,) first own row of each group.
        x: (n,) first values of its entries.
        price: (groups, K) first prices of its rows.
        own_price: (own,) first prices of its own narrow rows.
        run: Its leaves (:mod:`.tree_reduction`).
        edges: (leaves + 1,) first group of each leaf, and the end.
        roles: Classification of its rows for proofs; None if slices do not make them.
    """

    entries: Entries
    groups: RowData
    narrow: int
    own: RowData
    own_ptr: Longs
    x: Floats
    price: Floats
    own_price: Floats
    run: range
    edges: tuple[int, ...]
    roles: RowClassification | None = None


class Leaves:
    """The leaves of a slice.

    Attributes:
        whole: All leaves as one.
    """

    def __init__(self, data: Slice) -> None:
        self.whole = _leaf(data, 0, data.edges[-1])
        self._each = [_leaf(data, a, b) for a, b in pairwise(data.edges)]
        self._numbers = [(0, k) for k in data.run]

    def sums(self, work: Callable[[Leaf], Floats]) -> Floats:
        """The sums of the largest subtrees of leaves, computed leaf by leaf."""
        return self.added(work(leaf) for leaf in self._each)

    def added(self, sums: Iterable[Floats]) -> Floats:
        """The sums of the largest subtrees of leaves, from the sums of the leaves."""
        return np.array([total for _, total in added(self._numbers, sums)])


def _leaf(data: Slice, first: int, last: int) -> Leaf:
    """The leaf between two groups: its entries and copies, and their first and last indices."""
    ptr, copy = data.entries.ptr, data.entries.copies
    low, high = int(ptr[first]), int(ptr[last])
    return (
        slice(first, last),
        slice(low, high),
        slice(int(copy[low]), int(copy[high])),
        slice(first, last + 1),
        slice(low, high + 1),
    )


def cut(
    form: Form,
    count: int,
    x: Floats,
    price: Floats,
    roles: RowClassification | None = None,
    own_price: Floats | None = None,
) -> tuple[Slice, ...]:
    """Cut the demands into at most ``count`` slices with about equal numbers of entries and copies.

    Args:
        form: The split problem.
        count: Largest number of slices.
        x: (entries,) first values of the form's entries, in its order.
        price: (groups, K) first prices of its groups' rows.
        roles: Classification of its rows for proofs by slices.
        own_price: (own,) first prices of the own narrow rows; None: zero.
    """
    ptr = form.entries.ptr
    load = ptr + form.entries.copies[ptr]
    count = min(count, len(ptr) - 1)
    leaves = leaves_of(int(load[-1]), count)
    inner = np.searchsorted(load, np.linspace(0, load[-1], leaves + 1)[1:-1])
    edges = [0, *inner.tolist(), len(ptr) - 1]
    held = [leaves * k // count for k in range(count + 1)]
    of_own = np.zeros(len(form.own.source)) if own_price is None else own_price
    return tuple(
        _slice(form, edges, range(*run), x, price, of_own, roles) for run in pairwise(held)
    )


def parts(whole: Slice, count: int) -> list[tuple[Slice, slice, slice]]:
    """Runs of the leaves of a slice, with the groups and the entries of each.

    The slice has no narrow rows of its own. The parts' sums are those of the whole, bit by bit,
    since they have its leaves.

    Args:
        whole: The slice.
        count: Largest number of parts.
    """
    found, leaves = [], len(whole.run)
    count = min(count, leaves)
    for first, last in pairwise(leaves * k // count for k in range(count + 1)):
        a, b = whole.edges[first], whole.edges[last]
        groups = slice(a, b)
        entries = slice(int(whole.entries.ptr[a]), int(whole.entries.ptr[b]))
        part = replace(
            whole,
            entries=whole.entries.part(a, b),
            groups=whole.groups.part(groups),
            own_ptr=whole.own_ptr[a : b + 1],
            x=whole.x[entries],
            price=whole.price[groups],
            run=whole.run[first:last],
            edges=tuple(edge - a for edge in whole.edges[first : last + 1]),
            roles=whole.roles.part(groups, entries) if whole.roles else None,
        )
        found.append((part, groups, entries))
    return found


def _slice(
    form: Form,
    edges: list[int],
    run: range,
    x: Floats,
    price: Floats,
    own_price: Floats,
    roles: RowClassification | None,
) -> Slice:
    """The slice of a run of leaves; some leaves may be empty."""
    a, b = edges[run.start], edges[run.stop]
    ptr, own = form.entries.ptr, slice(int(form.own_ptr[a]), int(form.own_ptr[b]))
    return Slice(
        _with_own(form, form.entries.part(a, b), own),
        form.groups.part(slice(a, b)),
        len(form.narrow.lower) + own.stop - own.start,
        form.own.part(own),
        form.own_ptr[a : b + 1] - own.start,
        x[ptr[a] : ptr[b]],
        price[a:b],
        own_price[own],
        run,
        tuple(edge - a for edge in edges[run.start : run.stop + 1]),
        roles.part(slice(a, b), slice(int(ptr[a]), int(ptr[b]))) if roles else None,
    )


def _with_own(form: Form, entries: Entries, own: slice) -> Entries:
    """The entries of a slice; their copies name the shared rows and the slice's own rows."""
    if not len(form.own.source):
        return entries
    shared = len(form.narrow.lower) - 1
    row = entries.row.astype(np.int64)
    row = np.where(row < shared, row, np.minimum(row - own.start, shared + own.stop - own.start))
    return replace(entries, row=row.astype(entries.row.dtype))
