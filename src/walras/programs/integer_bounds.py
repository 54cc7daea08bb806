"""Integer entries whose bounds contain no whole number."""

from __future__ import annotations

import numpy as np

from walras.errors import InfeasibleError
from walras.separable import Separable
from walras.types import Floats, Longs

_OFF = 1e-9  # rounding that an integer bound may have


def whole_bounds(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """The least and the largest whole number within bounds; crossed where there is none."""
    return np.ceil(lower - _OFF), np.floor(upper + _OFF)


def without_whole(problem: Separable) -> Longs:
    """Integer entries whose bounds contain no whole number."""
    if problem.integer is None:
        return np.zeros(0, np.int64)
    least, most = whole_bounds(problem.lower, problem.upper)
    return np.flatnonzero(problem.integer & (least > most))


def refuse_without_whole(problem: Separable) -> None:
    """Refuse a problem with an integer entry whose bounds contain no whole number.

    Raises:
        InfeasibleError: Names the first such entry and the smallest change that would do.
    """
    bad = without_whole(problem)
    if not len(bad):
        return
    q = int(bad[0])
    low, high = float(problem.lower[q]), float(problem.upper[q])
    down, up = np.floor(low), np.ceil(high)
    least = f"lower its lower bound to {down:.6g}, or raise its upper bound to {up:.6g}"
    if not np.isclose(low - down, up - high, rtol=1e-9, atol=0.0):
        least = least.split(", or ")[int(low - down > up - high)]
    more = f" (and {len(bad) - 1:,} more)" if len(bad) > 1 else ""
    raise InfeasibleError(
        f"must be whole, but there is no whole number between {low:.6g} and {high:.6g}",
        where=f"{problem.entry_name(q)}{more}",
        allowed="bounds with a whole number between them",
        remedy=f"the least change that would do: {least}",
    )
