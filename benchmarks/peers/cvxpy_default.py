"""cvxpy as its users write it: vectorised expressions and whatever solver it chooses."""

from __future__ import annotations

import time

import cvxpy as cp
import numpy as np

from benchmarks.problem import Budget, Instance, Outcome


def solve(instance: Instance, objective: str, budget: Budget) -> Outcome:
    """Solve any objective; ``build`` is cvxpy's compilation, ``solve`` the rest."""
    start = time.perf_counter()
    x = cp.Variable(instance.shape, nonneg=True)
    progress = cp.sum(cp.multiply(np.where(instance.allowed, instance.throughput, 0.0), x), axis=0)
    goal = {
        "max-min": cp.min,
        "total-throughput": cp.sum,
        "proportional-fairness": lambda y: cp.sum(cp.log(y)),
        "alpha-fair-2": lambda y: -cp.sum(cp.inv_pos(y)),
    }[objective]
    constraints = [x @ instance.size <= instance.capacity, cp.sum(x, axis=0) <= 1]
    problem = cp.Problem(cp.Maximize(goal(progress)), constraints)
    try:
        problem.solve()
        message = f"{problem.status} by {problem.solver_stats.solver_name}"
    except cp.SolverError as error:
        message = f"SolverError: {error}"
    elapsed = time.perf_counter() - start
    build = float(problem.compilation_time or 0.0)
    iterations = problem.solver_stats.num_iters if problem.solver_stats else None
    allocation = None if x.value is None else np.where(instance.allowed, x.value, 0.0)
    return Outcome(allocation, build, elapsed - build, iterations, message)
