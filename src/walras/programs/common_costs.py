"""The part that all costs of an equation have in common, which is a constant.

In ``sum_j a_j x_j = b`` costs ``c_j + y a_j`` cost ``y b`` more than ``c_j``, whatever x is. HiGHS'
tolerances are those of the costs that it sees: where such parts are large and cancel, it takes far
points for optimal.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from walras.types import Bools, Floats, Longs

_LARGE = 1e3  # times what costs differ by otherwise, from which a common part is taken out
_CANCELS = 0.01  # share of the parts' sizes that is left of their sum, at most


def common_costs(
    cost: Floats, matrix: sp.csc_array, row_lower: Floats, row_upper: Floats
) -> Floats:
    """(rows,) y of each equation; zeros where the parts are small or do not cancel.

    Args:
        cost: (columns,).
        matrix: (rows, columns).
        row_lower: (rows,).
        row_upper: (rows,) equal to ``row_lower`` in equations.
    """
    base = np.zeros(len(row_lower))
    is_equation = (row_lower == row_upper) & np.isfinite(row_lower)
    if not np.any(is_equation):
        return base
    rows, own = _own_rows(matrix, is_equation)
    if not len(rows):
        return base
    alone = np.bincount(own.indices, minlength=len(cost)) == 0
    ratio = cost[own.indices] / own.data
    least = np.minimum.reduceat(ratio, own.indptr[:-1])
    spread = np.maximum.reduceat(ratio, own.indptr[:-1]) - least
    rest = max(float(np.max(spread)), float(np.max(np.abs(cost[alone]), initial=0.0)))
    parts = least * row_upper[rows]
    total = float(np.sum(np.abs(parts)))
    is_large = float(np.max(np.abs(least))) >= _LARGE * rest > 0.0
    if is_large and abs(float(np.sum(parts))) <= _CANCELS * total:
        base[rows] = least
    return base


def _own_rows(matrix: sp.csc_array, is_equation: Bools) -> tuple[Longs, sp.csr_array]:
    """Equations whose columns are in no other one, and their part of the matrix."""
    equations = np.flatnonzero(is_equation)
    part = sp.csr_array(matrix.tocsr()[equations])
    part.eliminate_zeros()
    uses = np.bincount(part.indices, minlength=matrix.shape[1])
    kept = np.diff(part.indptr) > 0
    owner = np.repeat(np.arange(len(equations)), np.diff(part.indptr))
    kept[owner[uses[part.indices] > 1]] = False
    return equations[kept], sp.csr_array(part[np.flatnonzero(kept)])
