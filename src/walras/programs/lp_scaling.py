"""Units in which a linear program is handed to a solver whose tolerances are absolute.

HiGHS ignores 1e-7 in a row, a reduced cost or an objective, whatever their units are. So costs are
scaled to about one and bounds to at most a million. Rows and columns whose coefficients are far
apart are divided in turn by the root of their smallest times their largest coefficient (geometric
scaling; Fulkerson and Wolfe 1962). All factors are powers of two, which cause no rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from walras.types import Bools, Floats, Longs

Bounds = tuple[Floats, Floats]

_LARGE_BOUND = 1e6
_SMALL_COST, _LARGE_COST = 2.0**-4, 2.0**20
_UNEVEN = 2.0**8  # ratio of the means of rows, or of columns, from which they are scaled
_PASSES = 20
_ROUNDING = 1e-14  # a row's bound beside its largest coefficient that is no unit of anything
_SETTLED = 1.1  # largest change of a factor at which passes end


@dataclass(frozen=True, eq=False)
class Units:
    """The solver's units.

    Attributes:
        column: (columns,) one of the solver's units of a column, in the program's units.
        row: (rows,) the solver's units of a row in one of the program's.
        cost: The same of the objective.
    """

    column: Floats
    row: Floats
    cost: float

    @property
    def own(self) -> bool:
        """Whether they are the program's own units."""
        return self.cost == 1.0 and bool(np.all(self.column == 1.0) and np.all(self.row == 1.0))


def units_of(
    cost: Floats, matrix: sp.csc_array, columns: Bounds, rows: Bounds, whole: Bools | None
) -> Units:
    """Units that suit a program.

    Args:
        cost: (columns,).
        matrix: (rows, columns).
        columns: Bounds of the columns.
        rows: Bounds of the rows.
        whole: (columns,) True on integer columns, which keep their unit, or None.
    """
    column, row = _even(matrix, rows, whole)
    unit = 1.0
    if whole is None or not np.any(whole):
        sizes = [np.abs(b / column) for b in columns] + [np.abs(b * row) for b in rows]
        unit = _unit(max(float(np.max(s[np.isfinite(s)], initial=0.0)) for s in sizes))
    largest = float(np.max(np.abs(cost * column), initial=0.0))
    fits = largest == 0.0 or _SMALL_COST <= largest <= _LARGE_COST
    priced = 1.0 if fits else 2.0 ** -np.round(np.log2(largest))
    return Units(column * unit, row / unit, float(priced / unit))


def _unit(largest: float) -> float:
    """1, or the power of two that brings the largest bound down to about ``_LARGE_BOUND``."""
    if largest <= _LARGE_BOUND:
        return 1.0
    return float(2.0 ** np.ceil(np.log2(largest / _LARGE_BOUND)))


def _even(matrix: sp.csc_array, bounds: Bounds, whole: Bools | None) -> tuple[Floats, Floats]:
    """Factors of the columns and rows; 1 where these are even enough.

    The rows' bounds count as one more column, whose unit stays.
    """
    rows, columns = matrix.shape
    column, row = np.ones(columns + 1), np.ones(rows)
    fixed = np.append(np.zeros(columns, dtype=bool) if whole is None else whole, True)
    size, of_row, of_column = _coefficients(matrix, bounds)
    means = _means(size, of_row, rows), _means(size, of_column, columns + 1)[:-1]
    if max(float(np.max(m, initial=1.0) / np.min(m, initial=1.0)) for m in means) < _UNEVEN:
        return column[:-1], row
    for _ in range(_PASSES):
        by_row = 1.0 / _means(size * row[of_row] * column[of_column], of_row, rows)
        row *= by_row
        by_column = 1.0 / _means(size * row[of_row] * column[of_column], of_column, columns + 1)
        by_column = np.where(fixed, 1.0, by_column)
        column *= by_column
        if np.max(np.abs(np.log(np.append(by_row, by_column)))) < np.log(_SETTLED):
            break
    return np.exp2(np.round(np.log2(column[:-1]))), np.exp2(np.round(np.log2(row)))


def _coefficients(matrix: sp.csc_array, bounds: Bounds) -> tuple[Floats, Longs, Longs]:
    """Sizes, rows and columns of all coefficients and bounds that are not zero, nor rounding."""
    columns = matrix.shape[1]
    most = np.zeros(matrix.shape[0])
    np.maximum.at(most, matrix.indices, np.abs(matrix.data))
    asked = np.abs(np.where(np.isfinite(bounds), bounds, 0.0)) / np.where(most > 0, most, np.inf)
    least = _ROUNDING * min(1.0, float(np.max(asked, initial=0.0)))
    beside = [np.flatnonzero(a > least) for a in asked]
    size = np.concatenate([matrix.data, *(b[at] for b, at in zip(bounds, beside, strict=True))])
    row = np.concatenate([matrix.indices, *beside]).astype(np.int64)
    column = np.repeat(np.arange(columns), np.diff(matrix.indptr))
    column = np.append(column, np.full(sum(map(len, beside)), columns))
    held = np.flatnonzero(size)
    return np.asarray(np.abs(size[held])), row[held], column[held].astype(np.int64)


def _means(size: Floats, of: Longs, count: int) -> Floats:
    """(count,) root of the smallest times the largest of each; 1 without any."""
    least, most = np.full(count, np.inf), np.zeros(count)
    np.minimum.at(least, of, size)
    np.maximum.at(most, of, size)
    return np.sqrt(np.where(most > 0, least, 1.0)) * np.sqrt(np.where(most > 0, most, 1.0))
