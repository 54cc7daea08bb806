"""The interior-point loop: from a form and a point to a point that is optimal for the form."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from walras.certificate import LEAST_TERMS
from walras.engines.interior.form import Form
from walras.engines.interior.point import Layout, Point, Residuals, residuals
from walras.engines.interior.steps import System, iterate
from walras.kernels.schur.elimination import Elimination, FactorError
from walras.separable import Utility

FEASIBLE = 1e-8
_ROUGH = 1e-2  # residuals of this share of the tolerance hardly show in the gap
_MENDED = 1e-6  # residuals that the certificate's repair takes out at little cost
_STALLED = 8  # iterations without progress
_TINY_STEP = 1e-6
_ZERO = 1e-15  # share of the first point's objective below which it is on its way to zero
_LEAST = 1e-2  # the barrier parameter stops at this share of what the tolerance asks for


@dataclass(frozen=True)
class Termination:
    """Why the loop ended.

    Attributes:
        point: The best point met.
        residuals: Its residuals.
        converged: Whether gap and residuals are within the tolerance.
        stopped: Whether the watcher asked to stop.
        iterations: Newton systems factored.
    """

    point: Point
    residuals: Residuals
    converged: bool
    stopped: bool
    iterations: int


Watcher = Callable[[int, Residuals, float, float, Point], bool]


def gap_scale(form: Form, found: Residuals, least: float = 0.0) -> float:
    """About the denominator of the gap that the certificate will use.

    Args:
        form: The problem.
        found: Residuals of a point.
        least: What it is at least, where the objective has no scale of its own.
    """
    scale = form.problem.gap_scale
    if scale is not None:
        return scale
    return max(abs(found.value), LEAST_TERMS * found.terms, least) or 1.0


def run(
    form: Form,
    layout: Layout,
    point: Point,
    tolerance: float,
    most: int,
    elimination: Elimination,
    watch: Watcher,
    deadline: float = np.inf,
) -> Termination:
    """Iterate until the gap is within the tolerance, nothing moves, or the watcher says stop.

    Args:
        form: The problem.
        layout: Its layout.
        point: Where to begin; every positive coordinate is positive.
        tolerance: Relative gap to reach; residuals are held to the smaller of it and 1e-8, or to a
            hundredth of it where that is more.
        most: Iterations at most.
        elimination: Of this form's blocks.
        watch: Called once an iteration with (iteration, residuals, gap, step, point); True stops.
        deadline: ``time.perf_counter`` value at which to stop.
    """
    found = _measure(form, layout, point)
    best, best_merit, since = (point, found), np.inf, 0
    length, k = float("nan"), 0
    zero = 0.0 if _never_zero(form) else _ZERO * max(abs(found.value), found.terms)
    for k in range(most + 1):
        scale = gap_scale(form, found, zero)
        gap = found.gap / scale
        merit = max(gap, found.primal_error, found.dual_error)
        if not np.isfinite(merit):
            break
        if merit < 0.9 * best_merit:
            best, best_merit, since = (point, found), merit, 0
        else:
            since += 1
        limit = max(_ROUGH * tolerance, min(tolerance, FEASIBLE))
        converged = gap <= tolerance and max(found.primal_error, found.dual_error) <= limit
        stopped = watch(k, found, gap, length, point) or time.perf_counter() > deadline
        if converged or stopped:
            return Termination(point, found, converged, stopped, k)
        if _is_stuck(form, best[1], since, length, tolerance):
            break
        try:
            least = _LEAST * tolerance * scale / layout.count
            point, primal, dual = _advance(form, layout, point, found, elimination, least)
        except FactorError:
            break
        length = min(primal, dual)
        found = _measure(form, layout, point)
    return Termination(best[0], best[1], False, False, k)


def _never_zero(form: Form) -> bool:
    """Whether some utility is w y^-b, which may fall by many decades and never is nothing."""
    return bool(np.any((form.kind == Utility.POWER) & (form.parameter > 1)))


def _is_stuck(form: Form, best: Residuals, since: int, length: float, tolerance: float) -> bool:
    """Whether nothing is to be hoped for; residuals beside a closed gap are what repair mends."""
    gap = best.gap / gap_scale(form, best)
    if gap <= tolerance and max(best.primal_error, best.dual_error) <= _MENDED:
        return since > _STALLED // 2
    return since > _STALLED and (length < _TINY_STEP or gap < 1e-10 or since > 5 * _STALLED)


def _measure(form: Form, layout: Layout, point: Point) -> Residuals:
    # A point that runs away overflows before the loop sees that it is no longer finite.
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        return residuals(form, layout, point)


def _advance(
    form: Form,
    layout: Layout,
    point: Point,
    found: Residuals,
    elimination: Elimination,
    least: float,
) -> tuple[Point, float, float]:
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        return iterate(System.of(form, layout, point, found, elimination), least)
