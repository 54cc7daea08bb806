"""The schemes: what one iteration does with the two blocks.

``Splitting`` is the engine's own; ``Collapsed`` its variant without copies; ``Published`` and
``Joint`` are what it is compared with.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from walras.engines.admm.method import Method
from walras.engines.admm.passes import Resume
from walras.engines.admm.restarts import REFLECTED, Restarts
from walras.separable import Utility
from walras.types import Floats

_PLAIN = 20  # iterations before those with restarts
_EVERY = 10  # most iterations between two looks at rho
_LEAN = 0.7  # residuals balanced a little on the side of small rho: fewer iterations where scarce
_UNTIL = 150  # iteration from which rho is frozen for ever longer; with restarts, for an epoch
_STEP = 5.0  # largest factor of a change of rho
_BALANCED = 1.5  # imbalance of the residuals that is left alone
PUBLISHED_CORES = 64  # among which the published timing shares the subproblems
_PUBLISHED_STOP = 5e-3  # relative residuals at which the released package stops
_SWEEPS = 30  # most sweeps of a joint minimisation
_SETTLED = 1e-3  # relative change of x at which a joint minimisation counts as done
_GROWTH = 2.0  # of the penalty, once a joint minimisation is done
_LARGEST = 1e10  # penalty relative to the first at which it grows no more


class Scheme(Protocol):
    """One way to iterate."""

    def resume(self, method: Method) -> Resume:
        """Gives a slice its state at x and the present prices."""
        ...

    def iterate(self, method: Method) -> bool:
        """One iteration; True when the scheme's own rule says stop."""
        ...


def _at_prices(method: Method) -> Resume:
    """The state of a fixed point at x and the present prices."""
    rho, price = method.rho, method.narrow.price.copy()
    return lambda passes: passes.init_at_prices(rho, price)


