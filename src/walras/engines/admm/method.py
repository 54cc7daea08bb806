"""The iterations: demands' block, rows' block, and what moves between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from walras.engines.admm.executor import Crew
from walras.engines.admm.form import Form
from walras.engines.admm.narrow import Narrow
from walras.engines.admm.roots import increasing_root
from walras.engines.admm.start import Beginning

Floats = npt.NDArray[np.float64]

_EVERY = 10  # most iterations between two looks at rho
_UNTIL = 150  # iteration from which rho is frozen
_STEP = 5.0  # largest factor of a change of rho
_BALANCED = 1.5  # imbalance of the residuals that is left alone
_SLIGHT = 1e-6  # multipliers whose square is a smaller share of x's say nothing
_PASSES = 2  # evaluations of the rows' block an iteration
_LOOSE, _TIGHT = 1e-2, 1e-10  # tolerances of the blocks: relative to the residual, between these
_GROUP = 1e-3  # tolerance of the demands' block relative to that of the rows' block


@dataclass
class Residuals:
    """How far the two blocks are apart, and how far the demands' block still moves.

    Attributes:
        primal: Norm of ``y - x`` over that of x, in the metric.
        dual: Norm of the change of x in one iteration over that of the multipliers ``z - x``.
    """

    primal: float = np.inf
    dual: float = np.inf


class Method:
    """The state of one solve that does not live in the slices.

    Args:
        form: The split problem.
        crew: Holders of its slices.
        first: Where to begin.
        relaxation: Over-relaxation.
    """

    def __init__(self, form: Form, crew: Crew, first: Beginning, relaxation: float) -> None:
        self.form, self.crew = form, crew
        self.rho, self.relaxation = first.rho, relaxation
        problem = form.problem
        scalar = None
        if form.scalar_in:
            scalar = (
                float(problem.scalar_cost[0]),
                float(problem.scalar_lower[0]),
                float(problem.scalar_upper[0]),
            )
        self._group_scalar = scalar if form.scalar_in == "groups" else None
        self.narrow = Narrow(
            form.narrow,
            crew.total("capacities"),
            scalar if form.scalar_in == "narrow" else None,
        )
        self.narrow.price, self.narrow.t = first.pull, first.t
        crew.total("begin", self.rho, first.pull)
        self.t = first.t
        self.count = 0
        self.residuals = Residuals()
        self._tolerance = _LOOSE
        self._looked, self._looks = 0, 1

    def iterate(self) -> None:
        """One iteration of Douglas-Rachford splitting with over-relaxation."""
        self.crew.mark(self.rho, self.narrow.price)
        self.crew.total("aim", self.rho)
        self.respond()
        self.narrow.settle(self._use, self.rho, self._tolerance, _PASSES)
        apart, size, dual = self.crew.total(
            "advance", self.narrow.price / self.rho, self.relaxation, 0.0
        )
        self.count += 1
        self._note(apart, size, dual)

    def respond(self) -> None:
        """Solve the demands' block, at the scalar that the demands' prices pay for."""
        inner = self._tolerance * _GROUP
        if self._group_scalar is None:
            self.crew.total("respond", 0.0, inner)
            return
        cost, lower, upper = self._group_scalar

        def paid(t: float) -> tuple[float, float]:
            value, slope = self.crew.total("respond", t, inner)
            return cost + float(value), float(slope)

        self.t = increasing_root(paid, self.t, lower, upper, self._tolerance * abs(cost))

    def _use(self, price: Floats) -> Floats:
        return self.crew.total("use", price)

    def _note(self, apart: float, size: float, dual: float) -> None:
        self.residuals.primal = float(np.sqrt(apart / max(size, 1e-300)))
        self._tolerance = float(np.clip(0.1 * self.residuals.primal, _TIGHT, _LOOSE))
        if self.count == self._looks:
            moved = self.crew.total("drift")[1]
            since = self.count - self._looked
            self.residuals.dual = float(np.sqrt(moved / max(dual, _SLIGHT * size, 1e-300))) / since
            self._looked, self._looks = self.count, self.count + min(_EVERY, 2 + self.count // 3)
            if since < self.count <= _UNTIL:
                self._balance()

    def _balance(self) -> None:
        """Move rho so that both residuals shrink alike (Boyd et al. 2011, section 3.4.1)."""
        ratio = float(np.sqrt(self.residuals.primal / max(self.residuals.dual, 1e-300)))
        if 1.0 / _BALANCED <= ratio <= _BALANCED:
            return
        factor = float(np.clip(ratio, 1.0 / _STEP, _STEP))
        self.rho *= factor
        self.crew.total("rescale", 1.0 / factor)

    def shared(self) -> Floats:
        """(scalars,) the shared scalars."""
        found = {"groups": [self.t], "narrow": [self.narrow.t], "": []}
        return np.array(found[self.form.scalar_in])

    def point(self) -> tuple[Floats, Floats, Floats]:
        """Entries, scalars and prices of the problem that was asked about."""
        form = self.form
        x = np.empty(form.entries.count)
        x[form.order] = np.concatenate(self.crew.collect("entries"))
        prices = np.zeros(form.problem.rows.count)
        prices[form.narrow.source[:-1]] = self.narrow.price[:-1]
        inside = form.groups.source >= 0
        prices[form.groups.source[inside]] = np.concatenate(self.crew.collect("prices"))[inside]
        if form.lifted:
            return x[: -form.lifted], x[-form.lifted :], prices
        return x, self.shared(), prices
