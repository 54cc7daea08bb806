"""Prices that go with an allocation of which nothing else is known.

At an optimum an entry in use has no reduced cost, and a row with room to spare has no price. Of an
allocation near one these products are made as small as can be together: with slacks s and reduced
costs r = c + G'p,

    minimise  sum_q (x_q r_q)^2 + sum_k (s_k p_k)^2    subject, about, to  e + E'p = 0,

by LSQR (Paige and Saunders 1982), in units of each price. Utilities have the price f'(y).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from walras.separable import Separable, utility
from walras.types import Floats

MOST = 3_000_000  # coefficients from which iterations are quicker than what prices would save
_STEPS = 100
_PAID = 10.0  # weight of what prices must pay for a scalar


def complementary_prices(problem: Separable, x: Floats, t: Floats) -> Floats:
    """(rows,) prices for an allocation, of any sign.

    Args:
        problem: The problem.
        x: (entries,) the allocation, within the rows.
        t: (scalars,) that go with it.
    """
    rows, matrix = problem.rows, problem.rows.matrix
    y = matrix @ x + rows.scalar_matrix @ t
    prices = _slopes(problem, y)
    slack = np.maximum(np.minimum(rows.upper - y, y - rows.lower), 0.0)
    held = np.flatnonzero(~rows.is_utility & np.isfinite(slack))
    used = np.flatnonzero((x > problem.lower) & (x < problem.upper) & (x != 0.0))
    cost = (problem.cost + problem.quadratic * x + matrix.T @ prices)[used]
    size = sp.diags_array(x[used])
    parts = [size @ matrix[:, used].T.tocsr()[:, held], sp.diags_array(slack[held])]
    right = [-x[used] * cost, np.zeros(len(held))]
    if problem.scalars:
        weight = _PAID * np.maximum(np.abs(t), np.finfo(float).tiny)
        parts.append(sp.diags_array(weight) @ sp.csr_array(rows.scalar_matrix[held].T))
        right.append(-weight * (problem.scalar_cost + rows.scalar_matrix.T @ prices))
    system = sp.csr_array(sp.vstack(parts))
    unit = np.sqrt(np.asarray(system.power(2).sum(axis=0)).ravel())
    unit = np.where(unit > 0, unit, 1.0)
    found = spla.lsqr(system @ sp.diags_array(1.0 / unit), np.concatenate(right), iter_lim=_STEPS)
    prices[held] = found[0] / unit
    return prices


def _slopes(problem: Separable, y: Floats) -> Floats:
    """(rows,) f'(y) of the utilities, zero elsewhere and where it is infinite."""
    rows, out = problem.rows, np.zeros(problem.rows.count)
    own = rows.is_utility
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = utility.slope(rows.utility[own], rows.weight[own], rows.parameter[own], y[own])
    out[own] = np.where(np.isfinite(slope), slope, 0.0)
    return out
