"""One slice of the demands: its state, and the passes over it.

Every pass takes a few numbers or one vector over the narrow rows, and returns sums of that size.
With metric weights w_k, a copy k of entry q has the state z_k; the demands' block answers
``x = argmin g(x) + rho/2 sum_k w_k (x - z_k)^2``, the rows' block ``y = argmin f(y) + rho/2 sum_k
w_k (y - (2x - z_k))^2``, and ``z += relaxation (y - x)``: Douglas-Rachford splitting, which is
ADMM with the multipliers ``rho w (z - x)``.
"""

from __future__ import annotations

from weakref import proxy

import numpy as np

from walras.engines.admm.passes import Passes
from walras.engines.admm.private_rows import PrivateRows
from walras.engines.admm.slices.bound import Bound
from walras.engines.admm.slices.repair import Repair
from walras.engines.admm.slices.slice import Leaf, Leaves, Slice
from walras.kernels import consensus_copies
from walras.kernels.block_prox import newton
from walras.types import Floats


class Worker(Passes):
    """The state of a slice.

    Args:
        data: The slice.
    """

    def __init__(self, data: Slice) -> None:
        self.data = data
        entries = data.entries
        self._weight = entries.weight
        self._leaves = Leaves(data)
        self._shared = bool(np.any(data.groups.shift))
        self.state = np.zeros(0)  # of each copy; in schemes without copies, of each entry
        self._held: Floats | None = None
        self._anchor: Floats | None = None
        self.x = np.array(data.x)
        self._seen = self.x.copy()
        self._centre = np.empty(entries.count)
        self._step = np.empty(entries.count)
        self._rho = np.nan
        self.price = np.array(data.price)
        self._own = PrivateRows(data.own, data.own_price, self._own_capacities())
        self._excess = np.zeros_like(self.price)
        here = proxy(self)  # without a cycle, so that a solve's arrays are freed when it ends
        self.repair, self.bound = Repair(data, here), Bound(data, here)

    def init_at_prices(self, rho: float, price: Floats) -> None:
        """Set the state of a fixed point at x and prices (narrow,): ``rho w (x - z) = a p``."""
        entries, price = self.data.entries, self._own.joined(price)
        self.state = self._wide() - price[entries.row] * entries.a / (rho * entries.w)

    def set_prox_centre(self, rho: float) -> None:
        """Set the centres of the demands' block for the present state."""
        entries = self.data.entries
        self._set_step(rho)
        self._own.forget()
        consensus_copies.centres(
            entries.copies, self.state, entries.w, rho, entries.cost, self._step, self._centre
        )

    def _set_step(self, rho: float) -> None:
        """Set s = 1 / (h + rho W); it is kept while rho stays."""
        if rho != self._rho:
            np.divide(1.0, self.data.entries.quadratic + rho * self._weight, out=self._step)
            self._rho = rho

    def init_without_copies(self) -> None:
        """Set the state of schemes without copies to x."""
        self.state = self.x.copy()

    def relax(self, relaxation: float) -> Floats:
        """Move the state of schemes without copies towards x; return the squared distance, in W."""
        way = self.x - self.state
        consensus_copies.blend(self.state, self.x, 1.0 - relaxation)
        weighed = self._weight * way
        return self._leaves.sums(lambda leaf: np.array([weighed[leaf[1]] @ way[leaf[1]]]))

    def set_prox_centre_at_prices(self, rho: float, price: Floats) -> None:
        """Set the centres of a primal-dual step from the state, at prices of the narrow rows."""
        entries = self.data.entries
        self._set_step(rho)
        consensus_copies.priced_centres(
            entries.copies,
            entries.row,
            entries.place,
            entries.a,
            price,
            self.state,
            rho * self._weight,
            entries.cost,
            self._step,
            self._centre,
        )

    def solve_demands(self, t: float, tolerance: float, softness: float) -> Floats:
        """Solve the demands' block; return the rows' payment for the scalar, and its slope."""
        entries, rows = self.data.entries, self.data.groups
        lower, upper = rows.lower, rows.upper
        if t != 0.0:
            lower, upper = lower - t * rows.shift, upper - t * rows.shift
        if softness > 0.0:
            lower, upper = lower - self._excess, upper - self._excess

        def solve(leaf: Leaf) -> Floats:
            j, _, _, places, _ = leaf
            found = newton.solve_groups(
                entries.ptr[places],
                entries.local,
                self._centre,
                self._step,
                entries.lower,
                entries.upper,
                rows.kind[j],
                rows.weight[j],
                rows.parameter[j],
                lower[j],
                upper[j],
                softness,
                tolerance,
                rows.shift[j],
                self.price[j],
                self.x,
            )
            return np.array(found)

        if self._shared:
            return self._leaves.sums(solve)
        solve(self._leaves.whole)  # nothing is summed
        return self._leaves.sums(lambda leaf: np.zeros(2))

    def row_usage(self, price: Floats) -> Floats:
        """(2, narrow) the copies' use of each row at its price over rho, and the slope.

        The slice's own rows take a step of their prices.
        """
        entries, price = self.data.entries, self._own.joined(price, self._rho)

        def sums(leaf: Leaf) -> Floats:
            _, q, _, _, places = leaf
            out = np.zeros((2, self.data.narrow))
            consensus_copies.row_sums(
                entries.copies[places],
                entries.row,
                entries.a,
                entries.w,
                self.state,
                self.x[q],
                entries.lower[q],
                entries.upper[q],
                price,
                out[0],
                out[1],
            )
            return out

        found = self._leaves.sums(sums)
        self._own.step(found, self._rho)
        return self._own.parted(found)

    def activities(self) -> Floats:
        """(narrow,) the use of each row by x."""
        entries = self.data.entries

        def sums(leaf: Leaf) -> Floats:
            _, q, _, _, places = leaf
            out = np.zeros(self.data.narrow)
            consensus_copies.activities(
                entries.copies[places], entries.row, entries.place, entries.a, self.x[q], out
            )
            return out

        return self._leaves.sums(sums)

    def capacities(self) -> Floats:
        """(narrow,) sum of a^2 / w over each row: its slope with every copy inside its bounds."""
        return self._own.parted(self._capacities())

    def _capacities(self) -> Floats:
        entries = self.data.entries
        square = entries.a * entries.a / entries.w

        def sums(leaf: Leaf) -> Floats:
            k = leaf[2]
            return np.bincount(entries.row[k], square[k], self.data.narrow).astype(np.float64)

        return self._leaves.sums(sums)

    def _own_capacities(self) -> Floats:
        """(shared + own + 1,) the same, with the slice's own rows."""
        if not len(self.data.own.source):
            return np.zeros(self.data.narrow)
        return np.asarray(np.sum(self._capacities(), axis=0))

    def advance(self, price: Floats, relaxation: float) -> Floats:
        """Move the state; return squares of (y - x), x and (z - x) in the metric."""
        entries, price = self.data.entries, self._own.joined(price, self._rho)

        def sums(leaf: Leaf) -> Floats:
            _, q, _, _, places = leaf
            found = consensus_copies.advance(
                entries.copies[places],
                entries.row,
                entries.a,
                entries.w,
                self.state,
                self.x[q],
                entries.lower[q],
                entries.upper[q],
                price,
                relaxation,
            )
            return np.array(found)

        return self._leaves.sums(sums)

    def set_anchor(self) -> None:
        """Remember the state as the anchor of an epoch."""
        self._anchor = self.state.copy()

    def restart(self, share: float) -> None:
        """Move the state towards the anchor, keeping the share ``share`` of the state."""
        if self._anchor is not None:  # it is lost with another holder of the slice
            consensus_copies.blend(self.state, self._anchor, share)

    def load_multipliers(self) -> None:
        """Set the state to ``x + u`` for multipliers u that stay; ``advance`` then makes it
        ``y + u``.
        """
        if self._held is None:
            self._held = np.zeros_like(self.state)
        np.add(self._wide(), self._held, out=self.state)

    def update_multipliers(self) -> None:
        """Update the multipliers that stayed: ``u += y - x``."""
        self._held = self.state - self._wide()

    def _wide(self) -> Floats:
        """(copies,) x of each copy's entry."""
        return np.repeat(self.x, np.diff(self.data.entries.copies))

    def change(self) -> Floats:
        """Squares, in the metric, of x and of its change since the last call."""
        change = self.x - self._seen
        size, moved = self.x * self.x, change * change
        self._seen = self.x.copy()

        def sums(leaf: Leaf) -> Floats:
            weight = self._weight[leaf[1]]
            return np.array([weight @ size[leaf[1]], weight @ moved[leaf[1]]])

        return self._leaves.sums(sums)

    def rescale(self, factor: float) -> None:
        """Keep the multipliers ``rho w (z - x)`` while rho is divided by ``factor``."""
        wide = self._wide()
        self.state = wide + factor * (self.state - wide)

    def absorb_excess(self, rho: float) -> None:
        """Move the excess of soft rows into their scaled multipliers ``p / rho``."""
        np.divide(self.price, rho, out=self._excess)

    def entries(self) -> Floats:
        """(n,) the allocation."""
        return self.x

    def prices(self) -> Floats:
        """(groups, K) the prices of the slice's rows."""
        return self.price

    def own_prices(self) -> Floats:
        """(own,) the prices of the slice's own narrow rows."""
        return self._own.price
