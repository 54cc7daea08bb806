"""One iteration of the primal-dual method: predict, correct, centre, move.

Mehrotra's predictor-corrector (SIAM J. Optim. 1992) with the second-order term clipped to a
multiple of the barrier parameter, and Gondzio's multiple centrality correctors (COAP 1996), each
correction with the share that lets the step go furthest (Colombo and Gondzio, COAP 2008).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from walras.engines.interior.falls import Falls
from walras.engines.interior.form import Floats, Form
from walras.engines.interior.newton import Direction, Newton
from walras.engines.interior.point import (
    Layout,
    Point,
    Residuals,
    RowModel,
    Step,
    added,
    moved,
    products,
    row_model,
)
from walras.kernels.elimination import Elimination
from walras.separable import Utility

_CLIP = 10.0  # second-order terms at most this many barrier parameters
_ENOUGH = 0.9  # no corrector above this step length
_OUTLIERS = (0.1, 10.0)  # products outside these multiples of the target are pulled back
_SIGMA = (1e-9, 1.0)
_REFINEMENTS = 2
_REFINE_ABOVE = 1e-12
_SHORT = 0.1  # steps below this are compared with those that no second-order term bends
_REACH = 0.5  # by how much more a corrector tries to go
_LEAST_GAIN = 0.02  # of the two lengths together, for which one more corrector is tried


@dataclass(frozen=True, eq=False)
class Wish:
    """By how much the products are to move; of a utility row, its second-order term."""

    x: Floats
    w: Floats
    s: Floats
    utility: Floats


@dataclass(frozen=True, eq=False)
class System:
    """Everything one iteration's directions are computed from."""

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

    def predictor(self) -> Step:
        """The Newton direction towards products of zero, without second-order terms."""
        point, bounded = self.point, self.layout.bounded
        g = -point.z - self.residuals.dual
        g[bounded] += point.y
        rho, border = self.rows.rho, self.residuals.border
        move = self.newton.solve(g, rho - self.residuals.primal, -border)
        return self._step(-point.x * point.z, -point.w * point.y, rho, move)

    def correction(self, wish: Wish) -> Step:
        """What moves the products by a wish and leaves the other equations as they are."""
        point, bounded = self.point, self.layout.bounded
        g = wish.x / point.x
        g[bounded] -= wish.w / point.w
        rho = self.rows.target * wish.s + wish.utility
        move = self.newton.solve(g, rho, np.zeros_like(self.residuals.border))
        return self._step(wish.x, wish.w, rho, move)

    def _step(self, x: Floats, w: Floats, rho: Floats, move: Direction) -> Step:
        """The direction with what it gives z, y and s, for wishes x and w and rows' constants."""
        point = self.point
        dw = -move.x[self.layout.bounded]
        return Step(
            x=move.x,
            z=(x - point.z * move.x) / point.x,
            w=dw,
            y=(w - point.y * dw) / point.w,
            s=rho - self.rows.theta * move.p,
            p=move.p,
            t=move.t,
        )

    def refined(self, step: Step) -> Step:
        """The step with what rounding left of the rows' residuals taken out."""
        before, scale = np.inf, self.residuals.scale
        for _ in range(_REFINEMENTS):
            left = self.form.matrix @ step.x + self.form.border @ step.t + step.s
            error = self.residuals.primal - left
            size = float(np.max(np.abs(error) / scale, initial=0.0))
            if size < _REFINE_ABOVE or size > 0.5 * before:
                break
            before = size
            tau = -self.residuals.border - self.form.border_h * step.t - self.form.border.T @ step.p
            x, w, rows = (np.zeros_like(part) for part in (step.x, step.w, step.s))
            fix = self.newton.solve(x, -error, tau)
            step = added(step, self._step(x, w, rows, fix), 1.0, 1.0)
        return step

    def corrector(self, affine: Step, target: float) -> Wish:
        """Every product to the target, less the predictor's second-order term."""
        most = _CLIP * self.residuals.mu

        def wish(da: Floats, db: Floats) -> Floats:
            return np.asarray(target - np.clip(da * db, -most, most))

        return Wish(
            wish(affine.x, affine.z),
            wish(affine.w, affine.y),
            wish(affine.s, affine.p),
            self._utility_second_order(affine),
        )

    def centring(self, target: float) -> Wish:
        """Every product to the target, no second-order term."""
        n, k, m = (len(part) for part in (self.point.x, self.point.w, self.point.s))
        return Wish(np.full(n, target), np.full(k, target), np.full(m, target), np.zeros(m))

    def _utility_second_order(self, affine: Step) -> Floats:
        """-ds dq/q of ``s q = const`` with q = p (log) or p^(1/a) (power)."""
        out = np.zeros(len(self.point.p))
        for kind in (Utility.LOG, Utility.POWER):
            rows = self.form.kind == kind
            a = self.form.parameter[rows] if kind == Utility.POWER else 1.0
            out[rows] = -affine.s[rows] * affine.p[rows] / (a * self.point.p[rows])
        return out

    def centred(self, step: Step, lengths: tuple[float, float], target: float) -> Wish:
        """A pull on the products that a longer step would leave far from the target."""
        trial = moved(self.point, step, *(min(1.0, length + _REACH) for length in lengths))
        low, high = _OUTLIERS[0] * target, _OUTLIERS[1] * target

        def pull(products: Floats) -> Floats:
            return np.maximum(np.clip(products, low, high) - products, -high)

        return Wish(
            pull(trial.x * trial.z),
            pull(trial.w * trial.y),
            pull(trial.s * trial.p),
            np.zeros(len(trial.s)),
        )


def iterate(system: System, least: float) -> tuple[Point, float, float]:
    """One iteration: the next point and the lengths of the primal and the dual step.

    Args:
        system: The factored system.
        least: Barrier parameter below which nothing is gained; the target does not go below it.
    """
    layout, point, mu = system.layout, system.point, system.residuals.mu
    affine = system.predictor()
    falls = Falls.of(layout, point, affine)
    after = products(layout, moved(point, affine, *falls.lengths)) / layout.count
    sigma = float(np.clip((after / mu if mu > 0 else 0.0) ** 3, *_SIGMA))
    target = max(sigma * mu, least)
    step, falls = _corrected(system, affine, falls, target)
    if min(falls.lengths) < _SHORT:
        plain = added(affine, system.correction(system.centring(target)), 1.0, 1.0)
        if min(Falls.of(layout, point, plain).lengths) > min(falls.lengths):
            step = plain
    step = system.refined(step)
    primal, dual = Falls.of(layout, point, step).damped()
    if system.together:
        primal = dual = min(primal, dual)
    return moved(point, step, primal, dual), primal, dual


def _corrected(system: System, step: Step, falls: Falls, target: float) -> tuple[Step, Falls]:
    """The predictor with Mehrotra's correction and a few of Gondzio's, each with its best share."""
    wish = system.corrector(step, target)
    for k in range(1 + system.layout.correctors):
        if k:
            if min(falls.lengths) > _ENOUGH:
                break
            wish = system.centred(step, falls.lengths, target)
        correction, before = system.correction(wish), sum(falls.lengths)
        more = Falls.of(system.layout, system.point, correction)
        shares = falls.best_shares(more, together=system.together)
        step, falls = added(step, correction, *shares), falls.added(more, *shares)
        if k and sum(falls.lengths) < before + _LEAST_GAIN:
            break
    return step, falls