class Splitting:
    """Douglas-Rachford splitting with over-relaxation; rho balances the residuals at first.

    Args:
        relaxation: Over-relaxation, 1 to under 2.
        restarts: Reflected Halpern iterations with restarts after the first ones.
    """

    def __init__(self, relaxation: float, *, restarts: bool = False) -> None:
        self._relaxation = relaxation
        self._restarts = Restarts() if restarts else None
        self._next = 1

    def resume(self, method: Method) -> Resume:
        """See :meth:`Scheme.resume`."""
        return _at_prices(method)

    def iterate(self, method: Method) -> bool:
        """Both blocks, then the state; rho at times (Boyd et al. 2011, section 3.4.1)."""
        method.set_prox_centre()
        method.solve_demands()
        method.solve_rows()
        if self._restarts is None or method.count < _PLAIN:
            method.advance(self._relaxation)
            due = method.count == self._next
        else:
            due = self._restart(method, self._restarts)
        if due:
            few = min(_EVERY, 2 + method.count // 3)
            self._next = method.count + (few if method.count <= _UNTIL else method.count // 2)
            self._balance(method)
        return False

    def _restart(self, method: Method, restarts: Restarts) -> bool:
        """A reflected step, and back towards the anchor; True when an epoch ended."""
        if restarts.starting:
            method.passes.set_anchor()
        method.advance(REFLECTED)
        method.passes.restart(restarts.share)
        return restarts.note(method.apart)

    def _balance(self, method: Method) -> None:
        first = method.seen == 0
        method.measure_change()
        if not first:
            residuals = method.residuals
            ratio = float(np.sqrt(residuals.primal / max(residuals.dual, 1e-300)))
            ratio *= _LEAN if self._restarts is None and method.count > _PLAIN else 1.0
            if not 1.0 / _BALANCED <= ratio <= _BALANCED:
                method.rescale(float(np.clip(ratio, 1.0 / _STEP, _STEP)))


class Collapsed:
    """Primal-dual steps in the diagonal metric of the copies, without the copies.

    Dropping the bounds of a row's copies makes its multipliers one price a row: Chambolle and Pock
    2011 with the step sizes of Pock and Chambolle 2011; rho is the ratio of the ways that prices
    and entries have gone (Applegate et al. 2021). Its fixed-point residual is taken in the metric

        ||(x, p)||^2 = rho sum_q W_q x_q^2 - 2 p A x + sum_r (sum a^2 / w)_r p_r^2 / rho.

    Args:
        restarts: Reflected Halpern iterations with restarts.
    """

    def __init__(self, *, restarts: bool = False) -> None:
        self._restarts = Restarts() if restarts else None
        self._at = self._anchor = np.zeros((2, 0))  # prices of the state, and what it uses of rows
        self._looked = np.zeros(0)
        self._next = 1

    def resume(self, method: Method) -> Resume:
        """See :meth:`Scheme.resume`."""
        return lambda passes: passes.init_without_copies()

    def iterate(self, method: Method) -> bool:
        """A step of the prices, then of x against extrapolated prices; on or back from there."""
        narrow, passes = method.narrow, method.passes
        if method.count == 0:
            passes.init_without_copies()
            self._looked = narrow.price
            self._at = np.array([narrow.price, passes.activities()])
        price, used = self._at
        narrow.price = price
        narrow.step(used, method.rho)
        passes.set_prox_centre_at_prices(method.rho, 2.0 * narrow.price - price)
        method.solve_demands()
        reached = np.array([narrow.price, passes.activities()])
        if self._restarts is None:
            passes.relax(1.0)
            self._at, over = reached, method.count + 1 == self._next
        else:
            over = self._restart(method, self._restarts, reached)
        method.count += 1
        if over:
            self._next = method.count + min(_EVERY, 2 + method.count // 3)
            self._balance(method)
        return False

    def _restart(self, method: Method, restarts: Restarts, reached: Floats) -> bool:
        """A reflected step, and back towards the anchor; True when an epoch ended."""
        if restarts.starting:
            self._anchor = self._at
            method.passes.set_anchor()
        moved = float(method.passes.relax(REFLECTED)[0])
        method.passes.restart(restarts.share)
        (paid, used), rho = reached - self._at, method.rho
        square = rho * moved - 2.0 * paid @ used + method.narrow.capacities @ (paid * paid) / rho
        reflected = 2.0 * reached - self._at
        self._at = self._anchor + restarts.share * (reflected - self._anchor)
        self._at[0] = method.narrow.inside(self._at[0])
        return restarts.note(float(np.sqrt(max(square, 0.0))))

    def _balance(self, method: Method) -> None:
        size, moved = method.passes.change()
        price = method.narrow.price
        paid = float(method.narrow.capacities @ (price - self._looked) ** 2)
        self._looked = price
        method.note_residuals(moved / max(size, 1e-300), paid)
        if method.count > 1 and moved > 0.0 and paid > 0.0:
            factor = np.sqrt(np.sqrt(paid / moved) / method.rho)
            method.rho *= float(np.clip(factor, 1.0 / _STEP, _STEP))


class Published:
    """The published scheme: every constraint soft at the same fixed rho, in both blocks.

    Minimising ``rho/2 ||(a x - b + alpha)+||^2`` in a block leaves the price ``p = rho (a x - b +
    alpha)+``, so that the scaled multiplier's update ``alpha += (a x - b)`` is ``alpha = p / rho``.
    It stops at the relative residuals of the released package (Xu, Yu and Yan, OSDI 2025).
    """

    def resume(self, method: Method) -> Resume:
        """See :meth:`Scheme.resume`."""
        return _at_prices(method)

    def iterate(self, method: Method) -> bool:
        """Both blocks with soft rows, then the multipliers."""
        narrow, rho = method.narrow, method.rho
        soft = (narrow.rows.kind == Utility.NONE) & (narrow.rows.shift == 0.0)
        narrow.softness = np.where(soft, 1.0 / rho, 0.0)
        method.set_prox_centre()
        method.passes.absorb_excess(rho)
        method.solve_demands(1.0 / rho)
        narrow.excess = np.where(soft, narrow.price / rho, 0.0)
        method.solve_rows()
        method.advance(1.0)
        method.measure_change()
        residuals = method.residuals
        return method.count > 1 and max(residuals.primal, residuals.dual) <= _PUBLISHED_STOP


class Joint:
    """Joint minimisation over both copies of X by sweeps over the blocks.

    The penalty method then raises rho; the augmented Lagrangian then moves the multipliers.

    Args:
        multipliers: Whether there are multipliers.
    """

    def __init__(self, *, multipliers: bool) -> None:
        self._multipliers = multipliers
        self._sweeps = 0
        self._first = 0.0

    def resume(self, method: Method) -> Resume:
        """See :meth:`Scheme.resume`."""
        return _at_prices(method)

    def iterate(self, method: Method) -> bool:
        """One sweep; after the last of a minimisation, the multipliers or rho."""
        self._first = self._first or method.rho
        method.set_prox_centre()
        method.solve_demands()
        method.passes.load_multipliers()
        method.solve_rows()
        method.advance(1.0)
        method.measure_change()
        self._sweeps += 1
        if self._sweeps == _SWEEPS or method.moved <= _SETTLED:
            self._sweeps = 0
            if self._multipliers:
                method.passes.update_multipliers()
            elif method.rho < _LARGEST * self._first:
                method.rho *= _GROWTH
        return False
