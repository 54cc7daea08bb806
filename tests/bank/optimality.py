"""The optimality conditions of a Separable, recomputed from its arrays alone.

Shares no code with ``walras.certificate``. Every complementarity product is >= 0 and their sum is
value - bound, so one number a row, entry and scalar says where a point is not optimal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from walras.separable import Separable, Utility
from walras.types import Floats


@dataclass(frozen=True)
class Optimality:
    """How far a point is from optimal.

    Attributes:
        primal: Largest violation of a row or bound, relative to the terms that it adds up.
        dual: Largest reduced cost of the wrong sign where no bound answers it, relative to the
            terms that it adds up, or price of the wrong sign.
        complementarity: Largest product of a price and a slack, over the objective's scale.
        gap: Sum of all products, over the objective's scale.
        scale: The objective's scale: ``gap_scale``, or the larger of its value and its largest
            term.
        value: The minimised objective.
        bound: What the prices prove: the value less all products.
    """

    primal: float
    dual: float
    complementarity: float
    gap: float
    scale: float
    value: float
    bound: float


def conjugate(kind: int, w: float, a: float, p: float) -> float:
    """sup_y p y - f(y), from the first-order condition, one row at a time."""
    if kind == Utility.LOG:
        return -w + w * np.log(-w / p) if p < 0 else np.inf
    if kind == Utility.POWER:
        return w * a / (1 - a) * (-w / p) ** ((1 - a) / a) if p < 0 else np.inf
    if kind == Utility.QUADRATIC:
        return a * p + p * p / (2 * w)
    if kind == Utility.CONVEX_POWER:
        return w * (a - 1) * (max(p, 0.0) / (w * a)) ** (a / (a - 1))
    return w * np.exp(p / w - 1)  # ENTROPY


def cost(kind: int, w: float, a: float, y: float) -> float:
    """f(y), one row at a time."""
    if kind == Utility.LOG:
        return -w * np.log(y) if y > 0 else np.inf
    if kind == Utility.POWER:
        return -w * y ** (1 - a) / (1 - a) if y > 0 else np.inf
    if kind == Utility.QUADRATIC:
        return w / 2 * (y - a) ** 2
    if kind == Utility.CONVEX_POWER:
        return w * y**a if y >= 0 else np.inf
    return w * y * np.log(y) if y > 0 else 0.0


def optimality(problem: Separable, x: Floats, t: Floats, p: Floats) -> Optimality:
    """The conditions at (x, t) with row prices p."""
    rows = problem.rows
    dense = rows.matrix.toarray()
    y = dense @ x + rows.scalar_matrix @ t
    size = np.abs(dense) @ np.abs(x) + np.abs(rows.scalar_matrix) @ np.abs(t)
    z = problem.cost + problem.quadratic * x + dense.T @ p
    z_size = np.abs(problem.cost) + problem.quadratic * np.abs(x) + np.abs(dense).T @ np.abs(p)
    e = problem.scalar_cost + rows.scalar_matrix.T @ p
    e_size = np.abs(problem.scalar_cost) + np.abs(rows.scalar_matrix).T @ np.abs(p)
    utilities = np.flatnonzero(rows.is_utility)
    costs = np.array([cost(*_row(problem, k), float(y[k])) for k in utilities])
    conjugates = np.array([conjugate(*_row(problem, k), float(p[k])) for k in utilities])
    plain = ~rows.is_utility
    row_products, row_dual = _products(-p, p == 0, y, rows.lower, rows.upper, 1.0)
    x_products, x_dual = _products(z, z == 0, x, problem.lower, problem.upper, z_size)
    x_products, x_dual = _curved(problem, x, z, x_products, x_dual)
    t_products, t_dual = _products(e, e == 0, t, problem.scalar_lower, problem.scalar_upper, e_size)
    fenchel = costs + conjugates - p[utilities] * y[utilities]
    products = np.concatenate([row_products[plain], x_products, t_products, fenchel])
    terms = np.concatenate(
        [problem.cost * x, problem.quadratic * x * x / 2, problem.scalar_cost * t, costs]
    )
    value = problem.constant + float(terms.sum())
    # A target that is met has no cost left: its terms before they cancel are its scale.
    square = rows.weight * (y * y + rows.parameter**2) / 2 * (rows.utility == Utility.QUADRATIC)
    largest = max(float(np.abs(terms).max(initial=0.0)), 1e-3 * float(square.sum()))
    scale = problem.gap_scale or max(abs(value), largest, 1e-300)
    primal = [
        _over(y, rows.lower, rows.upper, size),
        _over(x, problem.lower, problem.upper, np.abs(x)),
        _over(t, problem.scalar_lower, problem.scalar_upper, np.abs(t)),
    ]
    return Optimality(
        primal=max(float(part.max(initial=0.0)) for part in primal),
        dual=max(float(part.max(initial=0.0)) for part in (row_dual[plain], x_dual, t_dual)),
        complementarity=float(np.abs(products).max(initial=0.0)) / scale,
        gap=float(products.sum()) / scale,
        scale=scale,
        value=value,
        bound=value - float(products.sum()),
    )


def _row(problem: Separable, k: Any) -> tuple[int, float, float]:
    rows = problem.rows
    return int(rows.utility[k]), float(rows.weight[k]), float(rows.parameter[k])


def _products(
    z: Floats,
    zero: npt.NDArray[np.bool_],
    at: Floats,
    low: Floats,
    high: Floats,
    size: Floats | float,
) -> tuple[Floats, Floats]:
    """z's product with the distance to the bound it asks for; |z|/size where there is none."""
    bound = np.where(z > 0, low, high)
    lost = np.isinf(bound) & ~zero
    finite = np.where(np.isinf(bound), at, bound)
    with np.errstate(invalid="ignore", divide="ignore"):
        stray = np.where(lost, np.abs(z) / np.where(np.asarray(size) > 0, size, 1.0), 0.0)
    return np.where(lost, 0.0, z * (at - finite)), stray


def _curved(
    problem: Separable, x: Floats, z: Floats, products: Floats, dual: Floats
) -> tuple[Floats, Floats]:
    """Entries with h > 0: ``r x + h x^2/2`` less its least value within the bounds."""
    h = problem.quadratic
    bent = h > 0
    r = z - h * x
    best = np.clip(-r / np.where(bent, h, 1.0), problem.lower, problem.upper)
    best = np.where(bent, best, 0.0)
    lost = (r + h * (x + best) / 2) * (x - best)
    return np.where(bent, lost, products), np.where(bent, 0.0, dual)


def _over(at: Floats, low: Floats, high: Floats, size: Floats) -> Floats:
    bounds = np.maximum(
        np.where(np.isfinite(low), np.abs(low), 0.0), np.where(np.isfinite(high), np.abs(high), 0.0)
    )
    return np.maximum(np.maximum(at - high, low - at), 0.0) / np.maximum(
        np.maximum(size, bounds), 1e-12
    )
