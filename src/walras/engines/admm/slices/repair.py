"""A slice's contribution to a repair: its entries scaled by the remainders of their rows.

It follows :mod:`walras.engines.admm.proofs.balance` and :mod:`walras.certificate.repair`, on the
entries of some demands. The caller sums the use of the other rows over all slices, and returns the
remainders.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from walras.certificate.contribution import (
    excess,
    room,
    scalar_range,
    scale_down,
    share_factors,
    tight_errors,
)
from walras.certificate.repair import metric
from walras.engines.admm.form import RowData
from walras.engines.admm.passes import RepairPasses
from walras.engines.admm.private_rows import joined, parted
from walras.engines.admm.slices.block_normal_equations import Correction, Errors
from walras.engines.admm.slices.row_classification import RowClassification
from walras.engines.admm.slices.slice import Leaf, Leaves, Slice
from walras.kernels import consensus_copies
from walras.separable import Utility, utility
from walras.types import Bools, Floats, Longs

USED = 1e-9  # share of its demand's largest entry from which an entry counts as used
MOST_GROWTH = 2.0  # largest growth of an entry in one sweep
_TINY = np.finfo(float).tiny

T = TypeVar("T", bound=np.generic)


class Point(Protocol):
    """Where the iterates of a slice stand: its worker, or another who knows."""

    def entries(self) -> Floats:
        """(n,) the allocation."""
        ...

    def prices(self) -> Floats:
        """(groups, K) the prices of the slice's rows."""
        ...

    def own_prices(self) -> Floats:
        """(own,) the prices of the slice's own narrow rows."""
        ...


class Contribution:
    """A slice's contribution to a proof.

    Args:
        data: The slice.
        point: Who knows where the iterates stand.
    """

    def __init__(self, data: Slice, point: Point) -> None:
        self._data, self._point, self._leaves = data, point, Leaves(data)
        place = data.entries.place  # narrow row of each row that copies name
        self._place = np.arange(data.narrow, dtype=np.uint32) if place is None else place
        self._own = len(data.own.source)
        # index of the empty row among the rows that slices share
        self._last = data.narrow - 1 - self._own

    @property
    def _roles(self) -> RowClassification:
        if self._data.roles is None:
            raise ValueError("proofs of this problem are not made by slices")
        return self._data.roles

    def _joined(self, shared: Floats, own: Floats | float) -> Floats:
        """(narrow,) values of all rows of the slice, from those of the shared rows."""
        return joined(shared, np.broadcast_to(own, self._own))

    def _parted(self, sums: Floats) -> tuple[Floats, Floats]:
        """(subtrees, shared) sums over the rows that slices share, and (own,) over its own rows."""
        shared, own = parted(sums, self._own)
        return shared, np.asarray(np.sum(own, axis=0))

    def _spread(self, values: npt.NDArray[T]) -> npt.NDArray[T]:
        """(n,) the value of each entry's demand."""
        return np.repeat(values, np.diff(self._data.entries.ptr))


