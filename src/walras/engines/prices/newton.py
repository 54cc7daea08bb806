"""Newton's method on the prices: a convex dual function over p >= 0."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from walras.engines.prices.dual import Dual, Point
from walras.types import Floats

_LEAST, _MOST = 1e-9, 1e13  # damping, as a share of the capacity over a price
_MORE, _LESS = 16.0, 64.0  # factors of the damping after a step that failed, and one that did not
_ENOUGH, _FLATTER = 1e-4, 0.9  # decrease, and share of the slope, that a step must reach
_FARTHEST = 3.0  # times the largest price, that one step may move a price
_ROUNDING = 1e-9  # relative change of the dual below which slopes judge a step


def shortfall(point: Point, capacity: Floats) -> float:
    """How far usage and prices are from balance, as a share of the objective.

    At the ceiling of the least throughput nothing is better, so that usage alone counts.
    """
    over = float(np.max(np.maximum(-point.slope, 0.0) / capacity))
    if point.is_highest:
        return over
    return over + float(point.prices @ np.abs(point.slope)) / point.scale


def minimised(
    dual: Dual,
    point: Point,
    h: float,
    enough: float,
    steps: int,
    is_over: Callable[[Point], bool],
) -> Point:
    """The least dual from a point on, until usage and prices balance.

    Args:
        dual: The dual function.
        point: Where to begin, evaluated at ``h``.
        h: The penalty.
        enough: The :func:`shortfall` at which to stop.
        steps: Most steps.
        is_over: Called after each step; True stops.
    """
    damping = _LEAST
    for _ in range(steps):
        dual.short = shortfall(point, dual.shares.capacity)
        if dual.short <= enough:
            break
        while True:
            after = dual.at(_moved(dual, point, damping), h)
            if _is_better(point, after):
                break
            damping *= _MORE
            if damping > _MOST:
                return point
        point, damping = after, max(_LEAST, damping / _LESS)
        if is_over(point):
            break
    return point


def _moved(dual: Dual, point: Point, damping: float) -> Floats:
    """Prices after a damped Newton step; those at 0 that would fall stay."""
    held = (point.prices <= _LEAST * dual.unit) & (point.slope > 0.0)
    free = np.flatnonzero(~held)
    prices = np.where(held, 0.0, point.prices)
    matrix = point.curvature[np.ix_(free, free)]
    matrix = matrix + damping * np.diag(dual.shares.capacity[free] / dual.unit)
    step = np.linalg.solve(matrix, -point.slope[free])
    longest = _FARTHEST * max(float(prices.max()), dual.unit)
    step *= min(1.0, longest / max(float(np.abs(step).max(initial=0.0)), 1e-300))
    prices[free] = np.maximum(prices[free] + step, 0.0)
    return prices


def _is_better(point: Point, after: Point) -> bool:
    """Whether a step lowers the dual enough or, where rounding hides that, its slope."""
    moved = after.prices - point.prices
    before, now = float(point.slope @ moved), float(after.slope @ moved)
    if after.value <= point.value + _ENOUGH * min(before, 0.0):
        return True
    same = after.value <= point.value + _ROUNDING * abs(point.value) + 2.0 * point.noise
    return same and abs(now) <= _FLATTER * abs(before)
