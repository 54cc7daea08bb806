"""Cutting the demands into slices of about equal work."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from walras.engines.admm.entries import Entries
from walras.engines.admm.form import Form, RowData
from walras.engines.admm.leaves import leaves_of

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Slice:
    """A run of groups with all their copies; all that a holder of it needs to know.

    Attributes:
        entries: Its entries.
        groups: Its rows.
        narrow: Number of narrow rows, with the one that asks for nothing.
        x: (n,) where its entries begin.
        price: (groups, K) where the prices of its rows begin.
        run: Its leaves (:mod:`.leaves`).
        edges: (leaves + 1,) groups between them.
    """

    entries: Entries
    groups: RowData
    narrow: int
    x: Floats
    price: Floats
    run: range
    edges: tuple[int, ...]


def cut(form: Form, count: int, x: Floats, price: Floats) -> tuple[Slice, ...]:
    """At most ``count`` slices with about equal numbers of entries and copies.

    Args:
        form: The split problem.
        count: Most slices.
        x: (entries,) where the form's entries begin, in its order.
        price: (groups, K) where the prices of its groups' rows begin.
    """
    ptr = form.entries.ptr
    load = ptr + form.entries.copies[ptr]
    count = min(count, len(ptr) - 1)
    leaves = leaves_of(int(load[-1]), count)
    inner = np.searchsorted(load, np.linspace(0, load[-1], leaves + 1)[1:-1])
    edges = [0, *inner.tolist(), len(ptr) - 1]
    held = [leaves * k // count for k in range(count + 1)]
    return tuple(_slice(form, edges, range(*run), x, price) for run in pairwise(held))


def _slice(form: Form, edges: list[int], run: range, x: Floats, price: Floats) -> Slice:
    """The groups of a run of leaves, of which some may be empty."""
    a, b = edges[run.start], edges[run.stop]
    ptr = form.entries.ptr
    return Slice(
        form.entries.part(a, b),
        form.groups.part(slice(a, b)),
        len(form.narrow.lower),
        x[ptr[a] : ptr[b]],
        price[a:b],
        run,
        tuple(edge - a for edge in edges[run.start : run.stop + 1]),
    )
