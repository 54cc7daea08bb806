"""Jobs with given places in line on machines with slots: when each begins."""

from __future__ import annotations

import numpy as np

from walras.kernels.parallel import jit_in_order
from walras.types import Floats, Longs


@jit_in_order
def run_in_order(
    cluster: Longs, arrival: Floats, seconds: Floats, size: Longs, slots: Longs, grid: Floats
) -> Floats:
    """When each job begins, if each cluster takes its jobs in the order given.

    A job begins at the first point of the grid at which enough slots are free, and not before the
    one ahead of it. One that arrives before the first point runs already, and begins at once. Ends
    are kept as a heap for each cluster.

    Args:
        cluster: (n,) where each job runs; jobs stand in line in the order given.
        arrival: (n,) seconds from which it may begin.
        seconds: (n,) what it takes.
        size: (n,) slots that it takes.
        slots: (M,) slots of each cluster.
        grid: (2,) a point of the grid and the distance of its points; distance 0 is no grid.

    Returns:
        (n,) begins.
    """
    n, m = len(cluster), len(slots)
    start = np.empty(n)
    free, last = slots.copy(), np.full(m, -np.inf)
    count = np.zeros(m, np.int64)
    per = np.zeros(m, np.int64)
    for j in range(n):
        per[cluster[j]] += 1
    begin = np.zeros(m + 1, np.int64)
    for i in range(m):
        begin[i + 1] = begin[i] + per[i]
    ends, taken = np.empty(n), np.empty(n, np.int64)
    for j in range(n):
        i = cluster[j]
        b = begin[i]
        time = max(arrival[j], last[i])
        while count[i] > 0 and (ends[b] <= time or free[i] < size[j]):
            time = max(time, ends[b])
            free[i] += taken[b]
            count[i] -= 1
            # the last one sinks from the top
            end, held, at = ends[b + count[i]], taken[b + count[i]], 0
            while True:
                child = 2 * at + 1
                if child >= count[i]:
                    break
                if child + 1 < count[i] and ends[b + child + 1] < ends[b + child]:
                    child += 1
                if ends[b + child] >= end:
                    break
                ends[b + at], taken[b + at] = ends[b + child], taken[b + child]
                at = child
            ends[b + at], taken[b + at] = end, held
        if grid[1] > 0.0 and arrival[j] >= grid[0]:
            time = max(time, grid[0] + np.ceil((time - grid[0]) / grid[1] - 1e-9) * grid[1])
        start[j] = last[i] = time
        free[i] -= size[j]
        end, at = time + seconds[j], count[i]
        count[i] += 1
        while at > 0 and ends[b + (at - 1) // 2] > end:
            up = (at - 1) // 2
            ends[b + at], taken[b + at] = ends[b + up], taken[b + up]
            at = up
        ends[b + at], taken[b + at] = end, size[j]
    return start
