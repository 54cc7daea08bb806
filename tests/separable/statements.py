"""A small random cluster in cvxpy words, and an objective for every supported atom."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

M, N = 4, 7


@dataclass
class Cluster:
    """A small random cluster in cvxpy words."""

    x: cp.Variable
    y: cp.Expression
    throughput: np.ndarray
    size: np.ndarray
    capacity: cp.Constraint
    time: cp.Constraint


def cluster(seed: int = 1) -> Cluster:
    rng = np.random.default_rng(seed)
    throughput = rng.lognormal(size=(M, N))
    size = rng.integers(1, 5, N) + rng.uniform(0, 0.3, N)
    x = cp.Variable((M, N), nonneg=True, name="x")
    return Cluster(
        x,
        cp.sum(cp.multiply(throughput, x), axis=0),
        throughput,
        size,
        (x @ size <= rng.uniform(2, 4, M)).set_label("capacity"),
        (cp.sum(x, axis=0) <= 1).set_label("time"),
    )


# Objectives as functions of the cluster: the name says which atom and which curvature.
OBJECTIVES: dict[str, Callable[[Cluster], Any]] = {
    "linear": lambda c: cp.Maximize(cp.sum(c.y)),
    "trace": lambda c: cp.Maximize(cp.trace(c.throughput.T @ c.x)),
    "log": lambda c: cp.Maximize(cp.sum(cp.log(c.y))),
    "log weighted": lambda c: cp.Maximize(np.arange(1, N + 1) @ cp.log(c.y)),
    "log of entries": lambda c: cp.Maximize(cp.sum(cp.log(c.x))),
    "log1p, one weight zero": lambda c: cp.Maximize(
        cp.sum(cp.multiply(np.arange(N) * 1.0, cp.log1p(c.y)))
    ),
    "log list": lambda c: cp.Maximize(
        sum(cp.log(c.throughput[:, j] @ c.x[:, j]) for j in range(N))
    ),
    "sqrt": lambda c: cp.Maximize(cp.sum(2 * cp.sqrt(c.y))),
    "power 0.3": lambda c: cp.Maximize(cp.sum(cp.power(c.y, 0.3, approx=False)) / 0.3),
    "inv_pos": lambda c: cp.Maximize(-cp.sum(cp.inv_pos(c.y))),
    "power -2": lambda c: cp.Minimize(cp.sum(cp.power(c.y, -2)) / 2 + cp.sum(c.x)),
    "power 1.5": lambda c: cp.Minimize(cp.sum(cp.power(c.y, 1.5)) - 4 * cp.sum(c.y)),
    "power 3": lambda c: cp.Minimize(cp.sum(c.y**3) - 5 * cp.sum(c.y)),
    "power 4": lambda c: cp.Minimize(cp.sum(cp.power(c.y, 4)) - 5 * cp.sum(c.y)),
    "entropy": lambda c: cp.Maximize(cp.sum(cp.entr(c.y)) + 2 * cp.sum(c.y)),
    "square": lambda c: cp.Minimize(cp.sum(cp.square(c.y - 2))),
    "sum_squares of entries": lambda c: cp.Minimize(cp.sum_squares(c.x - 0.3) - cp.sum(c.y)),
    "quad_over_lin": lambda c: cp.Minimize(cp.quad_over_lin(c.y - 2, 3) + 0.1 * cp.sum(c.x)),
    "quad_form": lambda c: cp.Minimize(
        cp.quad_form(c.x[0], c.throughput.T @ c.throughput) - cp.sum(c.x[0])
    ),
    "quad_form diagonal": lambda c: cp.Minimize(
        cp.quad_form(c.x[0], np.diag(np.arange(1.0, N + 1))) - cp.sum(c.y)
    ),
    "quad_form concave": lambda c: cp.Maximize(
        cp.quad_form(c.y, -np.eye(N) - 0.1) + 3 * cp.sum(c.y)
    ),
    "min": lambda c: cp.Maximize(cp.min(c.y)),
    "max of loads": lambda c: cp.Minimize(cp.max(c.x @ c.size) - 0.5 * cp.sum(c.y)),
    "sum of min": lambda c: cp.Maximize(cp.sum(cp.min(cp.multiply(c.throughput, c.x), axis=0))),
    "minimum": lambda c: cp.Maximize(cp.sum(cp.minimum(c.y, 1.2))),
    "maximum": lambda c: cp.Minimize(cp.sum(cp.maximum(2 - c.y, 0, 1 - 0.1 * c.y))),
    "abs (churn)": lambda c: cp.Maximize(cp.sum(c.y) - 0.7 * cp.sum(cp.abs(c.x - 0.13))),
    "norm1": lambda c: cp.Maximize(cp.sum(c.y) - 0.7 * cp.norm1(c.x - 0.13)),
    "norm_inf": lambda c: cp.Maximize(cp.sum(c.y) - 3 * cp.norm_inf(c.x @ c.size - 1)),
    "pos": lambda c: cp.Minimize(cp.sum(cp.pos(1.5 - c.y)) + 0.1 * cp.sum(c.x)),
    "log of min": lambda c: cp.Maximize(cp.log(cp.min(c.y))),
    "square of pos": lambda c: cp.Minimize(cp.sum(cp.square(cp.pos(1.5 - c.y)))),
    "mixture": lambda c: cp.Maximize(
        cp.sum(cp.log(c.y)) + 2 * cp.min(c.y) - 0.1 * cp.sum_squares(c.x) + 2
    ),
}
