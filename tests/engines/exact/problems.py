"""Small problems of every utility."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from walras.separable import Family, Rows, Separable, Utility
from walras.settings import Settings

CALM = Settings(threads=1)


SMOOTH = [
    (Utility.LOG, 0.0),
    (Utility.POWER, 0.5),
    (Utility.POWER, 2.0),
    (Utility.POWER, 3.5),
    (Utility.QUADRATIC, 1.3),
    (Utility.CONVEX_POWER, 1.5),
    (Utility.CONVEX_POWER, 3.0),
    (Utility.ENTROPY, 0.0),
]


def stated(
    matrix: Any,
    lower: Any,
    upper: Any,
    cost: Any,
    *,
    kinds: Any = None,
    weight: Any = 1.0,
    parameter: Any = 0.0,
    low: float = 0.0,
    high: float = np.inf,
    quadratic: Any = 0.0,
    integer: Any = None,
    maximize: bool = False,
) -> Separable:
    matrix = np.atleast_2d(np.asarray(matrix, float))
    r, n = matrix.shape
    rows = Rows(
        sp.csc_array(matrix),
        np.zeros((r, 0)),
        np.broadcast_to(lower, r).astype(float),
        np.broadcast_to(upper, r).astype(float),
        np.full(r, 2, np.int8),
        np.full(r, -1, np.int32),
        np.zeros(r, np.int8) if kinds is None else np.asarray(kinds, np.int8),
        np.broadcast_to(weight, r).astype(float),
        np.broadcast_to(parameter, r).astype(float),
        (Family("row", 0, r),),
    )
    none = np.zeros(0)
    return Separable(
        np.full(n, -1, np.int32),
        np.arange(n, dtype=np.int32),
        np.asarray(cost, float),
        np.broadcast_to(quadratic, n).astype(float),
        np.full(n, low),
        np.full(n, high),
        none,
        none,
        none,
        rows,
        [],
        [f"job{k}" for k in range(n)],
        integer=integer,
        maximize=maximize,
    )


def curved(kind: Utility, a: float, seed: int = 0) -> Separable:
    """Four utility rows, one packing and one covering row, a linear and a quadratic cost."""
    rng = np.random.default_rng(seed)
    n, r = 6, 4
    matrix = rng.uniform(0.1, 2.0, (r + 2, n)) * 5
    lower, upper = np.full(r + 2, -np.inf), np.full(r + 2, np.inf)
    upper[r], lower[r + 1] = 60.0, 3.0
    return stated(
        matrix,
        lower,
        upper,
        rng.normal(0.05, 0.1, n),
        kinds=[kind] * r + [0, 0],
        weight=1.7,
        parameter=a,
        high=10.0,
        quadratic=rng.uniform(0, 0.01, n),
    )


def long_rows(kind: Utility, a: float) -> Separable:
    """Utilities and packing rows over a tenth of 2,000 entries each: some 10 ms of setup."""
    rng = np.random.default_rng(0)
    n, is_packing = 2000, np.arange(60) >= 30
    matrix = rng.uniform(0.1, 1.0, (60, n)) * (rng.random((60, n)) < 0.1)
    upper = np.where(is_packing, 5.0, np.inf)
    kinds = np.where(is_packing, 0, kind)
    return stated(matrix, -np.inf, upper, np.zeros(n), kinds=kinds, parameter=a, high=1.0)
