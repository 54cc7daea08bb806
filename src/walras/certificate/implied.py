"""Bounds of columns that the rows imply, by interval arithmetic (Brearley, Mitra, Williams 1975).

In ``l <= sum a_q x_q <= b`` the least sum of the other terms gives an upper bound on ``a_q x_q``.
Each pass uses the bounds of the previous one, for all rows at once. The bounds are moved outwards
by the possible rounding, so that every feasible point lies within them.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from walras.separable import Separable
from walras.types import Bools, Floats, Longs

Bounds = tuple[Floats, Floats]

_PASSES = 10
_WORTH = 1e-2  # relative improvement of a known bound that is worth taking
_ROUNDING = 64 * np.finfo(float).eps
_NONE = 1e20  # larger bounds count as none

_known: WeakKeyDictionary[Separable, Bounds] = WeakKeyDictionary()


def implied(problem: Separable) -> Bounds:
    """Bounds of a problem's entries and then its scalars, found at the first call."""
    found = _known.get(problem)
    if found is None:
        rows = problem.rows
        matrix = sp.csc_array(rows.matrix)
        if problem.scalars:
            matrix = sp.csc_array(sp.hstack([matrix, sp.csc_array(rows.scalar_matrix)]))
        lower = np.concatenate([problem.lower, problem.scalar_lower])
        upper = np.concatenate([problem.upper, problem.scalar_upper])
        found = _known[problem] = implied_bounds(matrix, (lower, upper), (rows.lower, rows.upper))
    return found


def implied_bounds(matrix: sp.csc_array, columns: Bounds, rows: Bounds) -> Bounds:
    """Bounds of the columns of ``rows[0] <= matrix x <= rows[1]``, from their given bounds.

    Args:
        matrix: (rows, columns).
        columns: Lower and upper bounds of x.
        rows: Lower and upper bounds of the rows.
    """
    lower, upper = columns[0].copy(), columns[1].copy()
    row, column, a = _coefficients(matrix)
    for _ in range(_PASSES):
        low, high = _from_rows((row, column, a), (lower, upper), rows)
        better_low, better_high = _is_better(lower, low), _is_better(-upper, -high)
        if not (np.any(better_low) or np.any(better_high)):
            break
        lower = np.where(better_low, low, lower)
        upper = np.where(better_high, high, upper)
    return lower, upper


def _coefficients(matrix: sp.csc_array) -> tuple[Longs, Longs, Floats]:
    column = np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))
    some = np.flatnonzero(matrix.data)
    return matrix.indices[some].astype(np.int64), column[some], matrix.data[some]


def _is_better(known: Floats, found: Floats) -> Bools:
    """Where a lower bound is above the known one by enough to be worth another pass."""
    with np.errstate(invalid="ignore"):
        move = found - known > _WORTH * np.maximum(np.abs(known), np.abs(found))
    return (np.isinf(known) & np.isfinite(found)) | (np.isfinite(known) & move)


def _from_rows(entries: tuple[Longs, Longs, Floats], columns: Bounds, rows: Bounds) -> Bounds:
    row, column, a = entries
    lower, upper = columns
    count = len(lower)
    ends = (
        np.where(a > 0, lower[column], upper[column]),
        np.where(a > 0, upper[column], lower[column]),
    )
    # The least and the largest sum of the other terms, and the possible rounding error.
    least, blur_low = _others(row, a * ends[0], len(rows[0]), -np.inf)
    most, blur_high = _others(row, a * ends[1], len(rows[0]), np.inf)
    top = rows[1][row] - least + blur_low + _ROUNDING * np.abs(rows[1][row])
    bottom = rows[0][row] - most - blur_high - _ROUNDING * np.abs(rows[0][row])
    top, bottom = top / a, bottom / a
    found_low, found_high = np.full(count, -np.inf), np.full(count, np.inf)
    np.minimum.at(found_high, column, np.where(a > 0, top, bottom))
    np.maximum.at(found_low, column, np.where(a > 0, bottom, top))
    found_low = np.where(np.abs(found_low) < _NONE, found_low, -np.inf)
    return found_low, np.where(np.abs(found_high) < _NONE, found_high, np.inf)


def _others(row: Longs, term: Floats, count: int, nothing: float) -> tuple[Floats, Floats]:
    """The sum of a row without each coefficient's own term, and its rounding error.

    Args:
        row: (coefficients,) rows.
        term: (coefficients,) each term at its bound.
        count: Number of rows.
        nothing: The sum when another term is unbounded.
    """
    endless = np.isinf(term)
    part = np.where(endless, 0.0, term)
    total = np.bincount(row, weights=part, minlength=count)
    size = np.bincount(row, weights=np.abs(part), minlength=count)
    open_ends = np.bincount(row, weights=endless, minlength=count)
    rest = np.where(open_ends[row] - endless > 0, nothing, total[row] - part)
    return rest, _ROUNDING * size[row]
