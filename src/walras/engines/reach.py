"""The most that an entry can be by itself: what its own limit and each of its rows leave it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from walras.kernels import columns
from walras.separable import Separable

Floats = npt.NDArray[np.float64]


def reach(problem: Separable) -> Floats:
    """(entries,) the most that an entry can be by itself; the median where nothing limits it."""
    upper = problem.rows.upper
    own = np.where(problem.upper > 0, problem.upper, np.inf)
    out = least_limit(problem, np.where(upper > 0, upper, np.inf), own)
    known = np.isfinite(out)
    return np.where(known, out, np.median(out[known]) if np.any(known) else 1.0)


def least_limit(problem: Separable, limit: Floats, own: Floats, *, unit: bool = False) -> Floats:
    """(entries,) the least of what rows allow each entry, by itself.

    Args:
        problem: The problem.
        limit: (rows,) the most that a row may be used.
        own: (entries,) the entries' own limits.
        unit: Whether a unit of an entry uses one of each of its rows, not its coefficient.
    """
    matrix, out = problem.rows.matrix, own.copy()
    columns.least(matrix.indptr, matrix.indices, matrix.data, limit, unit, out)
    return out