class Repair(Contribution, RepairPasses):
    """The allocation of a slice under repair, and the best one kept.

    Args:
        data: The slice.
        point: Who knows where the iterates stand.
    """

    def __init__(self, data: Slice, point: Point) -> None:
        super().__init__(data, point)
        self._x = self._best = np.zeros(0)
        self._used, self._ptr = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        self._load = np.zeros(data.groups.kind.shape)
        self._terms = np.zeros_like(self._load)
        self._own_load = self._own_terms = np.zeros(len(data.own.source))
        self._correction: Correction | None = None
        self._gains = np.zeros(0, dtype=bool)

    def begin(self, least: float) -> Floats:
        """Start from the iterate, clipped to its bounds; return its (narrow,) use of the rows.

        Args:
            least: Share of its demand's largest entry up to which an entry is dropped.
        """
        entries = self._data.entries
        x = np.nan_to_num(self._point.entries(), posinf=0.0, neginf=0.0)
        x = np.clip(x, entries.lower, entries.upper)
        if least > 0.0:
            top = np.maximum.reduceat(x, entries.ptr[:-1])
            x[x <= self._spread(least * top)] = 0.0
        self._x, self._correction = x, None
        self._find_used()
        return self._scaled(None, None)

    def _find_used(self) -> None:
        self._used = np.flatnonzero(self._x)
        self._ptr = np.searchsorted(self._used, self._data.entries.ptr)

    def equalise(self, t: float, others: Floats) -> Floats:
        """Bring every demand to its share of the scalar; return the (narrow,) use.

        Args:
            t: The scalar.
            others: (narrow,) factors that bring narrow rows to their shares; () if they have none.
        """
        own = evened(self._roles.cover, self._load, self._data.groups.shift, t)
        return self._scaled(own, others if len(others) else None)

    def fill(self, ratio: Floats) -> Floats:
        """Scale entries by the remainder of their scarcest row; return the (narrow,) use."""
        packing, upper = self._roles.packing, self._data.groups.upper
        own = room(packing & (self._load > 0), upper, self._load)
        return self._scaled(own, ratio, MOST_GROWTH)

    def seed_rows(self, rows: Floats) -> Floats:
        """Set every entry of some narrow rows to one; return the (narrow,) use."""
        entries = self._data.entries
        inside = np.empty(entries.count)
        consensus_copies.reduced(
            entries.copies,
            entries.row,
            self._place,
            entries.a,
            self._joined(rows, 0.0),
            np.zeros_like(inside),
            inside,
        )
        self._x[inside > 0] = 1.0
        self._find_used()
        return self._scaled(None, None)

    def scale_to_rows(self, ratio: Floats) -> Floats:
        """Scale down entries of rows over their bound, and scale shares to meet theirs."""
        own = scale_down(self._roles.packing, self._data.groups.upper, self._load)
        used = self._scaled(own, ratio)
        return self._shared_out() if np.any(self._roles.shares) else used

    def _shared_out(self) -> Floats:
        """The entries of each share row, scaled to meet it; equal if all are zero."""
        rows, shares = self._data.groups, self._roles.shares
        empty = shares & (self._load == 0)
        if np.any(empty):
            for k in np.flatnonzero(np.any(empty, axis=0)):
                self._x[self._spread(empty[:, k]) & (self._data.entries.local[k] > 0)] = 1.0
            self._find_used()
            self._scaled(None, None)
        own = share_factors(shares, empty, self._load, rows.lower, rows.upper)
        return self._scaled(own, None)

    def scalar_range(self) -> Floats:
        """The least and the largest scalar that the slice's rows allow."""
        rows = self._data.groups
        held = rows.shift != 0
        return scalar_range(rows.shift[held], rows.lower[held], rows.upper[held], self._load[held])

    def terms(self) -> Floats:
        """(narrow,) sum of the absolute terms of each row."""
        entries, size = self._data.entries, np.abs(self._x)
        starts = entries.ptr[:-1]
        for k, column in enumerate(entries.local):
            self._terms[:, k] = np.add.reduceat(np.abs(column) * size, starts)
        a = np.abs(entries.a)

        def sums(leaf: Leaf) -> Floats:
            _, q, _, _, places = leaf
            out = np.zeros(self._data.narrow)
            consensus_copies.activities(
                entries.copies[places], entries.row, self._place, a, size[q], out
            )
            return out

        found, self._own_terms = self._parted(self._leaves.sums(sums))
        return found

    def violation(self, t: float) -> Floats:
        """The largest violation of a row of the demands, relative to its terms and bounds."""
        of = (
            violations(self._data.groups, self._load, self._sizes(), t),
            violations(self._data.own, self._own_load, self._own_terms, t),
        )
        far = [np.max(np.maximum(over, 0.0) / size, initial=0.0) for over, size in of]
        return np.array([max(far)])

    def _sizes(self) -> Floats:
        """The sums of the rows if no two terms have different signs, else :meth:`terms`."""
        return self._terms if self._roles.corrected else np.abs(self._load)

    def correction_system(self, tight: Longs, t: float, attempt: float) -> Floats:
        """The equations of some narrow rows in a correction (:mod:`.block_normal_equations`)."""
        entries, rows, data = self._data.entries, self._data.groups, self._data
        readily = metric(self._x, entries.lower, entries.upper, int(attempt))
        of_rows = Errors(
            *errors(rows, self._load, self._terms, t),
            *errors(data.own, self._own_load, self._own_terms, t),
            data.own_ptr,
            self._last,
        )
        place = np.full(self._data.narrow, -1)
        place[tight] = np.arange(len(tight))
        self._correction = Correction(
            entries,
            np.array(self._data.edges),
            readily,
            place[self._place],
            len(tight),
            of_rows,
            lenient=attempt == 1,
        )
        return self._leaves.added(self._correction.systems())

    def correct(self, y: Floats) -> Floats:
        """Correct the entries by the solution of the equations; return the (narrow,) use."""
        entries = self._data.entries
        if self._correction:
            self._correction.move(self._x, y)
            self._correction = None
        np.clip(self._x, entries.lower, entries.upper, out=self._x)
        self._find_used()
        return self._scaled(None, None)

    def value(self) -> Floats:
        """The value of the allocation, and the size of its terms."""
        entries, rows, used = self._data.entries, self._data.groups, self._used
        part = self._x[used]
        linear, square = entries.cost[used] * part, entries.quadratic[used] * part * part
        asks = np.any(rows.kind != Utility.NONE, axis=0)
        of = [
            (rows.kind[:, k], rows.weight[:, k], rows.parameter[:, k], self._load[:, k])
            for k in np.flatnonzero(asks)
        ]
        worth = [utility.value(*row) for row in of]
        sizes = [utility.terms(*row) for row in of]

        def sums(leaf: Leaf) -> Floats:
            j, some = leaf[0], slice(self._ptr[leaf[0].start], self._ptr[leaf[0].stop])
            own, squares = np.sum(linear[some]), np.sum(square[some])
            size = np.sum(np.abs(linear[some])) + squares
            return np.array(
                [
                    own + 0.5 * squares + sum(np.sum(row[j]) for row in worth),
                    size + sum(np.sum(row[j]) for row in sizes),
                ]
            )

        return self._leaves.sums(sums)

    def keep(self) -> None:
        """Keep this allocation as the best so far."""
        self._best = self._x

    def best(self) -> Floats:
        """(n,) the best allocation kept; the present one if there is none."""
        kept = len(self._best) == self._data.entries.count
        return self._best if kept else self._point.entries()

    def _scaled(self, own: Floats | None, ratio: Floats | None, most: float = np.inf) -> Floats:
        """Scale the entries in place; return the (narrow,) use.

        See :func:`walras.kernels.consensus_copies.scaled`.
        """
        entries = self._data.entries
        own = np.full(self._load.shape, np.inf) if own is None else own
        ratio = np.full(self._last + 1, np.inf) if ratio is None else ratio
        if most < np.inf and not len(self._gains):
            self._gains = self._find_gains()
        edges = np.array(self._data.edges)
        load = np.zeros((len(edges) - 1, self._data.narrow))
        consensus_copies.scaled(
            edges,
            self._ptr,
            self._used,
            entries.local,
            entries.copies,
            entries.row,
            self._place,
            entries.a,
            own,
            self._joined(ratio, np.inf),
            self._gains,
            most,
            entries.lower,
            entries.upper,
            self._x,
            self._load,
            load,
        )
        found, self._own_load = self._parted(self._leaves.added(list(load)))
        return found

    def _find_gains(self) -> Bools:
        """(n,) whether the objective gains when an entry grows."""
        entries, rows = self._data.entries, self._data.groups
        rising = np.isin(rows.kind, (Utility.LOG, Utility.POWER))
        wanted = rising * 1.0 - self._roles.cover
        gain = sum(entries.local[k] * self._spread(wanted[:, k]) for k in range(wanted.shape[1]))
        wanted = (gain > 0) | self._roles.wanted
        return np.asarray((entries.cost < 0) | ((entries.cost == 0) & wanted))


