"""Bounds of single variables: from attributes, from constraints on one entry, and implied ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from walras.types import Bools, Floats, Longs


@dataclass(frozen=True, eq=False)
class SingleRows:
    """Constraint rows ``a x + b <= 0`` (or ``= 0``) on one column each.

    Attributes:
        row: (singles,) row of the stack.
        column: (singles,) the column.
        a: (singles,) nonzero coefficient.
        b: (singles,) constant.
        is_equality: (singles,).
    """

    row: Longs
    column: Longs
    a: Floats
    b: Floats
    is_equality: Bools


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds of all columns and the rows they came from.

    Attributes:
        lower: (columns,).
        upper: (columns,).
        lower_row: (columns,) position in ``singles`` of the row that set it, -1 if none.
        upper_row: (columns,) likewise.
        singles: The rows that bound single columns.
    """

    lower: Floats
    upper: Floats
    lower_row: Longs
    upper_row: Longs
    singles: SingleRows

    @classmethod
    def of(cls, lower: Floats, upper: Floats, singles: SingleRows) -> Bounds:
        """Tighten given bounds by rows on single columns."""
        at = -singles.b / singles.a
        raises = singles.is_equality | (singles.a < 0)
        cuts = singles.is_equality | (singles.a > 0)
        new_lower, new_upper = lower.copy(), upper.copy()
        np.maximum.at(new_lower, singles.column[raises], at[raises])
        np.minimum.at(new_upper, singles.column[cuts], at[cuts])
        lower_row = np.full(len(lower), -1, dtype=np.int64)
        upper_row = np.full(len(upper), -1, dtype=np.int64)
        for rows, row_of, bound in (
            (raises, lower_row, new_lower),
            (cuts, upper_row, new_upper),
        ):
            # Of the rows that attain a bound the first answers for it; equalities before others.
            attains = np.flatnonzero(rows & (at == bound[singles.column]))
            first = attains[np.argsort(~singles.is_equality[attains], kind="stable")][::-1]
            row_of[singles.column[first]] = first
        return cls(new_lower, new_upper, lower_row, upper_row, singles)

    def crossed(self) -> Longs:
        """Columns whose bounds admit no number, beyond rounding."""
        slack = 1e-9 * np.maximum(1.0, np.minimum(np.abs(self.lower), np.abs(self.upper)))
        return np.flatnonzero(self.lower > self.upper + slack)

    def closed(self) -> Bounds:
        """The same with bounds that cross by rounding made equal."""
        upper = np.maximum(self.lower, self.upper)
        return Bounds(self.lower, upper, self.lower_row, self.upper_row, self.singles)


@dataclass(frozen=True)
class Epigraph:
    """Rows ``argument - u <= 0`` (or ``u - argument <= 0``) of one piecewise linear atom.

    Attributes:
        start: First row of the stack.
        stop: One past the last.
        column: First column of u.
        size: Number of columns of u.
        is_largest: Whether u is the largest of its arguments.
    """

    start: int
    stop: int
    column: int
    size: int
    is_largest: bool


def epigraph_bounds(
    matrix: sp.csr_array,
    offset: Floats,
    is_constraint: Bools,
    bounds: Bounds,
    epigraphs: Sequence[Epigraph],
) -> Bounds:
    """Bounds of epigraph variables from what their pieces can be.

    The ends are moved outwards a little: a bound that only follows from the rows must not be
    active, or it would take the rows' prices for itself.

    Args:
        matrix: (rows, columns) of the stack, ``matrix x + offset``.
        offset: (rows,).
        is_constraint: (rows,) True for rows that must be <= 0.
        bounds: Bounds so far.
        epigraphs: Inner ones before those that contain them.
    """
    lower, upper = bounds.lower.copy(), bounds.upper.copy()
    row_upper = np.where(is_constraint, -offset, np.inf)
    # Rows that contradict bounds do not empty the interval either.
    capped = np.maximum(lower, np.minimum(tightened(matrix, row_upper, lower, upper), upper))
    for epigraph in epigraphs:
        own = slice(epigraph.column, epigraph.column + epigraph.size)
        pieces = matrix[epigraph.start : epigraph.stop].tolil()
        row, column = pieces[:, own].nonzero()
        pieces[:, own] = 0
        low, high = activity_range(sp.csr_array(pieces), lower, capped)
        shift = offset[epigraph.start : epigraph.stop]
        low, high = low + shift, high + shift
        if not epigraph.is_largest:
            low, high = -high, -low
        place = epigraph.column + column.astype(np.int64)
        _widen(lower, upper, place, low[row], high[row], epigraph.is_largest)
        capped[own] = np.maximum(lower[own], np.minimum(capped[own], upper[own]))
    return replace(bounds, lower=lower, upper=upper)


def _widen(
    lower: Floats, upper: Floats, column: Longs, low: Floats, high: Floats, is_largest: bool
) -> None:
    """Bound epigraph columns by their pieces' ends, moved outwards by a tenth."""
    ends_low = np.full(len(lower), -np.inf if is_largest else np.inf)
    ends_high = ends_low.copy()
    extreme = np.maximum if is_largest else np.minimum
    extreme.at(ends_low, column, low)
    extreme.at(ends_high, column, high)
    own = np.unique(column)
    low, high = ends_low[own], ends_high[own]
    with np.errstate(invalid="ignore"):
        span = np.where(np.isfinite(high - low), high - low, np.maximum(np.abs(low), 1.0))
    margin = 0.1 * np.where(np.isfinite(span), span, 1.0) + 1e-3
    # Pieces that contradict a bound leave it to an engine to say so: the interval is not emptied.
    lower[own] = np.maximum(lower[own], np.minimum(low - margin, upper[own]))
    upper[own] = np.minimum(upper[own], np.maximum(high + margin, lower[own]))


def tightened(matrix: sp.csr_array, row_upper: Floats, lower: Floats, upper: Floats) -> Floats:
    """Upper bounds that rows of nonnegative terms imply: ``x_k <= row_upper / a_k``.

    Args:
        matrix: (rows, columns).
        row_upper: (rows,) ``inf`` where absent.
        lower: (columns,).
        upper: (columns,).
    """
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    column, a = matrix.indices, matrix.data
    unfit = np.bincount(rows[(a < 0) | (lower[column] < 0)], minlength=matrix.shape[0]) > 0
    packs = np.isfinite(row_upper) & (row_upper >= 0) & ~unfit
    use = packs[rows] & (a > 0)
    out = upper.copy()
    np.minimum.at(out, column[use], row_upper[rows[use]] / a[use])
    return out


def activity_range(matrix: sp.csr_array, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """(rows,) lower and upper ends of ``matrix x`` by interval arithmetic, possibly infinite."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    column, a = matrix.indices, matrix.data
    used = a != 0
    rows, column, a = rows[used], column[used], a[used]
    low, high = np.zeros(matrix.shape[0]), np.zeros(matrix.shape[0])
    np.add.at(low, rows, a * np.where(a > 0, lower[column], upper[column]))
    np.add.at(high, rows, a * np.where(a > 0, upper[column], lower[column]))
    return low, high
