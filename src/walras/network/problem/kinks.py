"""Detect sharp bends and kinks of a user's cost function between its samples.

Steps need the largest curvature in the box. Between two samples a smooth marginal cost rises by
about the curvature times the distance at most. If it rises by more, the interval is halved
repeatedly towards the larger rise. A rise that stays while the interval shrinks is a kink: the cost
has no derivative there, and no step is short enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from walras.network.problem.cpu_costs import CPUCost
from walras.types import Floats

_STEEPER = 3.0  # in multiples of the rise that the curvature at both ends explains
_SHORTEST = 1e-4  # share of the share: below this, differences of slopes are rounding
_STAYS = 0.5  # share of the rise that remains in the last interval: a kink


class Bend(NamedTuple):
    """The sharpest bend of a cost between its samples.

    Attributes:
        share: Its share.
        curvature: Rise of the marginal cost over distance there.
        kink: Whether the marginal cost jumps.
    """

    share: float
    curvature: float
    kink: bool


def sharpest(cost: CPUCost, shares: Floats) -> Bend | None:
    """The sharpest bend between neighbouring samples; None if the samples show all bends.

    Args:
        cost: Cost of one centre.
        shares: (samples,) ascending.
    """

    def slope(x: float) -> float:
        return float(np.asarray(cost.slope(np.array([x]))).ravel()[0])

    rise = np.diff([slope(x) for x in shares])
    at_samples = np.array(
        [float(np.asarray(cost.curvature(np.array([x]))).ravel()[0]) for x in shares]
    )
    if not (at_samples > 0.0).all():
        return None  # not convex, as the samples show
    explained = np.maximum(at_samples[:-1], at_samples[1:]) * np.diff(shares)
    # A sample on a kink has a huge curvature itself, so it does not count for its neighbour.
    usual = float(np.median(at_samples)) * np.diff(shares)
    odd = np.flatnonzero(rise > _STEEPER * np.minimum(explained, np.maximum(usual, 1e-300)))
    found = [_followed(slope, float(shares[k]), float(shares[k + 1])) for k in odd]
    return max(found, key=lambda b: (b.kink, b.curvature), default=None)


def _followed(at: Callable[[float], float], low: float, high: float) -> Bend:
    """Halve the interval towards the larger rise."""
    first = at(high) - at(low)
    while high - low > _SHORTEST * max(abs(low), abs(high), 1e-3):
        middle = 0.5 * (low + high)
        left = at(middle) - at(low) > at(high) - at(middle)
        low, high = (low, middle) if left else (middle, high)
    rise = at(high) - at(low)
    return Bend(0.5 * (low + high), rise / (high - low), bool(rise > _STAYS * first))
