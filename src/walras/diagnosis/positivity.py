"""Rows of a linear program that are zero at every feasible point.

A logarithm needs y > 0. A test with a fixed small y would call scarce problems infeasible. So the
program is made homogeneous: if (x, s) with s >= 0 is a point, so is every multiple of it:

    s row_lower <= Gx <= s row_upper,    s lower <= x <= s upper.

For the rows that must be above zero, minimise sum_k d_k with (Gx)_k + d_k >= 1, d >= 0, each row in
units of its largest coefficient. If one point has y_k > 0 and another has y_l > 0, their sum has
both, and a multiple of it exceeds one. So each d_k ends at zero, or at one if y_k is always zero.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from walras.programs.highs import LinearProgram, solve_program
from walras.separable import Separable
from walras.settings import Settings
from walras.status import Status
from walras.types import Bools, Floats


def held_at_zero(program: LinearProgram, wanted: Bools, settings: Settings) -> Bools:
    """(rows,) True on the rows in ``wanted`` that are zero at every feasible point.

    True on all of ``wanted`` if HiGHS fails, and for integer programs, where a multiple of a point
    need not be a point.

    Args:
        program: A feasible program; its cost is not used.
        wanted: (rows,).
        settings: Limits for HiGHS.
    """
    if program.is_integer or not np.any(wanted):
        return wanted
    answer = solve_program(_homogeneous(program, wanted), settings)
    if answer.x is None or answer.status is not Status.OPTIMAL:
        return wanted
    out = wanted.copy()
    out[wanted] = answer.x[-np.count_nonzero(wanted) :] > 0.5
    return out


def least_positive(problem: Separable) -> Floats:
    """(rows,) least positive activity of rows with integer entries alone; 0 on other rows.

    It is the least coefficient, since these entries and coefficients are not negative.
    """
    rows = problem.rows
    least = np.full(rows.count, np.inf)
    np.minimum.at(least, rows.matrix.indices, rows.matrix.data)
    adds = np.zeros(problem.entries, dtype=np.bool_)
    if problem.integer is not None:
        adds = problem.integer & (problem.lower >= 0)
    least[rows.matrix[:, np.flatnonzero(~adds)].indices] = 0.0
    least[np.any(rows.scalar_matrix, axis=1)] = 0.0
    return np.where(np.isfinite(least), np.maximum(least, 0.0), 0.0)


def _homogeneous(program: LinearProgram, wanted: Bools) -> LinearProgram:
    """The program over (x, s, d)."""
    matrix, count = sp.csr_array(program.matrix), int(np.count_nonzero(wanted))
    units = sp.eye_array(matrix.shape[1], format="csr")
    zero = program.lower == 0, program.upper == 0  # these need no row
    sides = [
        _side(matrix, program.row_lower, 1.0, np.isfinite(program.row_lower)),
        _side(matrix, program.row_upper, -1.0, np.isfinite(program.row_upper)),
        _side(units, program.lower, 1.0, np.isfinite(program.lower) & ~zero[0]),
        _side(units, program.upper, -1.0, np.isfinite(program.upper) & ~zero[1]),
    ]
    met = sp.vstack(sides)
    asked = matrix[wanted]
    largest = np.maximum(abs(asked).max(axis=1).toarray().ravel(), np.finfo(float).tiny)
    asked = sp.csr_array(sp.diags_array(1.0 / largest) @ asked)
    asked = sp.csr_array(sp.hstack([asked, sp.csr_array((count, 1))]))
    none = sp.csr_array((met.shape[0], count))
    whole = sp.vstack(
        [sp.hstack([met, none]), sp.hstack([asked, sp.eye_array(count, format="csr")])]
    )
    return replace(
        program,
        cost=np.concatenate([np.zeros(len(program.cost) + 1), np.ones(count)]),
        lower=np.concatenate([np.where(zero[0], 0.0, -np.inf), np.zeros(1 + count)]),
        upper=np.concatenate([np.where(zero[1], 0.0, np.inf), np.full(1 + count, np.inf)]),
        matrix=sp.csc_array(whole),
        row_lower=np.concatenate([np.zeros(met.shape[0]), np.ones(count)]),
        row_upper=np.full(met.shape[0] + count, np.inf),
    )


def _side(matrix: sp.csr_array, bound: Floats, sign: float, held: Bools) -> sp.csr_array:
    """``sign (matrix x - s bound) >= 0`` on the rows that are held."""
    beside = sp.csr_array(-bound[held][:, None])
    return sp.csr_array(sign * sp.hstack([matrix[held], beside]))
