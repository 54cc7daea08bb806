"""One iteration of the primal-dual method: predict, correct, centre, move.

Mehrotra's predictor-corrector (SIAM J. Optim. 1992) with the second-order term clipped to a
multiple of the barrier parameter, and Gondzio's multiple centrality correctors (COAP 1996). Each
correction enters with the share that lets the step go furthest (Colombo and Gondzio, COAP 2008).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from walras.engines.interior.form import Form
from walras.engines.interior.newton import Direction, Newton
from walras.engines.interior.options import DEFAULTS, InteriorOptions
from walras.engines.interior.point import (
    Layout,
    Point,
    Residuals,
    RowModel,
    Step,
    products,
    row_model,
)
from walras.engines.interior.step_length import InverseDistance, RelativeStep
from walras.kernels.schur.elimination import Elimination
from walras.separable import Utility
from walras.types import Floats

_SECOND_ORDER_LIMIT = 10.0  # in barrier parameters; larger second-order terms mislead
_LONG_STEP = 0.9  # step length above which a corrector gains too little to pay
_OUTLIERS = (0.1, 10.0)  # products outside these multiples of the target are pulled back
_CENTRING_RANGE = (1e-9, 1.0)  # of Mehrotra's centring parameter sigma
_REFINEMENTS = 2  # passes of iterative refinement at most; a third gains nothing
_REFINE_ABOVE = 1e-12  # relative residual, about the rounding of one solve
_SHORT_STEP = 0.1  # steps below this are compared with those without second-order terms
_CORRECTOR_REACH = 0.5  # extra step length that a corrector tries to gain
_LEAST_GAIN = 0.02  # least gain of the two lengths together for which one more corrector is tried


@dataclass(frozen=True, eq=False)
class ComplementarityTarget:
    """Wanted moves of the products; for a utility row, its second-order term.

    Attributes:
        products: (columns + bounded + rows,) of x z, w y and s p.
        utility: (rows,).
    """

    products: Floats
    utility: Floats


@dataclass(frozen=True, eq=False)
class System:
    """The data of one iteration's directions."""

    form: Form
    layout: Layout
    point: Point
    residuals: Residuals
    rows: RowModel
    newton: Newton

    @classmethod
    def of(
        cls,
        form: Form,
        layout: Layout,
        point: Point,
        residuals: Residuals,
        elimination: Elimination,
    ) -> System:
        """Factor the Newton system at a point."""
        rows = row_model(form, point)
        d = point.z / point.x + form.h
        d[layout.bounded] += point.y / point.w
        newton = Newton.factor(form, elimination, 1.0 / d, rows.theta)
        return cls(form, layout, point, residuals, rows, newton)

    @cached_property
    def together(self) -> bool:
        """Whether quadratic costs tie the dual step to the primal one."""
        return bool(np.any(self.form.h > 0))

    @cached_property
    def inverse_distance(self) -> InverseDistance:
        """Inverse distances of the point from its bounds."""
        return InverseDistance.of(self.layout, self.point)

    @cached_property
    def _ratio(self) -> Floats:
        """(columns + bounded,) dual coordinate over primal coordinate."""
        own = len(self.point.primal) - self.point.rows
        return np.asarray(self.point.dual[:own] / self.point.primal[:own])

    def predictor(self) -> Step:
        """The Newton direction towards products of zero, without second-order terms."""
        point, rho = self.point, self.rows.rho
        pull = -point.dual[: len(self._ratio)]
        g = self._gathered(pull) - self.residuals.dual
        move = self.newton.solve(g, rho - self.residuals.primal, -self.residuals.border)
        return self._step(pull, rho, move)

    def correction(self, aim: ComplementarityTarget) -> Step:
        """The direction that moves the products by an aim and keeps the other equations."""
        own = len(self._ratio)
        pull = aim.products[:own] * -self.inverse_distance.primal[:own]
        rho = self.rows.target * aim.products[own:] + aim.utility
        move = self.newton.solve(self._gathered(pull), rho, np.zeros(len(self.point.t)))
        return self._step(pull, rho, move)

    def _gathered(self, pull: Floats) -> Floats:
        """(columns,) from (columns + bounded,): the sum of the pulls on x and on w = u - x."""
        n = self.point.columns
        if len(pull) == n:
            return pull
        g = pull[:n].copy()
        g[self.layout.bounded] -= pull[n:]
        return g

    def _step(self, pull: Floats, rho: Floats, move: Direction) -> Step:
        """The direction with the moves of z, y, w and s that follow from it.

        Args:
            pull: (columns + bounded,) wanted move of each product over its primal coordinate.
            rho: (rows,) constants of the rows' models.
            move: The direction of columns, row prices and scalars.
        """
        primal = np.concatenate(
            [move.x, -move.x[self.layout.bounded], rho - self.rows.theta * move.p]
        )
        dual = np.concatenate([pull - self._ratio * primal[: len(pull)], move.p])
        return Step(primal, dual, move.t, self.point.columns, self.point.rows)

    def refined(self, step: Step) -> Step:
        """The step after iterative refinement against the rows' residuals."""
        before, scale = np.inf, self.residuals.scale
        for _ in range(_REFINEMENTS):
            left = self.form.matrix @ step.x + self.form.border @ step.t + step.s
            error = self.residuals.primal - left
            size = float(np.max(np.abs(error) / scale, initial=0.0))
            if size < _REFINE_ABOVE or size > 0.5 * before:
                break
            before = size
            tau = -self.residuals.border - self.form.border_h * step.t - self.form.border.T @ step.p
            none, rows = np.zeros(len(self._ratio)), np.zeros(len(error))
            fix = self.newton.solve(none[: self.point.columns], -error, tau)
            step = step.plus(self._step(none, rows, fix), 1.0, 1.0)
        return step

    def corrector(self, affine: Step, target: float) -> ComplementarityTarget:
        """Move every product to the target, less the predictor's second-order term."""
        most = _SECOND_ORDER_LIMIT * self.residuals.mu
        curvature = np.clip(affine.primal * affine.dual, -most, most)
        return ComplementarityTarget(target - curvature, self._utility_second_order(affine))

    def centring(self, target: float) -> ComplementarityTarget:
        """Move every product to the target, without a second-order term."""
        return ComplementarityTarget(
            np.full(len(self.point.primal), target), np.zeros(self.point.rows)
        )

    def _utility_second_order(self, affine: Step) -> Floats:
        """-ds dq/q of ``s q = const`` with q = p (log) or p^(1/a) (power)."""
        out = np.zeros(len(self.point.p))
        for kind in (Utility.LOG, Utility.POWER):
            rows = self.form.kind == kind
            a = self.form.parameter[rows] if kind == Utility.POWER else 1.0
            out[rows] = -affine.s[rows] * affine.p[rows] / (a * self.point.p[rows])
        return out

    def centred(
        self, step: Step, lengths: tuple[float, float], target: float
    ) -> ComplementarityTarget:
        """Moves for the products that a longer step would leave far from the target."""
        trial = self.point.plus(step, *(min(1.0, length + _CORRECTOR_REACH) for length in lengths))
        low, high = _OUTLIERS[0] * target, _OUTLIERS[1] * target
        products = trial.primal * trial.dual
        pull = np.maximum(np.clip(products, low, high) - products, -high)
        return ComplementarityTarget(pull, np.zeros(trial.rows))


