"""A small cluster stated in cvxpy."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np

import walras as wl

M, N = 4, 9


class Cluster:
    def __init__(self, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.throughput = rng.lognormal(size=(M, N))
        self.size = rng.integers(1, 5, N) + rng.uniform(0, 0.2, N)
        self.x = cp.Variable((M, N), nonneg=True, name="x")
        self.y = cp.sum(cp.multiply(self.throughput, self.x), axis=0)
        self.capacity = (self.x @ self.size <= rng.uniform(2, 4, M)).set_label("capacity")
        self.time = (cp.sum(self.x, axis=0) <= 1).set_label("time")

    def problem(self, objective: Any) -> wl.Problem:
        return wl.Problem(
            objective, resource_constraints=[self.capacity], demand_constraints=[self.time]
        )
