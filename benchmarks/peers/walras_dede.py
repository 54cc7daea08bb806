"""The ``dede`` package's README example by Walras, with one line of the program changed."""

from __future__ import annotations

import time

import walras.dede as dd
from benchmarks.problem import Budget, Instance, Outcome


def solve(instance: Instance, objective: str, budget: Budget) -> Outcome:
    """The README's program, import apart, with cvxpy's canonicalisation in the time."""
    start = time.perf_counter()
    m, n = instance.shape
    x = dd.Variable((m, n), nonneg=True)
    resource_constraints = [x[i, :].sum() >= i for i in range(m)]
    demand_constraints = [x[:, j].sum() <= j for j in range(n)]
    problem = dd.Problem(dd.Minimize(x.sum()), resource_constraints, demand_constraints)
    built = time.perf_counter()
    value = problem.solve(num_cpus=budget.threads, solver=dd.ECOS)
    solved = time.perf_counter()
    return Outcome(x.value, built - start, solved - built, numbers={"reported": float(value)})
