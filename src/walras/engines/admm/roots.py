"""The root of an increasing function, from a good guess."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

_MOST_EVALUATIONS = 60  # bisection alone halves a bracket to rounding in so many steps
_REACH_GROWTH = 4.0  # factor on the step beyond a bracket without an end


def increasing_root(
    function: Callable[[float], tuple[float, float]],
    guess: float,
    lower: float,
    upper: float,
    tolerance: float,
) -> float:
    """The zero of an increasing function within bounds, or the bound nearest to it.

    Newton's method inside a bracket; a step beyond a bound tries the bound first. The last call of
    the function is at the value returned.

    Args:
        function: Value and slope (>= 0) at a point.
        guess: Where to begin.
        lower: Lower bound, may be ``-inf``.
        upper: Upper bound, may be ``inf``.
        tolerance: Largest |value| that counts as zero.
    """
    t = float(np.clip(guess, lower, upper))
    untried = {bound for bound in (lower, upper) if np.isfinite(bound)}
    reach = max(abs(t), 1.0)
    for _ in range(_MOST_EVALUATIONS):
        value, slope = function(t)
        untried.discard(t)
        if abs(value) <= tolerance or (value > 0 and t <= lower) or (value < 0 and t >= upper):
            return t
        lower, upper = (lower, t) if value > 0 else (t, upper)
        new = t - value / slope if slope > 0 else np.nan
        if new >= upper and upper in untried:
            new = upper
        elif new <= lower and lower in untried:
            new = lower
        elif not lower < new < upper:
            new = _inside(t, value, lower, upper, reach)
            reach *= _REACH_GROWTH
        if new == t:
            return t
        t = new
    function(t)
    return t


def _inside(t: float, value: float, lower: float, upper: float, reach: float) -> float:
    """A point inside the bracket: its middle, or one further out where it has no end."""
    if np.isfinite(lower) and np.isfinite(upper):
        return 0.5 * (lower + upper)
    return t - reach if value > 0 else t + reach
