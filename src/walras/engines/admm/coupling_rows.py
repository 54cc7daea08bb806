r"""The rows' block: Newton's method on the price of each narrow row.

Row r with copies y is ``min sum_k rho w_k (y_k - v_k)^2 / 2 + f_r(sum_k a_k y_k)`` inside the
entries' bounds, with ``y_k = clip(v_k - p_r a_k / (rho w_k))``. The copies' use of the row, F(p),
falls with its price. The method needs only F and its slope -H at one price, and both are sums over
demands. Around a price the row's model ``F - H (p' - p)`` meets the bounds (softened:
``bound + s p'``) at

    p' = max((H p + F - upper) / (H + s), 0) + min((H p + F - lower) / (H + s), 0).

For rows of nonnegative entries F is convex and this is Newton's method from the left: monotone
after its first step, finite.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from walras.engines.admm.form import RowData
from walras.engines.admm.roots import increasing_root
from walras.separable import Utility, utility
from walras.types import Floats

# share of a negative price that a step leaves, since utilities need a price below zero
_LEAST_LEFT = 0.1
_TINY = np.finfo(float).tiny
_SCALAR_TOLERANCE = 1e-12  # of the scalar's root, relative to the prices' payment; about rounding


class CouplingRows:
    """Prices of the narrow rows, and the shared scalar if it is in them.

    Args:
        rows: The rows; the last is an empty row.
        capacities: (narrow,) sum of a^2 / w of each row.
        scalar: (cost, lower, upper) of the shared scalar, or None.
    """

    def __init__(
        self, rows: RowData, capacities: Floats, scalar: tuple[float, float, float] | None
    ) -> None:
        self.rows = rows
        self.capacities = capacities
        self.scalar = scalar
        self.price = np.where(np.isin(rows.kind, (Utility.LOG, Utility.POWER)), -1.0, 0.0)
        self.t = 0.0
        self.softness: Floats = np.zeros_like(self.price)
        self.excess: Floats = np.zeros_like(self.price)
        self._size = np.where(np.isfinite(rows.upper), np.abs(rows.upper), 0.0)
        self._size += np.where(np.isfinite(rows.lower), np.abs(rows.lower), 0.0)
        self._curved = np.flatnonzero(rows.kind != Utility.NONE)
        self._live = capacities > 0  # a row without copies keeps its price
        self.forget()

    def forget(self) -> None:
        """Forget the bracket of the prices, since the copies have moved."""
        self._low, self._high = np.full((2, len(self.price)), [[-np.inf], [np.inf]])

    def settle(
        self, use: Callable[[Floats], Floats], rho: float, tolerance: float, most: int
    ) -> None:
        """Run Newton's method on all rows at once, from the prices of the last call.

        Args:
            use: (2, narrow) use and slope at prices over rho.
            rho: Penalty in force.
            tolerance: Largest allowed error of a row, relative to its terms.
            most: Most evaluations.
        """
        self.forget()
        for _ in range(most):
            used, slope = use(self.price / rho)
            new, t, error = self._stepped(used, slope / rho, rho)
            if error <= tolerance and abs(t - self.t) <= tolerance * abs(t):
                return
            self.price, self.t = self._between(new), t

    def newton(self, used: Floats, slope: Floats, rho: float) -> None:
        """Take one Newton step from the (narrow,) use and slope at the present prices over rho."""
        new, self.t, _ = self._stepped(used, slope / rho, rho)
        self.price = self._between(new)

    def step(self, used: Floats, rho: float) -> None:
        """Take one step of the prices, at the slope of copies that are all inside their bounds."""
        self.price, self.t, _ = self._stepped(used, self.capacities / rho, rho)

    def inside(self, price: Floats) -> Floats:
        """Extrapolated prices, moved to the side where their row's cost has a price."""
        falling = np.isin(self.rows.kind, (Utility.LOG, Utility.POWER))
        return np.where(falling, np.minimum(price, _LEAST_LEFT * self.price), price)

    def _stepped(self, used: Floats, slope: Floats, rho: float) -> tuple[Floats, float, float]:
        """New prices, new scalar, and the largest error of a row relative to its terms."""
        flat = self._live & ~(slope > 0)
        h = np.where(slope > 0, slope, np.where(self._live, self.capacities / rho, 1.0))
        t = self.t if self.scalar is None else self._scalar(used, h)
        new = self._model(used, h, t)
        if len(self._curved):
            new[self._curved] = self._cost_prices(used, h)
        new = np.where(self._live, new, self.price)
        size = np.abs(used) + self._size + np.abs(t * self.rows.shift)
        with np.errstate(over="ignore"):  # a row without terms that must move has an infinite error
            error = np.max(np.abs(new - self.price) * (h + self.softness) / (size + _TINY))
        # The slope is not known where no copy is inside its bounds: go half the way at least.
        new = np.where(
            flat
            & (np.abs(new) > 0.5 * np.abs(self.price))
            & (new * self.price > 0)
            & (np.abs(new) < np.abs(self.price)),
            0.5 * self.price,
            new,
        )
        return new, t, float(error)

    def _between(self, new: Floats) -> Floats:
        """The new prices, or the middle of the bracket where they leave it.

        F is not convex where coefficients differ in sign, and Newton's method may then cycle.
        """
        price, alone = self.price, self.rows.shift == 0.0
        self._low = np.where((new > price) & alone, price, self._low)
        self._high = np.where((new < price) & alone, price, self._high)
        beyond = (new <= self._low) | (new >= self._high)
        with np.errstate(invalid="ignore"):
            return np.where(beyond, 0.5 * (self._low + self._high), new)

    def _model(self, used: Floats, h: Floats, t: float) -> Floats:
        """Prices at which the rows' models meet their bounds."""
        base = h * self.price + used + self.excess + t * self.rows.shift
        total = h + self.softness
        high, low = (base - self.rows.upper) / total, (base - self.rows.lower) / total
        return np.asarray(np.maximum(high, 0.0) + np.minimum(low, 0.0))

    def _scalar(self, used: Floats, h: Floats) -> float:
        """The scalar at which the models' prices pay for its cost."""
        cost, lower, upper = self.scalar or (0.0, 0.0, 0.0)
        held = np.flatnonzero(self.rows.shift)
        shift, total = self.rows.shift[held], h[held] + self.softness[held]

        def paid(t: float) -> tuple[float, float]:
            price = self._model(used, h, t)[held]
            slope = float(np.sum(np.where(price != 0.0, shift * shift / total, 0.0)))
            return cost + float(shift @ price), slope

        size = abs(cost) + float(np.abs(shift) @ np.abs(self.price[held]))
        return increasing_root(paid, self.t, lower, upper, _SCALAR_TOLERANCE * size)

    def _cost_prices(self, used: Floats, h: Floats) -> Floats:
        """Prices of rows with a cost: one step towards f'(F) = p inside its domain."""
        at, rows = self._curved, self.rows
        kind, weight, parameter = rows.kind[at], rows.weight[at], rows.parameter[at]
        price = self.price[at]
        y = utility.wanted(kind, weight, parameter, price)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            slope = 1.0 / utility.curvature(kind, weight, parameter, y)
        slope = np.where(np.isfinite(slope), slope, 0.0)
        new = price + (used[at] - y) / (h[at] + slope)
        falling = np.isin(kind, (Utility.LOG, Utility.POWER))
        return np.where(falling, np.minimum(new, _LEAST_LEFT * price), new)
