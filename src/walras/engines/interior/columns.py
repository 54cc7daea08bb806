"""Column generation around the interior point (Gondzio, Gonzalez-Brevis and Munari 2013).

An optimal allocation uses a few entries a block, so the method runs on a few entries a block. Each
round solves for those entries, prices all others with the well-centred prices found, adds the ones
that pay, and goes on from the present point. One pass over all entries a round replaces one (or
many) an iteration, and each round's prices prove a bound on the whole problem.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from walras.certificate.structure import structure
from walras.engines.interior.equilibrium_start import market_scores, scarcity
from walras.engines.interior.form import Form
from walras.engines.interior.new_demands import new_demands
from walras.engines.interior.options import DEFAULTS, ColumnGeneration
from walras.engines.interior.point import Layout, Point
from walras.engines.interior.start import INSIDE, packing_rows, raise_packing, scaled_inside
from walras.kernels import cpu as kernels
from walras.separable import Separable, Utility
from walras.types import Bools, Floats, Ints, Longs

_IN_USE = 1e-3  # an entry is in use from this share of its block's largest entry on
# The price of a new demand's own row is not known. These guesses are in mean charges of other rows.
_OWN_ROW_CHARGES = (0.01, 0.1, 1.0, 10.0)
_LARGEST_NEW_COLUMN = 1.0  # a new column begins at most at this multiple of a typical one
_ROW_SHARE_OF_NEW = 0.05  # largest share of a row that new columns together begin with


@dataclass(frozen=True, eq=False)
class Pool:
    """All entries, ordered by block, for pricing.

    Attributes:
        order: (entries,) entry at each place, block by block.
        ptr: (blocks + 1,) first place of each block.
    """

    order: Longs | slice
    ptr: Longs

    @classmethod
    def of(cls, owner: Ints) -> Pool:
        """Entries grouped by owner; entries without an owner are left out."""
        if owner[0] >= 0 and np.all(owner[1:] >= owner[:-1]):
            first = np.flatnonzero(np.append(True, owner[1:] > owner[:-1]))
            return cls(slice(None), np.append(first, len(owner)))
        order = np.argsort(owner, kind="stable")
        order = order[np.searchsorted(owner[order], 0) :]
        _, first = np.unique(owner[order], return_index=True)
        return cls(order, np.append(first, len(order)))

    def best(self, score: Floats, closed: Bools, limit: float, most: int, threads: int) -> Longs:
        """The open entries of lowest score below ``limit``, at most ``most`` a block."""
        places = kernels.cheapest(
            self.ptr, score[self.order], closed[self.order], limit, most, threads
        )
        return places if isinstance(self.order, slice) else self.order[places]

    def of_blocks(self, wanted: Bools, owner: Ints) -> Longs:
        """Entries of the wanted owners, in the pool's order."""
        order = np.arange(len(owner)) if isinstance(self.order, slice) else self.order
        runs = np.flatnonzero(wanted[owner[order[self.ptr[:-1]]]])
        none = [np.zeros(0, dtype=np.int64)]
        return np.concatenate(none + [order[self.ptr[k] : self.ptr[k + 1]] for k in runs])

    def block_maxima(self, values: Floats) -> Floats:
        """(entries,) largest value in each entry's block; zero outside the pool."""
        tops = np.maximum.reduceat(values[self.order], self.ptr[:-1])
        if isinstance(self.order, slice):
            return np.repeat(tops, np.diff(self.ptr))
        out = np.zeros(len(values))
        out[self.order] = np.repeat(tops, np.diff(self.ptr))
        return out


def first_entries(
    problem: Separable, pool: Pool, threads: int, rule: ColumnGeneration = DEFAULTS.columns
) -> Bools:
    """(entries,) True on the entries of the first round.

    In a market with room, the demands' wishes at rough prices choose them
    (:mod:`.equilibrium_start`). Elsewhere two scores choose them. The first is an entry's benefit:
    its cost, and its part in rows that gain by it. The second is the benefit over a first guess of
    its narrow rows' prices, which is the mean share of the best benefit that they bring to a block.
    """
    active = _always(problem, pool)
    closed = problem.lower == problem.upper
    share = benefit(problem, threads)
    best = pool.block_maxima(share)
    best[best <= 0] = 1.0
    share /= best
    del best
    in_order = isinstance(pool.order, slice)
    wanted = market_scores(problem, share, pool.ptr, threads) if in_order else None
    if wanted is not None:
        active[pool.best(wanted, closed, np.inf, rule.first_in_market, threads)] = True
        return np.asarray(active & ~closed)
    np.negative(share, out=share)
    active[pool.best(share, closed, np.inf, rule.first, threads)] = True
    share /= _scarcity(problem, share)
    active[pool.best(share, closed, np.inf, rule.first, threads)] = True
    return np.asarray(active & ~closed)


def _always(problem: Separable, pool: Pool) -> Bools:
    """(entries,) True on entries that have no block or no lower bound of zero."""
    active = problem.lower != 0.0
    if not isinstance(pool.order, slice):
        active |= np.bincount(pool.order, minlength=problem.entries) == 0
    return np.asarray(active)


