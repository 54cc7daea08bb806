"""Exact matching of small rounds whose tasks share clusters: branch and bound at given prices.

At prices lam of slot-seconds and mu of success a placement that ends by T costs at least

    T - sum_i lam_i C_i(T) + mu G + sum_j c_j,

with c_j the reduced cost of each task where it is. C_i is convex, so that of all T between the
least end and that of the best placement the first and the last count. The branching fixes tasks one
by one and leaves a branch whose bound, whose ends so far, or whose work due by a deadline is too
high.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from walras.kernels.matching.exact import cut_below
from walras.kernels.parallel import inner, jit
from walras.types import Bools, Floats, Ints, Longs


class Levels(NamedTuple):
    """The tasks in the order of branching, the clusters of each by rising reduced cost.

    Attributes:
        cluster: (tasks, clusters) the cluster that stands there.
        reduced: (tasks, clusters) reduced cost; ``inf`` where the task may not go.
        work: (tasks, clusters) slot-seconds.
        soonest: (tasks, clusters) the soonest end.
        chance: (tasks, clusters) chance of success.
        paid: (tasks, clusters) what a move costs.
        due: (tasks,) place of the deadline.
        twin: (tasks + 1,) whether a task equals the one before.
        tail: (tasks + 1,) sum of least reduced costs from a level on.
        hope: (tasks + 1,) sum of highest chances from a level on.
        spent: (tasks + 1,) sum of least payments from a level on.
    """

    cluster: Ints
    reduced: Floats
    work: Floats
    soonest: Floats
    chance: Floats
    paid: Floats
    due: Longs
    twin: Bools
    tail: Floats
    hope: Floats
    spent: Floats


class Field(NamedTuple):
    """The clusters, prices and what is to be reached.

    Attributes:
        free_at: (clusters, K) when slots get free.
        width: (clusters, K) how many.
        room: (clusters, deadlines) slot-seconds until each deadline.
        lam: (clusters,) prices of slot-seconds.
        mu: Price of success.
        low: No placement ends before.
        goal: Success wanted in all.
        price: Of a unit of missing success; 0 where none may be missing.
        hard: Whether none may be.
        alone: Whether the makespan is all that is paid.
    """

    free_at: Floats
    width: Longs
    room: Floats
    lam: Floats
    mu: float
    low: float
    goal: float
    price: float
    hard: bool
    alone: bool


@inner
def _end(field: Field, i: int, work: float) -> float:
    """Seconds until a cluster has done some work."""
    free, used, end = 0.0, 0.0, 0.0
    for k in range(field.width.shape[1]):
        slots, at = field.width[i, k], field.free_at[i, k]
        if slots == 0 or work <= free * at - used:
            break
        free += slots
        used += slots * at
        end = (work + used) / free
    return end


@inner
def _worth(field: Field, by: float) -> float:
    """The capacities until a time, at their prices."""
    total = 0.0
    for i in range(len(field.lam)):
        for k in range(field.width.shape[1]):
            if field.width[i, k] > 0 and by > field.free_at[i, k]:
                total += field.lam[i] * field.width[i, k] * (by - field.free_at[i, k])
    return total


@inner
def _offset(field: Field, by: float) -> float:
    """What is added to reduced costs for a bound on placements that end by a time."""
    least = min(field.low - _worth(field, field.low), by - _worth(field, by))
    return float(least + field.mu * field.goal)


@inner
def _most(field: Field, cut: float) -> float:
    """The reduced costs from which nothing is better than the cut."""
    most = cut - _offset(field, cut)
    if field.alone:
        worth = _worth(field, cut)
        most = min(most, worth * (1.0 + 1e-12) - field.mu * field.goal)
    return float(most)


class Path(NamedTuple):
    """The tasks that are fixed, and what that adds up to.

    Attributes:
        taken: (tasks,) position that each level has taken.
        upcoming: (tasks + 1,) next position to try.
        work: (clusters,) slot-seconds so far.
        used: (clusters, deadlines) slot-seconds due by each.
        bound: (tasks + 1,) reduced costs so far, and likewise the others.
        reached: (tasks + 1,) success.
        paid: (tasks + 1,) payments for moves.
        end: (tasks + 1,) the last end.
    """

    taken: Longs
    upcoming: Longs
    work: Floats
    used: Floats
    bound: Floats
    reached: Floats
    paid: Floats
    end: Floats


@inner
def _fits(levels: Levels, field: Field, path: Path, k: int, q: int) -> bool:
    """Whether what is due by each deadline can be done with the task of a level."""
    i = levels.cluster[k, q]
    for row in range(levels.due[k], field.room.shape[1]):
        if path.used[i, row] + levels.work[k, q] > field.room[i, row]:
            return False
    return True


@inner
def _add(levels: Levels, path: Path, k: int, q: int, sign: float) -> None:
    """Add the work of a level's task to its cluster, or take it away."""
    i = levels.cluster[k, q]
    path.work[i] += sign * levels.work[k, q]
    for row in range(levels.due[k], path.used.shape[1]):
        path.used[i, row] += sign * levels.work[k, q]


