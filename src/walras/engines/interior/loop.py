"""The interior-point loop: from a form and a first point to an optimal point."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from walras.certificate import LEAST_TERMS
from walras.engines.interior.form import Form
from walras.engines.interior.options import DEFAULTS, InteriorOptions
from walras.engines.interior.point import Layout, Point, Residuals, residuals
from walras.engines.interior.steps import System, iterate
from walras.kernels.schur.elimination import Elimination, FactorError
from walras.separable import Utility

FEASIBLE = 1e-8  # relative residual at which rows and columns count as met
_RESIDUAL_SHARE = 1e-2  # residuals of this share of the tolerance hardly show in the gap
_REPAIRABLE = 1e-6  # relative residual that the certificate's repair removes at little cost
_TINY_STEP = 1e-6  # share of a full step below which a step is no progress
_CLOSED_GAP = 1e-10  # relative gap below which rounding hides further progress
_PROGRESS = 0.9  # share of the best merit that counts as progress
_VANISHING = 1e-15  # share of the first objective below which the objective is on its way to zero
# the barrier parameter stops at this share of the one that the tolerance asks for
_LEAST_BARRIER = 1e-2


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
    """An estimate of the denominator of the gap that the certificate will use.

    Args:
        form: The problem.
        found: Residuals of a point.
        least: Lower bound of the result, for objectives without a scale of their own.
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
    on_iteration: Watcher,
    deadline: float = np.inf,
    options: InteriorOptions = DEFAULTS,
) -> Termination:
    """Iterate until the gap is within the tolerance, the run stalls, or the watcher says stop.

    Args:
        form: The problem.
        layout: Its layout.
        point: The first point; its coordinates are positive where they must be.
        tolerance: Relative gap to reach. Residuals must reach the smaller of it and 1e-8, or a
            hundredth of it where that is more.
        most: Iterations at most.
        elimination: The elimination of this form's blocks.
        on_iteration: Called with (iteration, residuals, gap, step, point); True stops.
        deadline: ``time.perf_counter`` value at which to stop.
        options: Step fractions, and when a run counts as stalled.
    """
    found = _measure(form, layout, point)
    best, best_merit, since = (point, found), np.inf, 0
    length, k = float("nan"), 0
    zero = 0.0 if _never_zero(form) else _VANISHING * max(abs(found.value), found.terms)
    for k in range(most + 1):
        scale = gap_scale(form, found, zero)
        gap = found.gap / scale
        merit = max(gap, found.primal_error, found.dual_error)
        if not np.isfinite(merit):
            break
        if merit < _PROGRESS * best_merit:
            best, best_merit, since = (point, found), merit, 0
        else:
            since += 1
        limit = max(_RESIDUAL_SHARE * tolerance, min(tolerance, FEASIBLE))
        converged = gap <= tolerance and max(found.primal_error, found.dual_error) <= limit
        stopped = on_iteration(k, found, gap, length, point) or time.perf_counter() > deadline
        if converged or stopped:
            return Termination(point, found, converged, stopped, k)
        if _is_stuck(form, best[1], since, length, tolerance, options.stalled_iterations):
            break
        try:
            least = _LEAST_BARRIER * tolerance * scale / layout.count
            point, primal, dual = _advance(form, layout, point, found, elimination, least, options)
        except FactorError:
            break
        length = min(primal, dual)
        found = _measure(form, layout, point)
    return Termination(best[0], best[1], False, False, k)


def _never_zero(form: Form) -> bool:
    """Whether some utility is w y^-b, which may fall by many decades but never reaches zero."""
    return bool(np.any((form.kind == Utility.POWER) & (form.parameter > 1)))


def _is_stuck(
    form: Form, best: Residuals, since: int, length: float, tolerance: float, stalled: int
) -> bool:
    """Whether the run has stalled; sooner so where the gap is closed and repair meets the rows."""
    gap = best.gap / gap_scale(form, best)
    if gap <= tolerance and max(best.primal_error, best.dual_error) <= _REPAIRABLE:
        return since > stalled // 2
    return since > stalled and (length < _TINY_STEP or gap < _CLOSED_GAP or since > 5 * stalled)


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
    options: InteriorOptions,
) -> tuple[Point, float, float]:
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        return iterate(System.of(form, layout, point, found, elimination), least, options)
