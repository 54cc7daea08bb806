"""Bounds of entries stated as rows, so that a relaxation may give way there, too.

A user's constraints over one entry become its bounds; the cheapest way out of a conflict may be
through them. Zero stays a bound: amounts are not negative.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from walras.separable import Family, Separable, Side

_MOST = 100_000  # entries from which nobody reads which bounds to move


def bounds_as_rows(problem: Separable) -> Separable | None:
    """The problem with a row for every entry whose bounds say more than its sign; None without.

    Args:
        problem: The problem; bounds of whole entries stay.
    """
    said = (np.isfinite(problem.lower) & (problem.lower != 0)) | np.isfinite(problem.upper)
    if problem.integer is not None:
        said &= ~problem.integer
    some = np.flatnonzero(said)
    if not 0 < len(some) <= _MOST:
        return None
    rows, count = problem.rows, len(some)
    mine = sp.csc_array((np.ones(count), (np.arange(count), some)), (count, problem.entries))
    names = [f"the bound of {problem.entry_name(int(q))}" for q in some]
    zeros = np.zeros(count)
    grown = replace(
        rows,
        matrix=sp.csc_array(sp.vstack([rows.matrix, mine])),
        scalar_matrix=np.vstack([rows.scalar_matrix, np.zeros((count, problem.scalars))]),
        lower=np.append(rows.lower, problem.lower[some]),
        upper=np.append(rows.upper, problem.upper[some]),
        side=np.append(rows.side, np.full(count, Side.COUPLED, np.int8)).astype(np.int8),
        owner=np.append(rows.owner, np.full(count, -1)).astype(np.int32),
        utility=np.append(rows.utility, np.zeros(count, np.int8)).astype(np.int8),
        weight=np.append(rows.weight, zeros + 1.0),
        parameter=np.append(rows.parameter, zeros),
        families=(
            *rows.families, Family("bound", rows.count, rows.count + count, names, plain=True)
        ),
    )  # fmt: skip
    return replace(
        problem,
        rows=grown,
        lower=np.where(said, np.minimum(problem.lower, 0.0), problem.lower),
        upper=np.where(said, np.inf, problem.upper),
    )
