"""Block generation: the interior point runs on the blocks whose choice is still open.

Where many blocks choose from simplices under few capacities, an optimal allocation splits hardly
more blocks than there are capacities. At rough prices most blocks have one choice that is cheaper
than all others by a wide margin: they rest at it, and the method goes on with the rest. The prices
found bound the whole problem, and a block that would choose otherwise at them comes back.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from walras.engines.interior.form import Form, Restriction
from walras.engines.interior.options import DEFAULTS
from walras.engines.interior.point import Layout, Point
from walras.engines.interior.presolve_simplices import Presolved, Simplices
from walras.engines.interior.shares import block_centres
from walras.separable import Side
from walras.types import Bools, Floats, Longs

_RESTING_SHARE = 0.999  # largest share of a capacity that the blocks at rest may take together
_FITTING_PASSES = 10  # each pass brings back half of the blocks on overloaded capacities
_KEPT_SLACK = 0.5  # least share of its slack that a capacity keeps when blocks come and go
_LEAST_ROOM = 0.1  # least share of a capacity that is left to the blocks that take part
_LEAST_PRODUCT = 1e-3  # complementary products are at least this share of the barrier parameter


@dataclass(eq=False)
class OpenBlocks:
    """The blocks that take part, and the choices of the others.

    Attributes:
        simplices: All blocks.
        decided: Result of the presolve.
        active: (blocks,) True on those that take part.
        first_share: Share of all limits that the blocks of the first round have together.
        choice: (blocks,) place at which a block rests, -1 at nothing.
    """

    simplices: Simplices
    decided: Presolved
    first_share: float = DEFAULTS.blocks.first_share
    active: Bools = field(init=False)
    choice: Longs = field(init=False)

    def __post_init__(self) -> None:
        """Let the blocks with the largest limits take part, and let the others rest at nothing."""
        s, settled = self.simplices, self.decided.settled
        limit = s.problem.rows.upper[s.row]
        order = np.argsort(-limit, kind="stable")
        share = np.cumsum(limit[order]) / np.sum(limit)
        self.active = np.zeros(s.blocks, dtype=bool)
        self.active[order[: int(np.searchsorted(share, self.first_share)) + 1]] = True
        self.active &= ~settled
        self.choice = np.full(s.blocks, -1, dtype=np.int64)
        places = np.flatnonzero(~self.decided.closed & settled[s.block])
        self.choice[s.block[places]] = places

    @property
    def capacities(self) -> int:
        """Number of capacities that may bind."""
        rows = self.simplices.problem.rows
        return rows.count - self.simplices.blocks - int(np.sum(self.decided.loose))

    def take_all(self) -> None:
        """Let every block that is not decided take part."""
        self.active = ~self.decided.settled

    def rest(self) -> Floats:
        """(entries,) values of the entries of the blocks at rest; zero elsewhere."""
        out, s = np.zeros(self.simplices.problem.entries), self.simplices
        places = self.choice[~self.active & (self.choice >= 0)]
        out[s.entry[places]] = s.size[places]
        return out

    def restriction(self) -> Restriction:
        """The part of the problem that is left to solve."""
        s = self.simplices
        absent = self.decided.loose.copy()
        absent[s.row[~self.active]] = True
        kept = self.active[s.block] & ~self.decided.closed
        return Restriction(
            np.sort(s.entry[kept]), absent=absent, rest=self.rest(), side=Side.DEMAND
        )

    def review(self, prices: Floats, margin: float, threads: int, *, drop: bool) -> int:
        """Bring in blocks with an open choice at some prices, drop others; return the number in.

        Args:
            prices: (rows,) prices of the capacities.
            margin: A choice is sure when the next one costs more by at least this share of a
                typical charge.
            threads: Threads.
            drop: Whether blocks may go.
        """
        s, problem, settled = self.simplices, self.simplices.problem, self.decided.settled
        capacity = prices.copy()
        capacity[s.row] = 0.0
        charge = problem.rows.matrix.T @ capacity
        choice, lead = s.choose(problem.cost + charge, self.decided.closed, threads)
        typical = float(np.median(np.abs(problem.cost) + charge))
        is_open = ~settled & ~(lead > margin * typical)
        if not np.any(is_open):  # keep one block, so that there is something to solve
            is_open[int(np.argmin(np.where(settled, np.inf, lead)))] = True
        before = self.active
        moved = ~before & ~settled & (choice != self.choice)
        self.active = is_open if drop else before | is_open | moved
        self.choice = np.where(self.active | settled, self.choice, choice)
        if drop and not problem.scalars:
            self._make_room(lead)
        return int(np.sum(self.active & ~before))

    def _make_room(self, lead: Floats) -> None:
        """Bring back half of the blocks at rest on each overloaded capacity.

        The half with the smaller lead comes back first. This repeats until the blocks at rest fit.
        """
        s, rows = self.simplices, self.simplices.problem.rows
        free = ~self.decided.loose
        free[s.row] = False
        for _ in range(_FITTING_PASSES):
            over = free & (rows.matrix @ self.rest() > _RESTING_SHARE * rows.upper)
            resting = np.flatnonzero(~self.active & (self.choice >= 0) & ~self.decided.settled)
            part = rows.matrix[:, s.entry[self.choice[resting]]]
            found = resting[part.T @ over.astype(np.float64) > 0]
            if not len(found):
                return
            self.active[found[lead[found] <= np.median(lead[found])]] = True


def carried_blocks(form: Form, layout: Layout, old: Form, point: Point, mu: float) -> Point:
    """A start on other blocks, from a centred point with barrier parameter ``mu``.

    Blocks that took part keep their values. New blocks begin on the central path of their own
    simplex, at the prices found. Columns shrink where they overload a capacity. Both forms have the
    same capacities.
    """
    place = np.full(form.problem.rows.count, -1)
    place[old.source[: old.local_rows]] = np.arange(old.local_rows)
    was = place[form.source[: form.local_rows]]
    column = np.full(form.problem.entries, -1)
    column[old.columns] = np.arange(len(old.columns))
    at = column[form.columns]
    narrow, held = point.p[old.local_rows :], point.s[old.local_rows :]
    charge = form.c + form.narrow.T @ narrow
    price, x = block_centres(form, charge, mu)
    price = np.where(was >= 0, point.p[was], price)
    x = np.where(at >= 0, point.x[at], x)
    z = np.maximum(charge + form.local[0] * price[form.block], _LEAST_PRODUCT * mu / x)
    t = point.t
    if len(t):
        t = _raised(form, x, t, held)
    else:
        x = _fitted(form, x, held)
    p = np.concatenate([price, narrow])
    s = form.b - form.matrix @ x - form.border @ t
    s[form.local_rows :] = np.maximum(s[form.local_rows :], _KEPT_SLACK * held)
    pairs = layout.price_positive
    s = np.where(pairs, np.maximum(s, _LEAST_PRODUCT * mu / np.where(pairs, p, 1.0)), 0.0)
    none = np.zeros(0)
    return Point.of(x, z, none, none, s, p, t)


def _raised(form: Form, x: Floats, t: Floats, slack: Floats) -> Floats:
    """Raise the one scalar until every capacity that holds it keeps some slack."""
    e = form.border[form.local_rows :, 0]
    short = form.narrow @ x + e * t + _KEPT_SLACK * slack - form.b[form.local_rows :]
    held = e < 0
    return t + float(np.max(short[held] / -e[held], initial=0.0))


def _fitted(form: Form, x: Floats, slack: Floats) -> Floats:
    """Shrink each column by its most overloaded capacity, so that some slack is left."""
    bound = form.b[form.local_rows :]
    room = np.maximum(bound - _KEPT_SLACK * slack, _LEAST_ROOM * bound)
    load = form.narrow @ x
    factor = np.minimum(1.0, room / np.where(load > 0, load, 1.0))
    worst = np.ones(len(x))
    column = np.repeat(np.arange(len(x)), np.diff(form.narrow.indptr))
    np.minimum.at(worst, column, factor[form.narrow.indices])
    return np.asarray(x * worst)
