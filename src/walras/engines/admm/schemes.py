"""The schemes: how one iteration uses the two blocks.

``Splitting`` is the engine's own scheme, and ``Collapsed`` its variant without copies.
``Published`` and ``Joint`` are there for comparison.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from walras.engines.admm.method import Method
from walras.engines.admm.option_groups import JointMinimisation
from walras.engines.admm.options import ADMMOptions
from walras.engines.admm.passes import Resume
from walras.engines.admm.restarts import REFLECTED, Restarts
from walras.separable import Utility
from walras.types import Floats

PUBLISHED_CORES = 64  # cores among which the published timing shares the subproblems
_PREFERENCE_FROM = 20  # iteration from which residuals are reliable enough to prefer a side
_OPTIONS = ADMMOptions()


class Scheme(Protocol):
    """One way to iterate."""

    def resume(self, method: Method) -> Resume:
        """The function that gives a slice its state at x and the present prices."""
        ...

    def iterate(self, method: Method) -> bool:
        """Make one iteration; return True when the scheme's own rule stops it."""
        ...


def _at_prices(method: Method) -> Resume:
    """The function that sets the state of a fixed point at x and the present prices."""
    rho, price = method.rho, method.narrow.price.copy()
    return lambda passes: passes.init_at_prices(rho, price)


class Splitting:
    """Douglas-Rachford splitting with over-relaxation; rho balances the residuals at first.

    Args:
        relaxation: Over-relaxation, 1 to under 2.
        restarts: Reflected Halpern iterations with restarts after the first ones.
        options: How rho adapts, and when epochs end.
    """

    def __init__(
        self, relaxation: float, *, restarts: bool = False, options: ADMMOptions = _OPTIONS
    ) -> None:
        self._relaxation, self._rule = relaxation, options.penalty
        self._first_restart = options.restart_rule.first
        self._restarts = Restarts(options.restart_rule) if restarts else None
        self._next = 1

    def resume(self, method: Method) -> Resume:
        """See :meth:`Scheme.resume`."""
        return _at_prices(method)

    def iterate(self, method: Method) -> bool:
        """Solve both blocks, move the state, and at times adapt rho (Boyd et al. 2011, 3.4.1)."""
        method.set_prox_centre()
        method.solve_demands()
        method.solve_rows()
        if self._restarts is None or method.count < self._first_restart:
            method.advance(self._relaxation)
            due = method.count == self._next
        else:
            due = self._restart(method, self._restarts)
        if due:
            few = min(self._rule.every, 2 + method.count // 3)
            early = method.count <= self._rule.until
            self._next = method.count + (few if early else max(method.count // 2, 1))
            self._balance(method)
        return False

    def _restart(self, method: Method, restarts: Restarts) -> bool:
        """Take a reflected step towards the anchor; return True when an epoch ended."""
        if restarts.starting:
            method.passes.set_anchor()
        method.advance(REFLECTED)
        method.passes.restart(restarts.share)
        return restarts.note(method.apart)

    def _balance(self, method: Method) -> None:
        first = method.seen == 0
        method.measure_change()
        if not first:
            residuals, rule = method.residuals, self._rule
            ratio = float(np.sqrt(residuals.primal / max(residuals.dual, 1e-300)))
            late = self._restarts is None and method.count > _PREFERENCE_FROM
            ratio *= rule.preference if late else 1.0
            if not 1.0 / rule.imbalance <= ratio <= rule.imbalance:
                most = rule.largest_factor
                method.rescale(float(np.clip(ratio, 1.0 / most, most)))


class Collapsed:
    """Primal-dual steps in the diagonal metric of the copies, without the copies.

    Without the bounds of a row's copies, its multipliers become one price a row. This is Chambolle
    and Pock 2011 with the step sizes of Pock and Chambolle 2011; rho is the ratio of the distances
    that prices and entries have moved (Applegate et al. 2021). Its fixed-point residual is taken in
    the metric

        ||(x, p)||^2 = rho sum_q W_q x_q^2 - 2 p A x + sum_r (sum a^2 / w)_r p_r^2 / rho.

    Args:
        restarts: Reflected Halpern iterations with restarts.
        options: How rho adapts, and when epochs end.
    """

    def __init__(self, *, restarts: bool = False, options: ADMMOptions = _OPTIONS) -> None:
        self._restarts = Restarts(options.restart_rule) if restarts else None
        self._rule = options.penalty
        self._at = self._anchor = np.zeros((2, 0))  # prices of the state, and its use of rows
        self._looked = np.zeros(0)
        self._next = 1

    def resume(self, method: Method) -> Resume:
        """See :meth:`Scheme.resume`."""
        return lambda passes: passes.init_without_copies()

    def iterate(self, method: Method) -> bool:
        """Step the prices, then x at extrapolated prices; relax, or restart."""
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
            self._next = method.count + min(self._rule.every, 2 + method.count // 3)
            self._balance(method)
        return False

    def _restart(self, method: Method, restarts: Restarts, reached: Floats) -> bool:
        """Take a reflected step towards the anchor; return True when an epoch ended."""
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
            factor, most = np.sqrt(np.sqrt(paid / moved) / method.rho), self._rule.largest_factor
            method.rho *= float(np.clip(factor, 1.0 / most, most))


class Published:
    """The published scheme: every constraint is soft with the same fixed rho, in both blocks.

    Minimising ``rho/2 ||(a x - b + alpha)+||^2`` in a block leaves the price ``p = rho (a x - b +
    alpha)+``, so that the scaled multiplier's update ``alpha += (a x - b)`` is ``alpha = p / rho``.
    It stops at the relative residuals of the released package (Xu, Yu and Yan, OSDI 2025).

    Args:
        stop: Relative residual at which it stops.
    """

    def __init__(self, stop: float = _OPTIONS.paper_residual) -> None:
        self._stop = stop

    def resume(self, method: Method) -> Resume:
        """See :meth:`Scheme.resume`."""
        return _at_prices(method)

    def iterate(self, method: Method) -> bool:
        """Solve both blocks with soft rows, then update the multipliers."""
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
        return method.count > 1 and max(residuals.primal, residuals.dual) <= self._stop


class Joint:
    """Joint minimisation over both copies of X by sweeps over the blocks.

    The penalty method then raises rho; the augmented Lagrangian then moves the multipliers.

    Args:
        multipliers: Whether there are multipliers.
        rule: When a minimisation is done, and how the penalty grows.
    """

    def __init__(self, *, multipliers: bool, rule: JointMinimisation = _OPTIONS.joint) -> None:
        self._multipliers, self._rule = multipliers, rule
        self._sweeps = 0
        self._first = 0.0

    def resume(self, method: Method) -> Resume:
        """See :meth:`Scheme.resume`."""
        return _at_prices(method)

    def iterate(self, method: Method) -> bool:
        """Make one sweep; after the last sweep of a minimisation, update the multipliers or rho."""
        self._first = self._first or method.rho
        method.set_prox_centre()
        method.solve_demands()
        method.passes.load_multipliers()
        method.solve_rows()
        method.advance(1.0)
        method.measure_change()
        self._sweeps += 1
        if self._sweeps == self._rule.sweeps or method.moved <= self._rule.change:
            self._sweeps = 0
            if self._multipliers:
                method.passes.update_multipliers()
            elif method.rho < self._rule.largest_penalty * self._first:
                method.rho *= self._rule.growth
        return False
