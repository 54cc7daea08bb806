"""Random groups of rows, solved by a kernel."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

KINDS = {"log": 1, "power": 2, "quadratic": 3, "convex power": 4, "entropy": 5}


PARAMETER = {1: 0.0, 2: 2.0, 3: 0.7, 4: 2.5, 5: 0.0}


def random_groups(seed: int, rows: int, count: int = 4, cost: int = 0) -> SimpleNamespace:
    """Groups with rows that some point of theirs meets; the first row may carry a cost."""
    rng = np.random.default_rng(seed)
    width = rng.integers(2, 40, count)
    n, ptr = int(width.sum()), np.append(0, np.cumsum(width)).astype(np.int64)
    local = rng.uniform(0.1, 2.0, (rows, n)) * (rng.random((rows, n)) < 0.9)
    local[0] = np.maximum(local[0], 0.1)
    x_lower = np.where((rng.random(n) < 0.8) | (cost > 0), 0.0, -rng.random(n))
    x_upper = np.where(rng.random(n) < 0.5, np.inf, 1.0 + rng.random(n))
    inside = x_lower + rng.random(n) * 0.5
    activity = np.add.reduceat(local * inside, ptr[:-1], axis=1).T
    lower = np.where(rng.random((count, rows)) < 0.4, activity - 0.1, -np.inf)
    upper = np.where(rng.random((count, rows)) < 0.7, activity + 0.1, np.inf)
    equal = rng.random((count, rows)) < 0.2
    lower, upper = np.where(equal, activity, lower), np.where(equal, activity, upper)
    kind = np.zeros((count, rows), np.int8)
    if cost:
        kind[:, 0], lower[:, 0], upper[:, 0] = cost, -np.inf, np.inf
    return SimpleNamespace(
        ptr=ptr,
        local=local,
        v=rng.normal(0.2, 0.5, n),
        s=rng.uniform(0.2, 3.0, n),
        x_lower=x_lower,
        x_upper=x_upper,
        kind=kind,
        weight=rng.uniform(0.5, 2.0, kind.shape),
        parameter=np.full(kind.shape, PARAMETER.get(cost, 0.0)),
        lower=lower,
        upper=upper,
    )


def solved(
    g: SimpleNamespace,
    kernel: object,
    softness: float = 0.0,
    t: float = 0.0,
    shift: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, float, float]:
    price = np.where(np.isin(g.kind, (1, 2)), -1.0, 0.0)
    x, shift = np.zeros(len(g.v)), np.zeros(g.lower.shape) if shift is None else shift
    value, slope = kernel(
        g.ptr,
        g.local,
        g.v,
        g.s,
        g.x_lower,
        g.x_upper,
        g.kind,
        g.weight,
        g.parameter,
        g.lower - t * shift,
        g.upper - t * shift,
        softness,
        1e-12,
        shift,
        price,
        x,
    )  # type: ignore[operator]
    return x, price, value, slope