@inner
def _enter(levels: Levels, field: Field, path: Path, k: int, cut: float, most: float) -> bool:
    """Take the next promising cluster of level k; whether there is one."""
    while path.upcoming[k] < levels.cluster.shape[1]:
        q = path.upcoming[k]
        if not path.bound[k] + levels.reduced[k, q] + levels.tail[k + 1] < most:
            break
        path.upcoming[k] += 1
        i = levels.cluster[k, q]
        own = max(levels.soonest[k, q], _end(field, i, path.work[i] + levels.work[k, q]))
        last = max(path.end[k], own)
        cost = last + path.paid[k] + levels.paid[k, q] + levels.spent[k + 1]
        missing = field.goal - path.reached[k] - levels.chance[k, q] - levels.hope[k + 1]
        if missing > 0 and field.hard:
            continue
        if cost + (field.price * missing if missing > 0 else 0.0) >= cut:
            continue
        if not _fits(levels, field, path, k, q):
            continue
        path.taken[k] = q
        _add(levels, path, k, q, 1.0)
        path.end[k + 1] = last
        path.bound[k + 1] = path.bound[k] + levels.reduced[k, q]
        path.paid[k + 1] = path.paid[k] + levels.paid[k, q]
        path.reached[k + 1] = path.reached[k] + levels.chance[k, q]
        path.upcoming[k + 1] = q if levels.twin[k + 1] else 0
        return True
    return False


@jit
def branch_shared(
    levels: Levels, field: Field, tolerance: float, limit: int, upper: float, place: Ints
) -> tuple[float, float, int]:
    """Depth-first search below ``upper``; improves ``place`` in place.

    Args:
        levels: The tasks.
        field: The clusters.
        tolerance: Relative gap at which a branch is left.
        limit: Nodes.
        upper: What the best placement known costs; ``inf`` without one.
        place: (tasks,) written: the position of each task's cluster on its level.

    Returns:
        What the best placement costs, a lower bound on all, and the nodes visited.
    """
    n, m = levels.cluster.shape
    path = Path(
        np.zeros(n, np.int64),
        np.zeros(n + 1, np.int64),
        np.zeros(m),
        np.zeros(field.room.shape),
        np.zeros(n + 1),
        np.zeros(n + 1),
        np.zeros(n + 1),
        np.zeros(n + 1),
    )
    cut, most = np.inf, np.inf
    if upper < np.inf:
        cut = cut_below(upper, tolerance)
        most = _most(field, cut)
    k, nodes = min(n, 0), 0
    while k >= 0 and nodes <= limit:
        if k < n and _enter(levels, field, path, k, cut, most):
            nodes += 1
            k += 1
            continue
        if k == n:
            missing = field.goal - path.reached[n]
            value = path.end[n] + path.paid[n] + (field.price * missing if missing > 0 else 0.0)
            if value < upper and not (missing > 0 and field.hard):
                upper = float(value)
                cut = cut_below(upper, tolerance)
                most = _most(field, cut)
                for q in range(n):
                    place[q] = path.taken[q]
        k -= 1
        if k >= 0:
            _add(levels, path, k, path.taken[k], -1.0)
    if k < 0:
        return upper, cut, nodes
    low = float(path.bound[k] + levels.tail[k])
    for q in range(k):
        if path.upcoming[q] < m:
            left = levels.reduced[q, path.upcoming[q]] + levels.tail[q + 1]
            low = min(low, float(path.bound[q] + left))
    return upper, min(cut, low + _offset(field, cut)) if upper < np.inf else -np.inf, nodes