def iterate(
    system: System, least: float, options: InteriorOptions = DEFAULTS
) -> tuple[Point, float, float]:
    """Make one iteration; return the next point and the lengths of the primal and the dual step.

    Args:
        system: The factored system.
        least: Least barrier parameter; smaller ones gain nothing.
        options: How far towards the boundary a step goes.
    """
    layout, point, mu = system.layout, system.point, system.residuals.mu
    affine = system.predictor()
    relative = RelativeStep.of(system.inverse_distance, affine)
    after = products(layout, point.plus(affine, *relative.lengths)) / layout.count
    sigma = float(np.clip(min(after / mu if mu > 0 else 0.0, 1.0) ** 3, *_CENTRING_RANGE))
    target = max(sigma * mu, least)
    step, relative = _corrected(system, affine, relative, target)
    if min(relative.lengths) < _SHORT_STEP:
        plain = affine.plus(system.correction(system.centring(target)), 1.0, 1.0)
        if min(RelativeStep.of(system.inverse_distance, plain).lengths) > min(relative.lengths):
            step = plain
    step = system.refined(step)
    primal, dual = RelativeStep.of(system.inverse_distance, step).damped(
        options.short_step_fraction, options.step_fraction
    )
    if system.together:
        primal = dual = min(primal, dual)
    return point.plus(step, primal, dual), primal, dual


def _corrected(
    system: System, step: Step, relative: RelativeStep, target: float
) -> tuple[Step, RelativeStep]:
    """The predictor with Mehrotra's correction and a few of Gondzio's, each with its best share."""
    aim = system.corrector(step, target)
    for k in range(1 + system.layout.correctors):
        if k:
            if min(relative.lengths) > _LONG_STEP:
                break
            aim = system.centred(step, relative.lengths, target)
        correction, before = system.correction(aim), sum(relative.lengths)
        more = RelativeStep.of(system.inverse_distance, correction)
        shares = relative.best_shares(more, together=system.together)
        step, relative = step.plus(correction, *shares), relative.added(more, *shares)
        if k and sum(relative.lengths) < before + _LEAST_GAIN:
            break
    return step, relative
