"""A basis of a linear program from a known point and prices, for the simplex method to begin from.

A vertex and its prices tell the basis but for ties: columns between their bounds and slacks of rows
that are not full are basic. Where a column's value is unknown, it is basic if its reduced cost is 0
at known prices. HiGHS adds or drops columns until the basis fits.
"""

from __future__ import annotations

import numpy as np

from walras.programs.highs import AT_LOWER, AT_UPPER, BASIC, Basis, LinearProgram
from walras.types import Floats, Ints

_AT = 1e-9  # relative distance from a bound, and relative reduced cost, that count as none
_NEW = 0.3  # share of new columns up to which an old basis is nearer than HiGHS' own begin
_WRONG = 0.3  # columns that now pay, and rows that now break, a row, from which all has changed
_VERTEX = 1.2  # basic columns and slacks a row at most, of a vertex to which new ones have come


def basis_at(program: LinearProgram, x: Floats, prices: Floats) -> Basis | None:
    """The basis at a vertex of a linear program and its prices.

    None where too little is known or too much has changed, or where the point is no vertex, as
    those of interior-point methods.

    Args:
        program: The program.
        x: (columns,) values; NaN where nothing is known.
        prices: (rows,) >= 0 at upper bounds; NaN where nothing is known.
    """
    sizes, unknown, new_row = abs(program.matrix), np.isnan(x), np.isnan(prices)
    price = np.where(new_row, 0.0, prices)
    reduced = program.cost + program.matrix.T @ price
    error = _AT * (np.abs(program.cost) + sizes.T @ np.abs(price))
    movable = program.lower < program.upper
    is_priced = sizes.T @ new_row.astype(np.float64) == 0.0
    point = np.where(unknown, np.clip(0.0, program.lower, program.upper), x)
    column = _places(point, program.lower, program.upper, _AT * _typical(point))
    column[unknown & is_priced & movable & (np.abs(reduced) <= error)] = BASIC
    amount, load = program.matrix @ point, _AT * (sizes @ np.abs(point))
    row = _places(amount, program.row_lower, program.row_upper, load)
    in_part = sizes @ unknown.astype(np.float64) > 0.0  # the price tells, the amount does not
    row[in_part & (price > 0.0)] = AT_UPPER
    row[in_part & (price < 0.0)] = AT_LOWER
    row[new_row & in_part] = BASIC
    above, below = column != AT_LOWER, column != AT_UPPER
    wrong = movable & ((below & (reduced < -error)) | (above & (reduced > error)))
    broken = (amount > program.row_upper + load) | (amount < program.row_lower - load)
    basic = np.sum(column == BASIC) + np.sum(row == BASIC)
    if (
        np.sum(unknown & ~is_priced) > _NEW * len(x)
        or basic > _VERTEX * len(row)
        or np.sum(wrong & is_priced & (column != BASIC)) > _WRONG * len(row)
        or np.sum(broken & ~in_part) > _WRONG * len(row)
    ):
        return None
    stays = not np.any(new_row) and not np.any(wrong) and np.all(price[row == BASIC] == 0.0)
    return Basis(column, row, is_dual=bool(stays))


def _typical(point: Floats) -> float:
    """The median size of the values that are not zero; a scalar is one of many."""
    some = np.abs(point[point != 0.0])
    return float(np.median(some)) if len(some) else 0.0


def _places(value: Floats, lower: Floats, upper: Floats, error: Floats | float) -> Ints:
    """0 at or below the lower bound, 2 at or above the upper one, 1 between."""
    above = np.where(value >= upper - error, AT_UPPER, BASIC)
    return np.asarray(np.where(value <= lower + error, AT_LOWER, above), dtype=np.int8)
