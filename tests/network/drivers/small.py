"""A small problem for drivers: five centres on a ring that train a line, or only share."""

from __future__ import annotations

import numpy as np

from walras.network.graph.network import Network
from walras.network.problem.cpu_costs import QuadraticCPU
from walras.network.problem.losses import LeastSquares
from walras.network.problem.network_problem import Problem
from walras.network.problem.shards import split

RING = Network.ring(5)


def quadratic(centres: int) -> list[QuadraticCPU]:
    """Costs drawn with seed 0."""
    rng = np.random.default_rng(0)
    center, scale = rng.uniform(1.0, 3.0, centres), rng.uniform(1.0, 2.0, centres)
    return [QuadraticCPU(c, k) for c, k in zip(center, scale, strict=True)]


def problem(centres: int = 5, *, trains: bool = False) -> Problem:
    """Quadratic costs, drawn with seed 0; a regression when it trains."""
    cpu = quadratic(centres)
    boxes, budget = (0.0, 6.0), 1.2 * float(np.sum([cost.center for cost in cpu]))
    if not trains:
        return Problem(cpu, budget, boxes)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2))
    shards = split(x, x @ [1.0, -2.0] + 0.5, centres, seed=1)
    return Problem(cpu, budget, boxes, loss=LeastSquares(0.01), shards=shards)
