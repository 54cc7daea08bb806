"""Upper bounds that rows imply for single entries, and equal shares of all rows."""

from __future__ import annotations

import numpy as np

from walras.kernels import columns
from walras.separable import Separable
from walras.types import Floats

_SLICE = 100_000  # nonzeros in one pass


def reach(problem: Separable) -> Floats:
    """(entries,) largest value of each entry alone; the median where none is implied."""
    upper = problem.rows.upper
    own = np.where(problem.upper > 0, problem.upper, np.inf)
    out = least_limit(problem, np.where(upper > 0, upper, np.inf), own)
    known = np.isfinite(out)
    return np.where(known, out, np.median(out[known]) if np.any(known) else 1.0)


def least_limit(problem: Separable, limit: Floats, own: Floats, *, unit: bool = False) -> Floats:
    """(entries,) the least upper bound that rows imply for each entry, all others at zero.

    Args:
        problem: The problem.
        limit: (rows,) upper bounds of the rows' activities.
        own: (entries,) the entries' own upper bounds.
        unit: Count each coefficient as one.
    """
    matrix, out = problem.rows.matrix, own.copy()
    columns.least(matrix.indptr, matrix.indices, matrix.data, limit, unit, out)
    return out


def equal_shares(problem: Separable) -> Floats:
    """(entries,) an equal share of every row with an upper bound, within the entries' bounds."""
    matrix, upper = problem.rows.matrix, problem.rows.upper
    total = np.zeros(problem.rows.count)
    for some in range(0, matrix.nnz, _SLICE):
        k = slice(some, some + _SLICE)
        total += np.bincount(matrix.indices[k], np.abs(matrix.data[k]), len(total))
    shared = np.isfinite(upper) & (upper > 0) & (total > 0)
    share = np.where(shared, upper / np.where(shared, total, 1.0), np.inf)
    own = np.where(np.isfinite(problem.upper), np.abs(problem.upper), np.inf)
    out = least_limit(problem, share, own, unit=True)
    return np.clip(np.where(np.isfinite(out), out, 1.0), problem.lower, problem.upper)
