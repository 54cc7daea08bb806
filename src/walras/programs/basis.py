"""A basis of a linear program from a known point and prices, for the simplex method to begin from.

A vertex and its prices tell the basis but for ties: columns between their bounds and slacks of rows
that are not full are basic. Where a column's value is unknown, it is basic if its reduced cost is 0
at known prices. What is one too many or too few is HiGHS' to mend.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import highspy
import numpy as np

from walras.types import Floats, Ints

if TYPE_CHECKING:
    from walras.programs.highs import LinearProgram

_AT = 1e-9  # relative distance from a bound, and relative reduced cost, that count as none
_NEW = 0.3  # share of new columns up to which an old basis is nearer than HiGHS' own begin
_VERTEX = 1.2  # basic columns and slacks a row at most, of a vertex to which new ones have come
_LOWER, _BASIC, _UPPER = 0, 1, 2
_STATUS = np.array(
    [
        highspy.HighsBasisStatus.kLower,
        highspy.HighsBasisStatus.kBasic,
        highspy.HighsBasisStatus.kUpper,
    ],
    dtype=object,
)


@dataclass(frozen=True, eq=False)
class Basis:
    """Which columns and slacks are basic, and at which bound the others are.

    Attributes:
        column: (columns,) 0 at the lower bound, 1 basic, 2 at the upper bound.
        row: (rows,) likewise, of the row's amount.
        is_dual: Whether the prices stay right and only limits moved: then the dual simplex method
            has the short way, else the primal one.
    """

    column: Ints
    row: Ints
    is_dual: bool

    def pass_to(self, solver: highspy.Highs) -> None:
        """Let a loaded solver begin from it."""
        basis = highspy.HighsBasis()
        basis.col_status = _STATUS[self.column].tolist()
        basis.row_status = _STATUS[self.row].tolist()
        basis.valid = basis.alien = True
        solver.setBasis(basis)


def basis_at(program: LinearProgram, x: Floats, prices: Floats) -> Basis | None:
    """The basis at a vertex of a linear program and its prices.

    None where too little is known, or the point is no vertex, as those of interior-point methods.

    Args:
        program: The program.
        x: (columns,) values; NaN where nothing is known.
        prices: (rows,) >= 0 at upper bounds; NaN where nothing is known.
    """
    sizes, unknown, new_row = abs(program.matrix), np.isnan(x), np.isnan(prices)
    price = np.where(new_row, 0.0, prices)
    reduced = program.cost + program.matrix.T @ price
    error = _AT * (np.abs(program.cost) + sizes.T @ np.abs(price))
    point = np.where(unknown, np.clip(0.0, program.lower, program.upper), x)
    column = _places(point, program.lower, program.upper, _AT * np.max(np.abs(point), initial=0.0))
    is_priced = sizes.T @ new_row.astype(np.float64) == 0.0
    if np.sum(unknown & ~is_priced) > _NEW * len(x):
        return None
    pays = is_priced & (np.abs(reduced) <= error) & (program.lower < program.upper)
    column[unknown & pays] = _BASIC
    load = sizes @ np.abs(point)
    row = _places(program.matrix @ point, program.row_lower, program.row_upper, _AT * load)
    in_part = sizes @ unknown.astype(np.float64) > 0.0  # the price tells, the amount does not
    row[in_part & (price > 0.0)] = _UPPER
    row[in_part & (price < 0.0)] = _LOWER
    row[new_row & in_part] = _BASIC
    if np.sum(column == _BASIC) + np.sum(row == _BASIC) > _VERTEX * len(row):
        return None
    wrong = ((column != _UPPER) & (reduced < -error)) | ((column != _LOWER) & (reduced > error))
    movable = program.lower < program.upper
    return Basis(column, row, is_dual=not np.any(new_row) and not np.any(wrong & movable))


def _places(value: Floats, lower: Floats, upper: Floats, error: Floats | float) -> Ints:
    """0 at or below the lower bound, 2 at or above the upper one, 1 between."""
    above = np.where(value >= upper - error, _UPPER, _BASIC)
    return np.asarray(np.where(value <= lower + error, _LOWER, above), dtype=np.int8)
