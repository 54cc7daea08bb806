"""One iteration of the primal-dual method: predict, correct, centre, move.

Mehrotra's predictor-corrector (SIAM J. Optim. 1992) with the second-order term clipped to a
multiple of the barrier parameter, and Gondzio's multiple centrality correctors (COAP 1996).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras.engines.interior.form import Floats, Form
from walras.engines.interior.newton import Newton
from walras.engines.interior.point import (
    Layout,
    Point,
    Residuals,
    RowModel,
    Step,
    longest,
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
_DAMPING = (0.98, 0.9995)  # for short and for long steps


@dataclass(frozen=True, eq=False)
class Wish:
    """Target minus present product of every complementary pair; of a utility, its second order."""

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

    def direction(self, wish: Wish, refinements: int = _REFINEMENTS) -> Step:
        """The Newton direction towards given products, refined on the rows."""
        point, bounded = self.point, self.layout.bounded
        g = wish.x / point.x - self.residuals.dual
        g[bounded] -= wish.w / point.w
        rho = self.rows.rho + self.rows.target * (wish.s + point.s * point.p) + wish.utility
        move = self.newton.solve(g, rho - self.residuals.primal, -self.residuals.border)
        x, p, t = move.x, move.p, move.t
        before, scale = np.inf, self.residuals.scale
        for _ in range(refinements):
            error = self._row_error(rho, x, p, t)
            size = float(np.max(np.abs(error) / scale, initial=0.0))
            if size < _REFINE_ABOVE or size > 0.5 * before:
                break
            before = size
            tau = -self.residuals.border - self.form.border_h * t - self.form.border.T @ p
            fix = self.newton.solve(np.zeros(len(x)), -error, tau)
            x, p, t = x + fix.x, p + fix.p, t + fix.t
        dw = -x[bounded]
        return Step(
            x=x,
            z=(wish.x - point.z * x) / point.x,
            w=dw,
            y=(wish.w - point.y * dw) / point.w,
            s=rho - self.rows.theta * p,
            p=p,
            t=t,
        )

    def _row_error(self, rho: Floats, x: Floats, p: Floats, t: Floats) -> Floats:
        ds = rho - self.rows.theta * p
        moved = self.form.matrix @ x + self.form.border @ t
        return np.asarray(self.residuals.primal - moved - ds)

    def predictor(self) -> Wish:
        """Every product to zero, no second-order term."""
        point = self.point
        return Wish(
            -point.x * point.z, -point.w * point.y, -point.s * point.p, np.zeros(len(point.s))
        )

    def corrector(self, affine: Step, target: float) -> Wish:
        """Every product to the target, less the predictor's second-order term."""
        point, most = self.point, _CLIP * self.residuals.mu

        def wish(a: Floats, b: Floats, da: Floats, db: Floats) -> Floats:
            return target - a * b - np.clip(da * db, -most, most)

        return Wish(
            wish(point.x, point.z, affine.x, affine.z),
            wish(point.w, point.y, affine.w, affine.y),
            wish(point.s, point.p, affine.s, affine.p),
            self._utility_second_order(affine),
        )

    def _utility_second_order(self, affine: Step) -> Floats:
        """-ds dq/q of ``s q = const`` with q = p (log) or p^(1/a) (power)."""
        out = np.zeros(len(self.point.p))
        for kind in (Utility.LOG, Utility.POWER):
            rows = self.form.kind == kind
            a = self.form.parameter[rows] if kind == Utility.POWER else 1.0
            out[rows] = -affine.s[rows] * affine.p[rows] / (a * self.point.p[rows])
        return out

    def centred(self, wish: Wish, step: Step, lengths: tuple[float, float], target: float) -> Wish:
        """The wish plus a pull on the products that a longer step would leave far from target."""
        primal, dual = (min(1.0, 1.08 * length + 0.08) for length in lengths)
        trial = moved(self.point, step, primal, dual)
        low, high = _OUTLIERS[0] * target, _OUTLIERS[1] * target

        def pull(products: Floats) -> Floats:
            return np.where(
                products < low,
                low - products,
                np.where(products > high, np.maximum(high - products, -high), 0.0),
            )

        return Wish(
            wish.x + pull(trial.x * trial.z),
            wish.w + pull(trial.w * trial.y),
            wish.s + pull(trial.s * trial.p),
            wish.utility,
        )


def iterate(system: System, least: float) -> tuple[Point, float, float]:
    """One iteration: the next point and the lengths of the primal and the dual step.

    Args:
        system: The factored system.
        least: Barrier parameter below which nothing is gained; the target does not go below it.
    """
    layout, point = system.layout, system.point
    affine = system.direction(system.predictor(), refinements=0)
    lengths = _lengths(layout, point, affine)
    after = products(layout, moved(point, affine, *lengths)) / layout.count
    share = after / system.residuals.mu if system.residuals.mu > 0 else 0.0
    sigma = float(np.clip(share**3, *_SIGMA))
    target = max(sigma * system.residuals.mu, least)
    wish = system.corrector(affine, target)
    step = system.direction(wish)
    lengths = _lengths(layout, point, step)
    for _ in range(layout.correctors):
        if min(lengths) > _ENOUGH:
            break
        better = system.centred(wish, step, lengths, target)
        other = system.direction(better)
        longer = _lengths(layout, point, other)
        if sum(longer) < sum(lengths) + 0.02:
            break
        gain = sum(longer) - sum(lengths)
        wish, step, lengths = better, other, longer
        if gain < 0.1:
            break
    if min(lengths) < 0.1 and min(_lengths(layout, point, affine)) > 1.5 * min(lengths):
        step = system.direction(_without_second_order(system, target))
    primal, dual = _damped(layout, point, step)
    if np.any(system.form.h > 0):
        primal = dual = min(primal, dual)
    return moved(point, step, primal, dual), primal, dual


def _without_second_order(system: System, target: float) -> Wish:
    plain = system.predictor()
    return Wish(plain.x + target, plain.w + target, plain.s + target, plain.utility)


def _lengths(layout: Layout, point: Point, step: Step) -> tuple[float, float]:
    primal, dual = longest(layout, point, step)
    return 1.0 / max(1.0, primal), 1.0 / max(1.0, dual)


def _damped(layout: Layout, point: Point, step: Step) -> tuple[float, float]:
    primal, dual = longest(layout, point, step)
    damping = _DAMPING[min(1.0 / max(1.0, primal), 1.0 / max(1.0, dual)) > 0.5]
    return min(1.0, damping / max(primal, 1e-12)), min(1.0, damping / max(dual, 1e-12))