def known_entries(
    problem: Separable,
    pool: Pool,
    x: Floats,
    prices: Floats,
    threads: int,
    rule: ColumnGeneration = DEFAULTS.columns,
) -> Bools:
    """(entries,) True on the entries of a warm start's first round.

    Of the old entries: those in use and those of least reduced cost. Of new demands: the entries of
    largest benefit over the known prices' charge. Of other new entries, and where no price is
    known: the choice of a cold start.

    Args:
        problem: The problem.
        pool: Its entries.
        x: (entries,) known allocation, NaN where nothing is known.
        prices: (rows,) known prices, NaN where nothing is known.
        threads: Threads of the kernels.
        rule: How many entries a block.
    """
    is_new, fixed = np.isnan(x), problem.lower == problem.upper
    prices = np.nan_to_num(prices)
    reduced = kernels.reduced_costs(problem.rows.matrix, problem.cost, prices, threads)
    closed = is_new | fixed
    known = np.where(is_new, 0.0, x)
    unused = known <= _IN_USE * pool.block_maxima(known)
    active = _always(problem, pool)
    active[pool.best(-known, closed | unused, np.inf, rule.first_from_start, threads)] = True
    active[pool.best(reduced, closed, np.inf, rule.first_from_start, threads)] = True
    new = pool.of_blocks(new_demands(problem, x) & np.any(prices), problem.demand)
    for score in _new_scores(problem, new, prices):
        part, most = Pool.of(problem.demand[new]), rule.first_of_new_demand
        best = part.best(score, fixed[new], np.inf, most, threads)
        active[new[best]] = True
    if np.count_nonzero(is_new) > len(new):
        is_new[new] = False
        active |= first_entries(problem, pool, threads, rule) & is_new
    return np.asarray(active & ~fixed)


def _new_scores(problem: Separable, new: Longs, prices: Floats) -> Iterator[Floats]:
    """(new,) scores of new demands' entries: benefit over charge.

    The known prices charge for narrow rows. The charge of the demand's own row is not known; some
    shares of the mean of the other charges stand in for it.
    """
    if not len(new):
        return
    worth, part = _unit_prices(problem), problem.rows.matrix[:, new]
    brings = -problem.cost[new] - part.T @ worth
    brings -= min(float(np.min(brings, initial=0.0)), 0.0)
    charge = np.maximum(part.T @ np.where(worth == 0.0, prices, 0.0), 0.0)
    _, owner = np.unique(problem.demand[new], return_inverse=True)
    mean = (np.bincount(owner, charge) / np.bincount(owner))[owner]
    mean[mean == 0.0] = 1.0
    for share in _OWN_ROW_CHARGES:
        yield -brings / (charge + share * mean)


def benefit(problem: Separable, threads: int) -> Floats:
    """(entries,) benefit of one unit of an entry, at unit prices of the rows that gain by it."""
    worth = _unit_prices(problem)
    gain = kernels.reduced_costs(problem.rows.matrix, problem.cost, worth, threads)
    np.negative(gain, out=gain)
    gain -= min(float(np.min(gain, initial=0.0)), 0.0)
    return gain


def _unit_prices(problem: Separable) -> Floats:
    """(rows,) prices of size one on rows that gain by entries; zero on the others."""
    rows = problem.rows
    rising = np.isin(rows.utility, (Utility.LOG, Utility.POWER))
    price = np.where(rising | (np.isfinite(rows.lower) & np.isinf(rows.upper)), -1.0, 0.0)
    helped = structure(problem).negative & np.isfinite(rows.upper) & np.isinf(rows.lower)
    return np.where(helped, 1.0, price)


def _scarcity(problem: Separable, share: Floats) -> Floats:
    """(entries,) first guess of the price of an entry's resource: its mean |share|."""
    mean = np.abs(scarcity(problem, share))
    return np.where(mean > 0, mean, 1.0)[np.maximum(problem.resource, 0)]


def slim(point: Point) -> Point:
    """The part of a point that :func:`carried` needs; it recomputes the columns' prices."""
    none = np.zeros(0)
    return Point.of(point.x, none, none, none, point.s, point.p, point.t)


def carried(form: Form, layout: Layout, old: Form, point: Point, mu: float) -> Point:
    """A start on more columns, from a centred point on fewer, with barrier parameter ``mu``.

    New columns begin on the central path, ``x = mu/z``, and lower where they would overload a row.
    Where the reduced cost of a column is not positive, the local packing price of its block rises
    until it is.
    """
    kept = np.isin(form.columns, old.columns, assume_unique=True)
    x = np.zeros(len(form.columns))
    x[kept] = point.x[np.searchsorted(old.columns, form.columns[kept])]
    typical = float(np.sum(point.x) / max(len(point.x), 1)) or 1.0
    p = _row_values(form, old, point.p)
    least = mu / (_LARGEST_NEW_COLUMN * typical)
    floor = np.where(kept, 0.0, least)
    p = raise_packing(form, packing_rows(form), p, margin=1.0, floor=floor)
    z = form.c + form.h * x + form.transposed @ p
    new = np.where(kept, 0.0, mu / np.maximum(z, least))
    room = np.where(form.b > 0, _ROW_SHARE_OF_NEW * form.b, np.inf)
    x = np.minimum(x + scaled_inside(form, new, room), INSIDE * form.u)
    w = (form.u - x)[layout.bounded]
    y = mu / w
    z[layout.bounded] += y
    z = np.where(z > 1e-3 * mu / x, z, mu / x)
    slack = form.b - form.matrix @ x - form.border @ point.t
    s = _row_values(form, old, point.s)
    s[layout.pairs] = np.maximum(slack, 0.5 * s)[layout.pairs]
    s[layout.slack_positive] = np.maximum(s, slack)[layout.slack_positive]
    return Point.of(x, z, w, y, s, p, point.t)


def _row_values(form: Form, old: Form, values: Floats) -> Floats:
    """Values of the old form's rows in the order of the new form, which has the same rows."""

    def key(f: Form) -> Longs:
        code = 2 * f.source + (f.sign > 0)
        return np.where(f.source >= 0, code, -1 - np.arange(len(code))[::-1])

    new, known = key(form), key(old)
    order = np.argsort(known)
    at = np.minimum(np.searchsorted(known[order], new), len(known) - 1)
    found = known[order][at] == new
    return np.where(found, values[order][at], 1.0)
