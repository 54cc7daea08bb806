"""The activity that a row of a group wants at a price: its bound, or where its cost's slope is p.

A row k of a group has an activity F and a price p. A constraint ``lower <= F <= upper`` wants
``upper`` while p > 0, ``lower`` while p < 0, and anything between at p = 0; a softened constraint
wants ``softness * p`` more. A row with a convex cost f wants the activity with ``f'(F) = p``. The
codes of the costs are those of :class:`walras.separable.Utility`.
"""

from __future__ import annotations

import numpy as np

from walras.kernels.parallel import inner, jit

NONE, LOG, POWER, QUADRATIC, CONVEX_POWER, ENTROPY = range(6)

_LEAST = 1e-300
_STEEPEST = 700.0  # exp() of larger numbers overflows


@jit
def wanted(kind: int, weight: float, parameter: float, price: float) -> tuple[float, float]:
    """The activity y with ``f'(y) = price`` and its slope ``dy/dprice = 1/f''(y)``."""
    if kind == LOG:
        y = -weight / min(price, -_LEAST)
        return y, y * y / weight
    if kind == POWER:
        y = (-weight / min(price, -_LEAST)) ** (1.0 / parameter)
        return y, y / (parameter * max(-price, _LEAST))
    if kind == QUADRATIC:
        return parameter + price / weight, 1.0 / weight
    if kind == CONVEX_POWER:
        if price <= 0.0:
            return 0.0, 0.0
        y = (price / (weight * parameter)) ** (1.0 / (parameter - 1.0))
        return y, y / ((parameter - 1.0) * price)
    y = np.exp(min(price / weight - 1.0, _STEEPEST))
    return y, y / weight


@inner
def regime(kind: int, lower: float, upper: float, price: float, activity: float) -> int:
    """The active bound: 1 the upper, -1 the lower, 0 none; 2 for the slope of a cost."""
    if kind != NONE:
        return 2
    if price > 0.0 or (price == 0.0 and activity > upper):
        return 1
    if price < 0.0 or (price == 0.0 and activity < lower):
        return -1
    return 0


@inner
def moved(kind: int, lower: float, upper: float, price: float, step: float, sense: int) -> float:
    """The price after a step: it stays in its orthant, and inside the domain of a cost."""
    new = price + step
    if kind in (LOG, POWER):
        return min(new, 0.1 * price)
    if kind == NONE and lower != upper:
        return max(new, 0.0) if sense > 0 else min(new, 0.0)
    return new
