"""States bounds of entries as rows, so that a relaxation can move them, too.

A user's constraint on one entry becomes a bound, and the least relaxation may be to move it. The
lower bound zero stays: amounts are not negative.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from walras.separable import Separable

_MOST = 100_000  # with more bounds than this no reader could use the answer


def bounds_as_rows(problem: Separable) -> Separable | None:
    """The problem with a row for each entry that has a bound other than zero; None without any.

    Args:
        problem: The problem; bounds of integer entries stay bounds.
    """
    said = (np.isfinite(problem.lower) & (problem.lower != 0)) | np.isfinite(problem.upper)
    if problem.integer is not None:
        said &= ~problem.integer
    some = np.flatnonzero(said)
    if not 0 < len(some) <= _MOST:
        return None
    count = len(some)
    mine = sp.csc_array((np.ones(count), (np.arange(count), some)), (count, problem.entries))
    grown = problem.rows.followed_by(
        mine,
        np.zeros((count, problem.scalars)),
        (problem.lower[some], problem.upper[some]),
        "bound",
        [f"the bound of {problem.entry_name(int(q))}" for q in some],
    )
    return replace(
        problem,
        rows=grown,
        lower=np.where(said, np.minimum(problem.lower, 0.0), problem.lower),
        upper=np.where(said, np.inf, problem.upper),
    )
