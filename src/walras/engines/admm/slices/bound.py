"""A slice's contribution to a dual bound: the least cost of its entries at prices of all rows.

It follows :mod:`walras.certificate.bound`, on the entries of some demands. The caller adds the
terms of the other rows' prices and of the scalar.
"""

from __future__ import annotations

import numpy as np

from walras.certificate.contribution import (
    ROUNDING,
    asked_moves,
    entry_points,
    may_move,
    one_way,
    row_terms,
    share_prices,
)
from walras.certificate.dual_repair import project_row_signs
from walras.engines.admm.entries import runs
from walras.engines.admm.passes import BoundPasses
from walras.engines.admm.scalar_bounds import ceilings
from walras.engines.admm.slices.repair import Contribution, Point
from walras.engines.admm.slices.slice import Leaf, Slice
from walras.kernels import consensus_copies
from walras.kernels import cpu as kernels
from walras.kernels.block_prox.row_prices import best_prices
from walras.types import Bools, Floats, Longs


class Bound(Contribution, BoundPasses):
    """The trial prices of a slice's rows, and the best ones kept.

    Args:
        data: The slice.
        point: Who knows where the iterates stand.
    """

    def __init__(self, data: Slice, point: Point) -> None:
        super().__init__(data, point)
        self._loaded = self._price = self._best = self._reduced = np.zeros(0)
        self._own_loaded = self._own_price = self._own_best = np.zeros(len(data.own.source))
        self._others = np.zeros(data.narrow)
        moved = (data.entries.quadratic > 0) | (data.entries.lower != 0)
        self._moved = moved if np.any(moved) else None  # may be away from zero at any cost
        self._guess = np.zeros(0)
        self._exempt = np.zeros(0, dtype=bool)
        self._row: tuple[Floats, ...] = ()

    def load_prices(self) -> None:
        """Take the iterate's prices."""
        rows = self._data.groups
        self._loaded = project_row_signs(rows.kind, rows.lower, rows.upper, self._point.prices())
        own = self._data.own
        self._own_loaded = project_row_signs(
            own.kind, own.lower, own.upper, self._point.own_prices()
        )
        self._own_price = self._own_loaded
        self._guess = np.zeros(0)

    def set_reduced_costs(self, price: Floats) -> None:
        """Set the reduced costs at prices of the narrow rows alone; the last price is 0."""
        entries = self._data.entries
        self._others, self._reduced = self._joined(price, self._own_price), np.empty(entries.count)
        self._add(self._others, entries.cost)

    def _add(self, price: Floats, cost: Floats) -> None:
        entries = self._data.entries
        consensus_copies.reduced(
            entries.copies, entries.row, self._place, entries.a, price, cost, self._reduced
        )

    def cost_to_reach(self, own: int, sign: float, level: float) -> Floats:
        """Find best prices of one row of each demand; return the cost of a level, and its slope.

        Args:
            own: Index of each demand's priced row; the other one is its packing row.
            sign: Sign of its coefficients.
            level: Value of the scalar; utilities do not depend on it.
        """
        ptr, a = self._data.entries.ptr, self._data.entries.local[1 - own]
        if not self._row:
            self._row = self._priced(own, sign)
        if not len(self._guess):
            self._guess = np.abs(self._loaded[:, own])
        e, b, shift, kind, weight, parameter = self._row
        y = shift * level

        def sums(leaf: Leaf) -> Floats:
            j = leaf[0]
            cost = best_prices(
                j.start,
                j.stop,
                ptr,
                a,
                e,
                self._reduced,
                b,
                kind,
                weight,
                parameter,
                y,
                self._guess,
            )
            return np.array([cost, shift[j] @ self._guess[j]])

        return self._leaves.sums(sums)

    def _priced(self, own: int, sign: float) -> tuple[Floats, ...]:
        """Coefficients, bounds and costs as :func:`best_prices` takes them."""
        local, rows = self._data.entries.local, self._data.groups
        of = rows.shift, rows.kind, rows.weight, rows.parameter
        return (
            sign * local[own] if sign != 1.0 else local[own],
            np.ascontiguousarray(rows.upper[:, 1 - own]),
            *(np.ascontiguousarray(value[:, own]) for value in of),
        )

    def use_reached_prices(self, own: int, sign: float) -> None:
        """Use the prices last reached, and none of the packing rows."""
        asked, rows = np.zeros_like(self._loaded), self._data.groups
        asked[:, own] = -sign * self._guess
        self._loaded = project_row_signs(rows.kind, rows.lower, rows.upper, asked)

    def use_scarcest_demands(self, own: int, least: float) -> None:
        """Use prices only of the demands that can reach no more of the scalar alone."""
        entries, rows = self._data.entries, self._data.groups
        known = ceilings(entries, rows, own)
        them = np.flatnonzero(known.most == least)
        packed = them[known.pack[them] >= 0]
        self._guess = np.zeros_like(self._guess)
        self._loaded = np.zeros_like(self._loaded)
        self._loaded[them, own] = 1.0
        self._loaded[packed, known.pack[packed]] = known.ratio[packed]

    def scalar_payment(self) -> Floats:
        """The loaded prices' payment for the scalar, and its size."""
        return self._paid(self._loaded)

    def repaired_scalar_payment(self) -> Floats:
        """The repaired prices' payment for the scalar, and its size."""
        return self._paid(self._price)

    def _paid(self, price: Floats) -> Floats:
        shift = self._data.groups.shift

        def sums(leaf: Leaf) -> Floats:
            paid = shift[leaf[0]] * price[leaf[0]]
            return np.array([np.sum(paid), np.sum(np.abs(paid))])

        return self._leaves.sums(sums)

    def repair_prices(self, price: Floats, factor: float, rest: float) -> Floats:
        """Repair the loaded prices; return the (narrow,) rise that the other rows' prices need.

        Args:
            price: (narrow,) prices of the other rows; the last one is 0.
            factor: Factor on the demands' prices that pay for the scalar.
            rest: Factor on their other prices.
        """
        self.set_prices(price, factor, rest)
        return self._raised()

    def set_prices(self, price: Floats, factor: float, rest: float) -> None:
        """Price the entries, and the share rows at their best prices."""
        roles, rows = self._roles, self._data.groups
        scale = np.where(rows.shift != 0, factor, rest)
        self._price = np.where(roles.closed, 0.0, self._loaded * scale)
        self._own_price = self._own_loaded * rest
        self._reprice(price)
        for k in range(len(self._data.entries.local)):
            if np.any(roles.shares[:, k]):
                self._share_out(k)

    def _reprice(self, price: Floats) -> None:
        """Set the reduced costs at prices of all rows."""
        self.set_reduced_costs(price)
        for k, column in enumerate(self._data.entries.local):
            if np.any(self._price[:, k]):
                self._reduced += column * self._spread(self._price[:, k])

    def free_entry_moves(self, price: Floats, rises: Floats, falls: Floats) -> Floats:
        """Move prices for entries without a limit; return the (2, narrow) moves asked of others."""
        self._reprice(price)
        rows, entries, held = self._data.groups, self._data.entries, self._price.size
        asks = np.where(np.isinf(entries.upper), self._reduced < 0, self._reduced > 0)
        lost = np.flatnonzero(asks & self._roles.loose)
        here = may_move(rows.kind, rows.lower, rows.upper, self._price)
        able = (np.append(here[0], rises > 0), np.append(here[1], falls > 0))
        entry, row, a = self._coefficients(lost)
        high, low = asked_moves(entry, row, a, self._reduced[lost], able)
        moved = self._price + one_way(high, low)[:held].reshape(self._price.shape)
        moved = project_row_signs(rows.kind, rows.lower, rows.upper, moved)
        out = np.array([high[held:], low[held:]])
        out[0, -1] = float(not np.array_equal(moved, self._price))
        self._price = moved
        return out

    def _coefficients(self, some: Longs) -> tuple[Longs, Longs, Floats]:
        """All nonzero coefficients of some entries: their entry, their row, and their value.

        The narrow rows come after the groups' rows.
        """
        entries, slots = self._data.entries, len(self._data.entries.local)
        group = np.searchsorted(entries.ptr, some, side="right") - 1
        copy, asks = runs(entries.copies, some)
        own_row = (group * slots + np.arange(slots)[:, None]).ravel()
        entry = np.concatenate([np.tile(np.arange(len(some)), slots), asks])
        narrow = self._price.size + self._place[entries.row[copy]].astype(np.int64)
        a = np.concatenate([entries.local[:, some].ravel(), entries.a[copy]])
        held = np.flatnonzero(a)
        return entry[held], np.concatenate([own_row, narrow])[held], a[held]

    def price_rise(self, price: Floats) -> Floats:
        """Raise prices where rows limit entries; return the (narrow,) rise that others need."""
        self._reprice(price)
        for k, a in enumerate(self._data.entries.local):
            shares = self._roles.shares[:, k]
            if np.any(shares):  # the cheapest entries of these rows are free up to rounding
                mine = self._spread(shares) & (a > 0)
                self._reduced = np.where(mine, np.maximum(self._reduced, 0.0), self._reduced)
        return self._raised()

    def _raised(self) -> Floats:
        """Raise prices of rows that limit entries; return the (narrow,) rise that others need."""
        for k in range(len(self._data.entries.local)):
            if np.any(self._roles.limits[:, k]):
                self._raise(k)
        return self._missing()

    def _share_out(self, k: int) -> None:
        """Set the best price of each share row in a slot, and the reduced costs of its entries."""
        shares, a = self._roles.shares[:, k], self._data.entries.local[k]
        mine = np.flatnonzero(self._spread(shares) & (a > 0))
        group = np.searchsorted(self._data.entries.ptr, mine, side="right") - 1
        best, left = share_prices(group, a[mine], self._reduced[mine], len(shares))
        self._price[:, k] = np.where(shares, best, self._price[:, k])
        self._reduced[mine] = left

    def _raise(self, k: int) -> None:
        """Raise the packing rows' prices; see :func:`walras.kernels.cpu.price_rise`."""
        a, limits = self._data.entries.local[k], self._roles.limits[:, k]
        if not len(self._exempt):
            self._exempt = self._find_exempt()
        row = self._spread(np.where(limits, np.arange(len(limits)), -1).astype(np.int32))
        rise = kernels.price_rise(row, a, self._reduced, self._exempt | (a <= 0), len(limits))
        self._price[:, k] += rise
        self._reduced += a * self._spread(rise)

    def _find_exempt(self) -> Bools:
        """(n,) True on entries that their own bound or cost, or a narrow row, limits."""
        entries, caps = self._data.entries, self._roles.caps
        exempt = np.isfinite(entries.upper) | (entries.quadratic > 0)
        return exempt if caps is None else exempt | (caps.row < self._last)

    def _missing(self) -> Floats:
        """(narrow,) the rise that entries need from the narrow rows that limit them."""
        caps, rows = self._roles.caps, self._last + 1
        if caps is None:
            return np.zeros(rows)
        others = caps.row == self._last
        return kernels.price_rise(caps.row, caps.coefficient, self._reduced, others, rows)

    def value(self, rise: Floats) -> Floats:
        """The slice's term of the bound after the narrow rows' prices have risen."""
        if np.any(rise):
            risen = self._joined(rise, 0.0)
            self._others = self._others + risen
            self._add(risen, self._reduced)
        terms, own = (
            row_terms(rows.kind, rows.weight, rows.parameter, rows.lower, rows.upper, price)
            for rows, price in ((self._data.groups, self._price), (self._data.own, self._own_price))
        )
        first = self._data.own_ptr
        some, least = self._entry_terms()

        def sums(leaf: Leaf) -> Floats:
            a, b = np.searchsorted(some, (leaf[1].start, leaf[1].stop))
            mine = own[first[leaf[0].start] : first[leaf[0].stop]]
            return np.array([np.sum(terms[leaf[0]]) + np.sum(mine) + np.sum(least[a:b])])

        return self._leaves.sums(sums)

    def _entry_terms(self) -> tuple[Longs, Floats]:
        """The entries with a term at their reduced costs, and the least of each term."""
        entries = self._data.entries
        counts = self._reduced < 0
        if self._moved is not None:
            counts |= self._moved
        some = np.flatnonzero(counts)
        r, h = self._reduced[some], entries.quadratic[some]

        def limit(lost: Longs) -> Floats:
            return np.where(r[lost] < 0, self._limit(some[lost]), np.inf)

        at = entry_points(
            r,
            h,
            (entries.lower[some], entries.upper[some]),
            limit,
            lambda lost: self._is_rounding(some[lost]),
        )
        endless = np.isinf(at)
        at[endless] = 0.0
        return some, np.where(endless, -np.inf, r * at + 0.5 * h * at * at)

    def _is_rounding(self, some: Longs) -> Bools:
        """Whether reduced costs that should be zero are zero up to the rounding of their terms."""
        entries = self._data.entries
        group = np.searchsorted(entries.ptr, some, side="right") - 1
        copy, place = runs(entries.copies, some)
        paid = np.abs(entries.a[copy] * self._others[self._place[entries.row[copy]]])
        size = np.abs(entries.cost[some]) + np.bincount(place, paid, len(some))
        size += np.sum(np.abs(entries.local[:, some] * self._price[group].T), axis=0)
        return np.asarray(np.abs(self._reduced[some]) <= ROUNDING * size)

    def _limit(self, some: Longs) -> Floats:
        """The largest value of some entries that a row allows when the others are at least zero."""
        roles, entries = self._roles, self._data.entries
        group = np.searchsorted(entries.ptr, some, side="right") - 1
        out = np.full(len(some), np.inf) if roles.caps is None else roles.caps.limit[some]
        for k in range(entries.local.shape[0]):
            a = entries.local[k, some]
            held = roles.limits[group, k] & (a > 0)
            most = self._data.groups.upper[group, k] / np.where(held, a, 1.0)
            out = np.where(held, np.minimum(out, most), out)
        return out

    def keep(self) -> None:
        """Keep these prices as the best so far."""
        self._best, self._own_best = self._price, self._own_price

    def best(self) -> Floats:
        """(groups, K) the best prices kept; None if there are none."""
        return self._best if len(self._best) else np.zeros_like(self._data.price)

    def own_best(self) -> Floats:
        """(own,) the prices of the slice's own narrow rows that go with them."""
        return self._own_best

    def loaded_prices(self) -> Floats:
        """(groups, K) the loaded prices."""
        return self._loaded
