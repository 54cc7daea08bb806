r"""Tighter prices for a proof: best prices of the demands' rows for prices of the narrow rows.

The iterates' prices p of narrow rows become good long before the demands' prices. Take demands with
one packing row and one row with a utility or a share in a scalar t. The best price of the second
row is known exactly (:mod:`walras.kernels.block_prox.row_prices`), and the first row's price
follows in closed form in every proof. For a scalar, any allocation that reaches t costs at least
``sum_j C_j(t)`` at p, for every scale of p. Hence

    t* <= max { t : sum_j C_j(t) <= p b },

the root of one convex function; the slopes of C_j there are the demands' prices.
"""

from __future__ import annotations

import numpy as np

from walras.certificate.dual_repair import project_row_signs
from walras.certificate.structure import structure
from walras.engines.admm.form import Form
from walras.engines.admm.passes import BoundPasses
from walras.engines.admm.roots import increasing_root
from walras.engines.admm.scalar_bounds import ceiling
from walras.separable import Utility
from walras.types import Floats

_CLOSE = 1e-9  # relative distance from the ceiling, and relative error of the root
# rows of a demand with known best prices: one packing row, and one with a utility or share
_ROWS = 2


class DualTightening:
    """Best prices of the demands' rows for given prices of the narrow rows.

    Args:
        form: The split problem.

    Attributes:
        helps: Whether the problem's demands have that shape.
        ceiling: Upper bound on a shared scalar from single demands, if known.
    """

    def __init__(self, form: Form) -> None:
        self._form = form
        rows, local = form.groups, form.entries.local
        self.ceiling, self._own = ceiling(form)
        self._together = structure(form.problem).homogeneous
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

    def _fits(self, pack: int) -> bool:
        """Whether one row packs nonnegative entries, and the other has a closed-form best price."""
        form, rows, own = self._form, self._form.groups, self._own
        local, entries = form.entries.local, form.entries
        packs = np.all(local[pack] > 0) and np.all(np.isfinite(rows.upper[:, pack]))
        free = np.all(entries.lower == 0) and np.all(np.isinf(entries.upper))
        plain = not np.any(entries.quadratic) and np.all(rows.source >= 0)
        kind = rows.kind[:, own]
        utility = np.all(np.isin(kind, (Utility.LOG, Utility.POWER))) and np.all(local[own] >= 0)
        shared = (
            form.scalar_in == "groups"
            and structure(form.problem).homogeneous
            and np.all(rows.shift[:, own] > 0)
            and np.all(local[own] <= 0)
            and np.all(np.isinf(rows.lower[:, own]))
            and np.all(rows.upper[:, own] == 0)
            and form.problem.scalar_cost[0] < 0
        )
        return bool(packs and free and plain and (utility or shared))

    def applies(self, t: float) -> bool:
        """Whether there are tighter prices, also where the scalar is at a demand's upper bound.

        Args:
            t: The iterate's scalar.
        """
        return self.helps or (self._together and t >= (1.0 - _CLOSE) * self.ceiling)

    def __call__(self, passes: BoundPasses, price: Floats, t: float) -> Floats:
        """Load tighter prices in the workers.

        Args:
            passes: Passes of the workers, which have loaded the iterate's prices.
            price: (narrow,) prices of the narrow rows.
            t: The iterate's scalar.

        Returns:
            (narrow,) prices of the narrow rows that go with them.
        """
        rows = self._form.narrow
        if not self.helps:
            passes.use_scarcest_demands(self._own, self.ceiling)
            return np.zeros_like(price)
        price = project_row_signs(rows.kind, rows.lower, rows.upper, price)
        passes.set_reduced_costs(price)
        shared = self._form.scalar_in == "groups"
        if shared and not self._to_scalar(passes, price, t):
            passes.use_scarcest_demands(self._own, self.ceiling)
            return np.zeros_like(price)
        if not shared:
            passes.cost_to_reach(self._own, self._sign, 1.0)
        passes.use_reached_prices(self._own, self._sign)
        return price

    def _to_scalar(self, passes: BoundPasses, price: Floats, t: float) -> bool:
        """Load the demands' prices at the largest scalar that the narrow rows' prices pay for.

        If they pay for more than some demand can reach alone, return False: that demand decides.
        """
        rows = self._form.narrow
        bound = np.where(price > 0, rows.upper, rows.lower)
        budget = float(price[price != 0] @ bound[price != 0])

        def cost(level: float) -> tuple[float, float]:
            value, slope = passes.cost_to_reach(self._own, self._sign, level)
            return float(value) - budget, float(slope)

        below = (1.0 - _CLOSE) * self.ceiling
        level = float(np.clip(t, 0.0, below))
        return increasing_root(cost, level, 0.0, below, _CLOSE * budget) < below
