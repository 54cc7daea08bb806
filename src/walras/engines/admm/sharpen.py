r"""Sharper prices for a proof: those of the demands, exact for the prices of the narrow rows.

The iterates' prices of narrow rows p are good long before those of the demands are. For demands
with one packing row and one row that asks for something, a utility or a share in a scalar t, the
best price of the second is known exactly (:mod:`walras.kernels.groups_prices`), and that of the
first follows in closed form in every proof. For a scalar, any allocation that reaches t costs at
least ``sum_j C_j(t)`` at p, whatever the scale of p, so that

    t* <= max { t : sum_j C_j(t) <= p b },

the root of one convex function; the slopes of C_j there are the demands' prices.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from walras.certificate.mend import allowed
from walras.certificate.structure import structure
from walras.engines.admm.form import Form
from walras.engines.admm.roots import increasing_root
from walras.kernels.groups_prices import best_prices
from walras.kernels.runs import map_runs
from walras.separable import Utility

Floats = npt.NDArray[np.float64]

_CLOSE = 1e-9
_ROWS = 2


class Sharpen:
    """Prices of the demands' rows for prices of the narrow rows.

    Args:
        form: The split problem.
        threads: Threads at most.

    Attributes:
        helps: Whether the problem's demands have that shape.
        reach: The most that a shared scalar can be for any one demand by itself, if known.
    """

    def __init__(self, form: Form, threads: int) -> None:
        self._form, self._threads = form, threads
        rows, local = form.groups, form.entries.local
        self.reach = np.inf
        self.helps = local.shape[0] == _ROWS and form.problem.entries == form.asked_entries
        if not self.helps:
            return
        asks = (rows.kind != Utility.NONE) | (rows.shift != 0)
        self._own = int(np.argmax(np.any(asks, axis=0)))
        pack = 1 - self._own
        self.helps = not np.any(asks[:, pack]) and self._fits(pack)
        if not self.helps:
            return
        self._sign = 1.0 if np.any(rows.kind) else -1.0
        self._e = np.ascontiguousarray(self._sign * local[self._own])
        self._a = np.ascontiguousarray(local[pack])
        self._b = np.ascontiguousarray(rows.upper[:, pack])
        self._price = np.zeros(len(self._b))
        self._shift = np.ascontiguousarray(rows.shift[:, self._own])
        best = np.maximum.reduceat(self._e / self._a, form.entries.ptr[:-1])
        self._alone = best * self._b / np.where(self._shift > 0, self._shift, 1.0)
        if form.scalar_in:
            self.reach = float(np.min(self._alone))
        self._ask = [
            np.ascontiguousarray(v[:, self._own]) for v in (rows.kind, rows.weight, rows.parameter)
        ]

    def _fits(self, pack: int) -> bool:
        """Whether one row packs nonnegative entries, and the other asks what a price can answer."""
        form, rows, own = self._form, self._form.groups, self._own
        local, entries = form.entries.local, form.entries
        packs = np.all(local[pack] > 0) and np.all(np.isfinite(rows.upper[:, pack]))
        free = np.all(entries.lower == 0) and np.all(np.isinf(entries.upper))
        plain = not np.any(entries.quadratic) and np.all(rows.source >= 0)
        kind = rows.kind[:, own]
        utility = np.all(np.isin(kind, (Utility.LOG, Utility.POWER))) and np.all(local[own] >= 0)
        shared = (
            form.scalar_in == "groups" and structure(form.problem).homogeneous
            and np.all(rows.shift[:, own] > 0) and np.all(local[own] <= 0)
            and np.all(np.isinf(rows.lower[:, own])) and np.all(rows.upper[:, own] == 0)
            and form.problem.scalar_cost[0] < 0
        )  # fmt: skip
        return bool(packs and free and plain and (utility or shared))

    def __call__(self, prices: Floats, t: Floats) -> Floats:
        """(rows,) sharper prices.

        Args:
            prices: (rows,) the iterate's.
            t: (scalars,) the iterate's.
        """
        if not self.helps:
            return prices
        form, source = self._form, self._form.groups.source[:, self._own]
        bare = allowed(form.problem, prices)
        bare[form.groups.source] = 0.0
        matrix = form.problem.rows.matrix
        reduced = (form.problem.cost + matrix.T @ bare)[form.order]
        self._price[:] = np.abs(prices[source])
        if form.scalar_in:
            self._to_scalar(reduced, bare, float(t[0]))
        else:
            self._reach(reduced, np.ones(len(source)))
        bare[source] = -self._sign * self._price
        return bare

    def _reach(self, reduced: Floats, y: Floats) -> float:
        """The demands' best prices, and what it costs to reach y."""
        found: dict[int, float] = {}
        entries = self._form.entries

        def work(first: int, last: int) -> None:
            found[first] = best_prices(
                first, last, entries.ptr, self._a, self._e, reduced, self._b, *self._ask, y,
                self._price,
            )  # fmt: skip

        map_runs(self._threads, work, entries.ptr)
        return sum(found[first] for first in sorted(found))

    def _to_scalar(self, reduced: Floats, bare: Floats, t: float) -> None:
        """The demands' prices at the largest scalar that the narrow rows' prices pay for.

        Where they pay for more than some demand can reach by itself, that demand decides alone.
        """
        rows, shift = self._form.problem.rows, self._shift
        bound = np.where(bare > 0, rows.upper, rows.lower)
        budget = float(bare[bare != 0] @ bound[bare != 0])

        def cost(level: float) -> tuple[float, float]:
            value = self._reach(reduced, shift * level) - budget
            return value, float(shift @ self._price)

        below = (1.0 - _CLOSE) * self.reach
        level = float(np.clip(t, 0.0, below))
        if increasing_root(cost, level, 0.0, below, _CLOSE * budget) < below:
            return
        bare[:], self._price[:] = 0.0, 0.0
        self._price[np.argmin(self._alone)] = 1.0
