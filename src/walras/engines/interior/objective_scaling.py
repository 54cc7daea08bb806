"""Scaling of the objective, since steep powers can be a hundred decades from one.

Scaling the objective scales only the prices. Without it, floors and products of tiny prices would
leave the range of double precision: at throughputs of 1e7 and alpha 20, slopes are 1e-140.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from walras.programs.implied_bounds import equal_shares
from walras.separable import Separable, Utility

_ORDINARY_EXPONENT = 100.0  # exponent of two: objectives of that size need no scaling
# exponent of two: within the range of a float, 1023, with room for products
_LARGEST_EXPONENT = 900.0


def unit_of_objective(problem: Separable) -> float:
    """The power of two nearest to the value of the steepest power at equal shares; 1 near 1."""
    rows = problem.rows
    steep = np.flatnonzero((rows.utility == Utility.POWER) & (rows.parameter > 1))
    if not len(steep):
        return 1.0
    y = (abs(rows.matrix) @ np.abs(equal_shares(problem)))[steep]
    some = steep[y > 0]
    size = np.log2(rows.weight[some]) + (1.0 - rows.parameter[some]) * np.log2(y[y > 0])
    largest = float(np.max(size, initial=-np.inf))
    if not np.isfinite(largest) or abs(largest) <= _ORDINARY_EXPONENT:
        return 1.0
    return float(np.exp2(np.clip(np.round(largest), -_LARGEST_EXPONENT, _LARGEST_EXPONENT)))


def scale_objective(problem: Separable, unit: float) -> Separable:
    """The problem with its objective divided by ``unit``."""
    if unit == 1.0:
        return problem
    scale = problem.gap_scale
    return replace(
        problem,
        cost=problem.cost / unit,
        quadratic=problem.quadratic / unit,
        scalar_cost=problem.scalar_cost / unit,
        constant=problem.constant / unit,
        gap_scale=None if scale is None else scale / unit,
        rows=replace(problem.rows, weight=problem.rows.weight / unit),
    )
