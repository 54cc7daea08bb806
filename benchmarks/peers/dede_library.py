"""The ``dede`` package through its public interface, in its own environment.

Its high-level interface cannot state max-min (the shared scalar ties every demand group) or
log(T_j x_j); total throughput and its README's toy are what it can be asked.
"""

from __future__ import annotations

import time

import dede
import numpy as np
import numpy.typing as npt
import ray

from benchmarks.judge import judge
from benchmarks.problem import Budget, Instance, Outcome

Floats = npt.NDArray[np.float64]


def solve(instance: Instance, objective: str, budget: Budget) -> Outcome:
    """Solve ``total-throughput`` or ``dede-toy`` with the package's defaults."""
    start = time.perf_counter()
    m, n = instance.shape
    x = dede.Variable((m, n), nonneg=True)
    if objective == "dede-toy":
        rows = [x[i, :].sum() >= float(instance.capacity[i]) for i in range(m)]
        columns = [x[:, j].sum() <= float(instance.size[j]) for j in range(n)]
        goal = dede.Minimize(x.sum())
    else:
        rows = [x[i, :] @ instance.size <= float(instance.capacity[i]) for i in range(m)]
        columns = [x[:, j].sum() <= 1 for j in range(n)]
        gain = np.where(instance.allowed, instance.throughput, 0.0)
        goal = dede.Maximize(sum(gain[:, j] @ x[:, j] for j in np.flatnonzero(gain.any(axis=0))))
    problem = dede.Problem(goal, rows, columns)
    built = time.perf_counter()
    value = problem.solve(num_cpus=budget.threads, solver=dede.ECOS)
    solved = time.perf_counter()
    masked = instance.allowed.astype(float)
    copies = [copy * masked for copy in _allocation(problem, x.id, (m, n))]
    ray.shutdown()
    # The copies disagree until ADMM has converged: the better one is taken.
    allocation = min(copies, key=lambda copy: judge(instance, objective, copy).violation)
    return Outcome(
        allocation,
        built - start,
        solved - built,
        message="stopped by its own rule",
        numbers={"reported": float(value)},
    )


def _allocation(problem: dede.Problem, variable: int, shape: tuple[int, int]) -> list[Floats]:
    """Both copies of X, from the resource and the demand subproblems.

    Version 0.1.6 sets no ``x.value``; positions are cvxpy's, column by column.
    """
    groups = problem._subprob_cache.probs
    sides = (
        ([group.get_solution_idx_r.remote() for group in groups], problem.sol_r),
        ([group.get_solution_idx_d.remote() for group in groups], problem.sol_d),
    )
    copies = []
    for pending, solution in sides:
        x = np.zeros(shape[0] * shape[1])
        owners = [pair for group in ray.get(pending) for pair in group]
        for (owner, position), entry in zip(owners, solution, strict=True):
            if owner == variable:
                x[position] = entry
        copies.append(x.reshape(shape, order="F"))
    return copies
