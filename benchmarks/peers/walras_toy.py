"""The ``dede`` package's README example by Walras, stated as arrays."""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse as sp

import walras as wl
from benchmarks.problem import Budget, Instance, Outcome
from walras.separable import Family, Rows, Side


def solve(instance: Instance, objective: str, budget: Budget) -> Outcome:
    """State and solve ``dede-toy``."""
    start = time.perf_counter()
    problem = state(instance)
    built = time.perf_counter()
    solution = wl.solve(problem, tolerance=budget.tolerance, threads=budget.threads)
    solved = time.perf_counter()
    return Outcome(
        solution.x,
        built - start,
        solved - built,
        len(solution.history),
        str(solution.status),
        {"reported": float(solution.value)},
    )


def state(instance: Instance) -> wl.Separable:
    """Min sum x subject to row sums >= capacity, column sums <= size, x >= 0."""
    m, n = instance.shape
    entry, none = np.arange(m * n), np.full(m + n, np.inf)
    resource, demand = np.divmod(entry, n)
    # Every entry is in two rows: its resource's, then its demand's, m rows further down.
    row = np.stack([resource, m + demand], axis=1).ravel()
    matrix = sp.csc_array(
        (np.ones(2 * m * n), row, np.arange(0, 2 * m * n + 1, 2)), shape=(m + n, m * n)
    )
    rows = Rows(
        matrix=matrix,
        scalar_matrix=np.zeros((m + n, 0)),
        lower=np.concatenate([instance.capacity, -none[:n]]),
        upper=np.concatenate([none[:m], instance.size]),
        side=np.repeat([Side.RESOURCE, Side.DEMAND], [m, n]).astype(np.int8),
        owner=np.concatenate([np.arange(m), np.arange(n)]).astype(np.int32),
        utility=np.zeros(m + n, np.int8),
        weight=np.ones(m + n),
        parameter=np.zeros(m + n),
        families=(Family("resource", 0, m), Family("demand", m, m + n)),
    )
    zero, empty = np.zeros(m * n), np.zeros(0)
    return wl.Separable(
        resource=resource.astype(np.int32),
        demand=demand.astype(np.int32),
        cost=np.ones(m * n),
        quadratic=zero,
        lower=zero,
        upper=np.full(m * n, np.inf),
        scalar_cost=empty,
        scalar_lower=empty,
        scalar_upper=empty,
        rows=rows,
        resource_names=[f"resource-{i}" for i in range(m)],
        demand_names=[f"demand-{j}" for j in range(n)],
    )