def evened(cover: Bools, load: Floats, shift: Floats, t: float) -> Floats:
    """Factors that bring rows to their shares of a scalar; ``inf`` sets no limit.

    Args:
        cover: True on rows ``shift t <= - load``.
        load: Use of these rows.
        shift: Coefficients of the scalar in them.
        t: The scalar.
    """
    brought, wanted = -load, shift * t
    good = cover & (brought > 0) & (wanted > 0)
    ratio = np.where(good, np.clip(wanted / np.where(good, brought, 1.0), 0.0, MOST_GROWTH), 1.0)
    return np.where(cover, ratio, np.inf)


def violations(rows: RowData, load: Floats, size: Floats, t: float) -> tuple[Floats, Floats]:
    """Violations of rows (negative inside their bounds), and the scale of the violations.

    Args:
        rows: The rows.
        load: What entries use of them.
        size: The sizes of what adds up to that.
        t: The scalar.
    """
    share = rows.shift * t
    used = load + share
    over, scale = excess(used, size + np.abs(share), rows.lower, rows.upper)
    return over, np.maximum(scale, _TINY)


def errors(rows: RowData, load: Floats, size: Floats, t: float) -> tuple[Floats, Bools]:
    """Errors of rows, and True on the rows that must not move any other way.

    Args:
        rows: The rows.
        load: What entries use of them.
        size: The sizes of what adds up to that.
        t: The scalar.
    """
    used = load + rows.shift * t
    scale = violations(rows, load, size, t)[1]
    free = rows.kind != Utility.NONE
    return tight_errors(free, rows.shift != 0, used, rows.lower, rows.upper, scale)
