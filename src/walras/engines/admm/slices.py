"""Cutting the demands into slices of about equal work."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from walras.engines.admm.form import Entries, Form, RowData

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
    """

    entries: Entries
    groups: RowData
    narrow: int
    x: Floats
    price: Floats


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
    edges = np.searchsorted(load, np.linspace(0, load[-1], count + 1)[1:-1])
    edges = np.unique([0, *edges, len(ptr) - 1])
    return tuple(
        Slice(
            form.entries.part(int(a), int(b)),
            form.groups.part(slice(int(a), int(b))),
            len(form.narrow.lower),
            x[ptr[a] : ptr[b]],
            price[a:b],
        )
        for a, b in pairwise(edges)
    )
