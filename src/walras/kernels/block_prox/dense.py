"""Solves with the few prices of one group."""

from __future__ import annotations

import numpy as np

from walras.kernels.parallel import inner
from walras.types import Bools, Floats

_SINGULAR = 1e-10  # least share of a pivot that must remain after elimination


@inner
def factored(h: Floats, free: Bools, c: Floats) -> bool:
    """Compute the Cholesky factor C of H's free part; False, with pivots ``inf``, if singular."""
    regular = True
    for k in range(len(free)):
        for m in range(k):
            total = h[k, m] if free[k] and free[m] else 0.0
            for i in range(m):
                total -= c[k, i] * c[m, i]
            c[k, m] = total / c[m, m]
        pivot = h[k, k]
        for i in range(k):
            pivot -= c[k, i] * c[k, i]
        singular = not pivot > _SINGULAR * h[k, k]
        regular = regular and not (singular and free[k])
        c[k, k] = np.inf if singular or not free[k] else np.sqrt(pivot)
    return regular


@inner
def solved(c: Floats, g: Floats, x: Floats) -> None:
    """Compute x = (C C')^-1 g, with zero where the pivot is ``inf``."""
    rows = len(g)
    for k in range(rows):
        total = g[k]
        for i in range(k):
            total -= c[k, i] * x[i]
        x[k] = total / c[k, k]
    for k in range(rows - 1, -1, -1):
        total = x[k]
        for i in range(k + 1, rows):
            total -= c[i, k] * x[i]
        x[k] = total / c[k, k]
