"""The dual of a large matching: each task's nearest clusters, and a smooth dual function of them.

At prices lam of slot-seconds and mu of success, task j has the reduced cost

    c_ij = lam_i s_j t_ij - mu a_ij + move_ij

on cluster i. The dual function is the sum of the least ones; smoothed, each least is a soft minimum
of temperature tau. Near its maximum a few clusters a task matter: one pass over the times finds
them, and many passes over them alone find the prices.
"""

from __future__ import annotations

import math

import numpy as np

from walras.kernels.parallel import jit, jit_in_order
from walras.types import Floats, Ints, Longs

_BLOCK = 512  # tasks that are looked at together: their nearest clusters stay in the cache


@jit_in_order
def nearest(
    first: int,
    last: int,
    times: Floats,
    success: Floats,
    size: Floats,
    start: Floats,
    kind: Longs,
    lam: Floats,
    mu: float,
    previous: Longs,
    move: float,
    limit: float,
    cluster: Ints,
    cost: Floats,
) -> None:
    """The clusters of least reduced cost of tasks ``first`` to ``last``, in rising order.

    Args:
        first: First task.
        last: The task after the last one.
        times: (clusters, tasks); ``inf`` where a cluster may not run a task.
        success: (clusters, tasks).
        size: (tasks,) slots.
        start: (clusters, kinds) seconds until a task of a size can start.
        kind: (tasks,) the kind of its size.
        lam: (clusters,) price of a slot-second.
        mu: Price of success.
        previous: (tasks,) the cluster where it costs nothing to stay, or -1.
        move: What it costs elsewhere.
        limit: Seconds within which a task must be able to end.
        cluster: (tasks, K) written; -1 where there are fewer.
        cost: (tasks, K) their reduced costs, written; ``inf`` there.
    """
    m, k = len(lam), cost.shape[1]
    for begin in range(first, last, _BLOCK):
        end = min(begin + _BLOCK, last)
        for j in range(begin, end):
            for q in range(k):
                cost[j, q], cluster[j, q] = np.inf, -1
        for i in range(m):
            for j in range(begin, end):
                t = times[i, j]
                value = lam[i] * size[j] * t - mu * success[i, j]
                if previous[j] >= 0 and previous[j] != i:
                    value += move
                if not value < cost[j, k - 1] or start[i, kind[j]] + t > limit:
                    continue
                q = k - 1
                while q > 0 and cost[j, q - 1] > value:
                    cost[j, q], cluster[j, q] = cost[j, q - 1], cluster[j, q - 1]
                    q -= 1
                cost[j, q], cluster[j, q] = value, i


@jit
def smooth(
    first: int,
    last: int,
    cluster: Ints,
    work: Floats,
    chance: Floats,
    base: Floats,
    lam: Floats,
    mu: float,
    tau: float,
    curved: bool,
    gradient: Floats,
    curvature: Floats,
) -> float:
    """The sum of soft minima of tasks ``first`` to ``last``, its gradient and its curvature.

    Args:
        first: First task.
        last: The task after the last one.
        cluster: (tasks, K) clusters that a task looks at; -1 where there are fewer.
        work: (tasks, K) slot-seconds there.
        chance: (tasks, K) chances of success there.
        base: (tasks, K) what is paid there at no prices.
        lam: (clusters,) price of a slot-second.
        mu: Price of success.
        tau: Temperature.
        curved: Whether the curvature is wanted.
        gradient: (clusters + 1,) the work of each cluster and minus the success; added to.
        curvature: (clusters + 1, clusters + 1) minus the second derivative times tau; added to, its
            lower half alone.

    Returns:
        The sum.
    """
    m, k = len(lam), cluster.shape[1]
    share, total = np.empty(k), 0.0
    for j in range(first, last):
        least, count = np.inf, 0
        for q in range(k):
            if cluster[j, q] < 0:
                break
            count += 1
            share[q] = base[j, q] + lam[cluster[j, q]] * work[j, q] - mu * chance[j, q]
            least = min(least, share[q])
        parts = 0.0
        for q in range(count):
            share[q] = math.exp((least - share[q]) / tau)
            parts += share[q]
        total += least - tau * math.log(parts)
        reached = 0.0
        for q in range(count):
            share[q] /= parts
            gradient[cluster[j, q]] += share[q] * work[j, q]
            reached += share[q] * chance[j, q]
        gradient[m] -= reached
        if not curved:
            continue
        for q in range(count):
            if share[q] < 1e-9:
                continue
            i, own = cluster[j, q], share[q] * work[j, q]
            curvature[i, i] += own * work[j, q]
            curvature[m, i] -= own * (chance[j, q] - reached)
            curvature[m, m] += share[q] * (chance[j, q] - reached) ** 2
            for p in range(count):
                if cluster[j, p] <= i:
                    curvature[i, cluster[j, p]] -= own * share[p] * work[j, p]
    return total
