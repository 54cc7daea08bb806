"""The common part of the schemes: the two blocks, their residuals, and the point they represent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from walras.certificate.structure import structure
from walras.engines.admm.coupling_rows import CouplingRows
from walras.engines.admm.form import Form
from walras.engines.admm.roots import increasing_root
from walras.engines.admm.start import Beginning
from walras.engines.admm.worker_pool import WorkerPool
from walras.types import Floats

_LEAST_MULTIPLIERS = 1e-6  # multipliers are no scale if their squares are below this share of x's
_ROW_EVALUATIONS = 2  # evaluations of the rows' block an iteration
# The blocks are solved to a tenth of the primal residual, within these relative tolerances.
_BLOCK_TOLERANCE = 0.1
_LOOSEST, _TIGHTEST = 1e-2, 1e-10
_DEMAND_TOLERANCE = 1e-3  # tolerance of the demands' block relative to that of the rows' block
_SCALAR_TOLERANCE = 10.0  # tolerance of the scalar's root relative to that of the rows' block
_TINY = 1e-300  # avoids a division by zero


@dataclass
class Residuals:
    """The distance between the two blocks, and the movement of the demands' block.

    Attributes:
        primal: Norm of ``y - x`` over the norm of x, in the metric.
        dual: Norm of the change of x in one iteration over the norm of the multipliers ``z - x``.
    """

    primal: float = np.inf
    dual: float = np.inf


class Method:
    """The state of one solve outside the slices.

    Args:
        form: The split problem.
        pool: The workers of its slices.
        first: The first point.
        reach: Upper bound on a scalar in the demands' rows.
    """

    def __init__(
        self, form: Form, pool: WorkerPool, first: Beginning, reach: float = np.inf
    ) -> None:
        self.form, self.pool, self.passes, self.rho = form, pool, pool.passes, first.rho
        problem = form.problem
        scalar = None
        if form.scalar_in:
            scalar = (
                float(problem.scalar_cost[0]),
                float(problem.scalar_lower[0]),
                min(float(problem.scalar_upper[0]), max(reach, float(problem.scalar_lower[0]))),
            )
        self._group_scalar = scalar if form.scalar_in == "groups" else None
        capacities = self.passes.capacities() if form.capacities is None else form.capacities
        self.narrow = CouplingRows(
            form.narrow, capacities, scalar if form.scalar_in == "narrow" else None
        )
        self.narrow.price, self.narrow.t, self.t = first.pull, first.t, first.t
        self.count, self.seen = 0, 0
        self.moved = self.apart = np.inf
        self.residuals = Residuals()
        self._sizes = (0.0, 0.0)
        self._tolerance = _LOOSEST

    def set_prox_centre(self) -> None:
        """Set the centres of the demands' block, and at first the state of a fixed point."""
        if self.count == 0:
            self.passes.init_at_prices(self.rho, self.narrow.price)
        self.passes.set_prox_centre(self.rho)

    def solve_demands(self, softness: float = 0.0) -> None:
        """Solve the demands' block, at the scalar that the demands' prices pay for."""
        inner = self._tolerance * _DEMAND_TOLERANCE
        if self._group_scalar is None:
            self.passes.solve_demands(0.0, inner, softness)
            return
        cost, lower, upper = self._group_scalar

        def paid(t: float) -> tuple[float, float]:
            value, slope = self.passes.solve_demands(t, inner, softness)
            return cost + float(value), float(slope)

        near = min(_SCALAR_TOLERANCE * self._tolerance, 3.0 * _LOOSEST) * abs(cost)
        self.t = increasing_root(paid, self.t, lower, upper, near)

    def settle_for(self, value: float) -> None:
        """Cap a scalar that is the whole objective at a value that is good enough.

        Args:
            value: Value of the minimised objective.
        """
        problem = self.form.problem
        if self._group_scalar is None or not structure(problem).homogeneous:
            return
        cost, lower, upper = self._group_scalar
        if cost < 0:
            enough = (value - problem.constant) / cost
            self._group_scalar = (cost, lower, max(lower, min(upper, enough)))

    def solve_rows(self) -> None:
        """Solve the rows' block."""
        own = len(self.form.own.source)  # the own rows take a step in every pass
        self.narrow.settle(
            self.passes.row_usage, self.rho, 0.0 if own else self._tolerance, _ROW_EVALUATIONS
        )

    def advance(self, relaxation: float) -> None:
        """Move the state of every copy."""
        price = self.narrow.price / self.rho
        apart, size, dual = self.passes.advance(price, relaxation)
        self.count += 1
        self._sizes = (size, dual)
        self.apart = float(np.sqrt(apart))
        with np.errstate(over="ignore"):  # at x = 0 every distance is infinite
            self.residuals.primal = float(np.sqrt(apart / max(size, _TINY)))
        self._tolerance = float(
            np.clip(_BLOCK_TOLERANCE * self.residuals.primal, _TIGHTEST, _LOOSEST)
        )

    def measure_change(self) -> None:
        """Measure the change of x since the last call."""
        moved = float(self.passes.change()[1])
        size, dual = self._sizes
        since, self.seen = self.count - self.seen, self.count
        self.moved = float(np.sqrt(moved / max(size, _TINY))) / since
        self.residuals.dual = (
            float(np.sqrt(moved / max(dual, _LEAST_MULTIPLIERS * size, _TINY))) / since
        )

    def note_residuals(self, moved: float, paid: float) -> None:
        """Record the residuals of a scheme without copies, from squared moves of x and prices."""
        price = self.narrow.price
        size = float(self.narrow.capacities @ (price * price))
        since, self.seen = self.count - self.seen, self.count
        self.residuals.dual = float(np.sqrt(moved)) / since
        self.residuals.primal = float(np.sqrt(paid / max(size, _TINY))) / since
        self._tolerance = float(
            np.clip(_BLOCK_TOLERANCE * self.residuals.primal, _TIGHTEST, _LOOSEST)
        )

    def rescale(self, factor: float) -> None:
        """Multiply rho and keep every multiplier."""
        self.rho *= factor
        self.passes.rescale(1.0 / factor)

    @property
    def scalar(self) -> float:
        """The shared scalar."""
        return self.t if self.form.scalar_in == "groups" else self.narrow.t

    def point(self) -> tuple[Floats, Floats, Floats]:
        """Entries, scalars and prices of the caller's problem."""
        form, passes = self.form, self.passes
        x = self.assembled(passes.entries())
        prices = self.assembled_prices(passes.prices(), self.narrow.price, passes.own_prices)
        shared = np.array([self.scalar]) if form.scalar_in else x[form.asked_entries :]
        return x[: form.asked_entries], shared, prices

    def assembled(self, gathered: Floats) -> Floats:
        """(entries,) of the form's problem, from entries in the order of the form."""
        x = np.empty(self.form.entries.count)
        x[self.form.order] = gathered
        return x

    def assembled_prices(
        self, of_groups: Floats, narrow: Floats, own: Callable[[], Floats]
    ) -> Floats:
        """(rows,) prices of the rows of the caller's problem.

        Args:
            of_groups: (groups, K) prices of the groups' rows.
            narrow: (narrow,) prices of the rows that slices share.
            own: Gathers (own,) prices of the slices' own narrow rows, if there are any.
        """
        form = self.form
        prices = np.zeros(form.problem.rows.count)
        prices[form.narrow.source[:-1]] = narrow[:-1]
        inside = form.groups.source >= 0
        prices[form.groups.source[inside]] = of_groups[inside]
        if len(form.own.source):
            prices[form.own.source] = own()
        return prices[: form.asked_rows]
