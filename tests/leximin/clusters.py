"""Small clusters, and their leximin throughputs by plain linear programs."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

import walras as wl

cs = wl.domains.cluster_scheduling


def cluster(seed: int, m: int = 3, n: int = 6) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Jobs that run on few types, some of which are plenty: the levels differ."""
    rng = np.random.default_rng(seed)
    T = rng.lognormal(0, 0.8, (m, n)) * (rng.random((m, n)) < 0.4)
    T[rng.integers(m, size=n), np.arange(n)] += 0.5
    return T, rng.choice([1.0, 2.0], n), rng.uniform(0.5, 3.0, m)


def by_definition(T: np.ndarray, size: np.ndarray, capacity: np.ndarray) -> np.ndarray:
    """Leximin throughputs: a max-min LP a level, each job's own maximum tells whether it is stuck.

    Ogryczak and Sliwinski (2006), with one LP a job to find who cannot exceed the level.
    """
    m, n = T.shape
    fixed = np.full(n, np.nan)
    a_capacity = np.zeros((m, m * n + 1))
    a_time = np.zeros((n, m * n + 1))
    for j in range(n):
        a_time[j, j * m : (j + 1) * m] = 1.0
        for i in range(m):
            a_capacity[i, j * m + i] = size[j]
    throughput = np.zeros((n, m * n + 1))
    for j in range(n):
        throughput[j, j * m : (j + 1) * m] = T[:, j]
    base = np.vstack([a_capacity, a_time])
    right = np.concatenate([capacity, np.ones(n)])
    while np.any(np.isnan(fixed)):
        free = np.flatnonzero(np.isnan(fixed))
        level = -throughput.copy()
        level[free, -1] = 1.0
        bound = np.where(np.isnan(fixed), 0.0, -(1 - 1e-10) * np.nan_to_num(fixed))
        cost = np.zeros(m * n + 1)
        cost[-1] = -1.0
        found = linprog(cost, np.vstack([base, level]), np.concatenate([right, bound]))
        t = -float(found.fun or 0.0)
        floor = np.where(np.isnan(fixed), t, np.nan_to_num(fixed)) * (1 - 1e-9)
        stuck = []
        for j in free.tolist():
            rows = np.vstack([base, -throughput])
            most = linprog(-throughput[j], rows, np.concatenate([right, -floor]))
            if -float(most.fun or 0.0) <= t * (1 + 1e-6):
                stuck.append(j)
        fixed[stuck] = t
    return fixed
