"""Place tasks on clusters with a limited number of slots, by augmenting or cheapest paths.

A placement is a flow from tasks to clusters, and from clusters to groups (providers) with a limited
number of tasks. A task enters a full cluster by moving a task there to another cluster, and so on
along a path of clusters. There are few clusters, so the search is over clusters. For tasks of one
size both kernels are exact (maximum flow; successive shortest paths: Ahuja, Magnanti, Orlin, 1993).
"""

from __future__ import annotations

import numpy as np

from walras.kernels.parallel import copy, inner, jit_in_order
from walras.types import Bools, Floats, Longs

_NEVER = 2**62
# failed path searches, with tasks of different sizes, after which only direct places are tried
_PATIENCE = 256


@inner
def _link(j: int, i: int, head: Longs, after: Longs, before: Longs) -> None:
    """Put a task at the head of the list of a cluster's tasks."""
    after[j], before[j] = head[i], -1
    if head[i] >= 0:
        before[head[i]] = j
    head[i] = j


@inner
def _unlink(j: int, i: int, head: Longs, after: Longs, before: Longs) -> None:
    if before[j] >= 0:
        after[before[j]] = after[j]
    else:
        head[i] = after[j]
    if after[j] >= 0:
        before[after[j]] = before[j]


@inner
def _move(
    j: int,
    i: int,
    x: Longs,
    size: Longs,
    fill: Longs,
    group: Longs,
    count: Longs,
    head: Longs,
    after: Longs,
    before: Longs,
) -> None:
    """Move a task to a cluster, from its present cluster if it has one."""
    was = x[j]
    if was >= 0:
        _unlink(j, was, head, after, before)
        fill[was] -= size[j]
        if group[was] >= 0:
            count[group[was]] -= 1
    _link(j, i, head, after, before)
    fill[i] += size[j]
    if group[i] >= 0:
        count[group[i]] += 1
    x[j] = i


@inner
def _direct(
    line: Floats,
    limit: float,
    need: int,
    room: Longs,
    fill: Longs,
    group: Longs,
    cap: Longs,
    count: Longs,
) -> int:
    """The quickest cluster with room for a task; among equal ones the one with most room."""
    best = -1
    for i in range(len(room)):
        free = room[i] - fill[i]
        if line[i] > limit or free < need:
            continue
        if group[i] >= 0 and count[group[i]] >= cap[group[i]]:
            continue
        quicker = best < 0 or line[i] < line[best]
        if quicker or (line[i] == line[best] and free > room[best] - fill[best]):
            best = i
    return best


@inner
def _keep(
    table: Floats,
    row: Longs,
    limit: float,
    size: Longs,
    x: Longs,
    fill: Longs,
    group: Longs,
    count: Longs,
    head: Longs,
    after: Longs,
    before: Longs,
) -> int:
    """Keep the given places that may be used; return their number."""
    kept = 0
    for j in range(len(row)):
        i, x[j] = x[j], -1
        if i >= 0 and table[row[j], i] <= limit:
            _move(j, i, x, size, fill, group, count, head, after, before)
            kept += 1
    return kept


@jit_in_order
def insert(
    table: Floats,
    row: Longs,
    limit: float,
    size: Longs,
    room: Longs,
    group: Longs,
    cap: Longs,
    order: Longs,
    strict: bool,
    x: Longs,
) -> int:
    """Place tasks one after the other; a placed task may move, but is never dropped.

    Args:
        table: (rows, M) seconds; a pair above ``limit`` may not be used.
        row: (n,) the task's row in the table.
        limit: Largest entry that may be used.
        size: (n,) slots of each task.
        room: (M,) slots of each cluster.
        group: (M,) group of each cluster, or -1.
        cap: (groups,) tasks that a group may hold.
        order: Tasks, in the order of placement.
        strict: Whether to stop at the first task without a place.
        x: (n,) cluster of each task, or -1; changed in place. Given places are kept if they may be
            used; they must fit.

    Returns:
        Tasks that were placed.
    """
    n, m = len(row), len(room)
    fill, head = np.zeros(m, np.int64), np.full(m, -1, np.int64)
    after, before = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    count = np.zeros(len(cap), np.int64)
    parent, carried = np.zeros(m, np.int64), np.zeros(m, np.int64)
    seen, dead = np.zeros(m, np.bool_), np.zeros(m, np.bool_)
    seen_group, queue = np.zeros(len(cap), np.bool_), np.zeros(m, np.int64)
    lost = np.full(len(table), _NEVER)  # least size of a row that found no place
    placed = int(_keep(table, row, limit, size, x, fill, group, count, head, after, before))
    same, failed, left = bool(np.all(size == size[0])) if n else True, 0, room.sum() - fill.sum()
    for j in order:
        if left <= 0:
            break
        if x[j] >= 0:
            continue
        i = _direct(table[row[j]], limit, size[j], room, fill, group, cap, count)
        if i >= 0:
            _move(j, i, x, size, fill, group, count, head, after, before)
            placed += 1
            left -= size[j]
            continue
        if size[j] >= lost[row[j]] or (failed > _PATIENCE and not same):
            continue
        seen[:], seen_group[:] = dead, False
        i = _path(
            j,
            table,
            row,
            limit,
            size,
            room,
            fill,
            group,
            cap,
            count,
            head,
            after,
            seen,
            seen_group,
            queue,
            parent,
            carried,
        )
        if i < 0:
            if strict:
                return placed
            lost[row[j]], failed = size[j], failed + 1
            if same:
                copy(seen, dead)  # permanently full clusters: no path from here leads out
            continue
        while i >= 0:
            _move(carried[i], i, x, size, fill, group, count, head, after, before)
            i = parent[i]
        placed += 1
        left -= size[j]
    return placed


@inner
def _path(
    j: int,
    table: Floats,
    row: Longs,
    limit: float,
    size: Longs,
    room: Longs,
    fill: Longs,
    group: Longs,
    cap: Longs,
    count: Longs,
    head: Longs,
    after: Longs,
    seen: Bools,
    seen_group: Bools,
    queue: Longs,
    parent: Longs,
    carried: Longs,
) -> int:
    """The last cluster of a shortest path of moves that makes room for a task, or -1.

    Task ``carried[i]`` enters cluster i; a task that leaves for it enters ``parent[i]``.
    """
    m = len(room)
    first, last = 0, _enter(j, -1, table, row, limit, seen, queue, 0, parent, carried)
    while first < last:
        i = queue[first]
        first += 1
        need = size[carried[i]] - (room[i] - fill[i])
        g = group[i]
        if need <= 0 and (g < 0 or count[g] < cap[g]):
            return int(i)
        if need > 0:
            k = head[i]
            while k >= 0:
                if size[k] >= need:
                    last = _enter(k, i, table, row, limit, seen, queue, last, parent, carried)
                k = after[k]
        elif not seen_group[g]:
            seen_group[g] = True
            for other in range(m):
                if group[other] == g:
                    k = head[other]
                    while k >= 0:
                        last = _enter(k, i, table, row, limit, seen, queue, last, parent, carried)
                        k = after[k]
    return -1


@inner
def _enter(
    k: int,
    i: int,
    table: Floats,
    row: Longs,
    limit: float,
    seen: Bools,
    queue: Longs,
    last: int,
    parent: Longs,
    carried: Longs,
) -> int:
    """Append the clusters that a task may move to to the queue; return its new end."""
    line = table[row[k]]
    for other in range(len(seen)):
        if not seen[other] and line[other] <= limit:
            seen[other] = True
            parent[other], carried[other] = i, k
            queue[last] = other
            last += 1
    return last


@jit_in_order
def cheapest(cost: Floats, room: Longs, group: Longs, cap: Longs, x: Longs, price: Floats) -> int:
    """Place as many tasks of one slot each as possible, at the least total cost.

    Prices other than zeros may be given if there are no groups and as many tasks as places; good
    prices, from a similar problem, save time.

    Args:
        cost: (n, M); infinite where a pair may not be used.
        room: (M,) tasks that each cluster may hold.
        group: (M,) group of each cluster, or -1.
        cap: (groups,) tasks that a group may hold.
        x: (n,) cluster of each task, or -1; written.
        price: (M + groups,) first prices; receives the saving from one more place.

    Returns:
        Tasks that were placed.
    """
    n, m = cost.shape
    p = len(cap)
    size, fill, count = np.ones(n, np.int64), np.zeros(m, np.int64), np.zeros(p, np.int64)
    head = np.full(m, -1, np.int64)
    after, before = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    gain, who = np.full((m, m), np.inf), np.full((m, m), -1, np.int64)
    far, open_ = np.zeros(m + p), np.zeros(m + p, np.int64)
    parent, moved = np.zeros(m + p, np.int64), np.zeros((m + 1, 2), np.int64)
    x[:] = -1
    placed = 0
    for j in range(n):
        i = _wanted(cost[j], price, room, fill) if p == 0 else -1
        if i >= 0:
            _move(j, i, x, size, fill, group, count, head, after, before)
            _gained(i, j, cost, gain, who)
            placed += 1
    for j in range(n):
        if x[j] >= 0:
            continue
        end = _shortest(cost[j], gain, room, fill, group, cap, count, price, far, open_, parent)
        if end < 0:
            continue
        for v in range(m + p):
            if far[v] < far[end]:
                price[v] += far[end] - far[v]
        steps = _unwind(j, end, m, parent, who, moved)
        for q in range(steps):
            k, i, was = moved[q, 0], moved[q, 1], x[moved[q, 0]]
            _move(k, i, x, size, fill, group, count, head, after, before)
            _gained(i, k, cost, gain, who)
            if was >= 0:
                _lost(was, k, cost, head, after, gain, who)
        placed += 1
    return placed


@inner
def _wanted(line: Floats, price: Floats, room: Longs, fill: Longs) -> int:
    """The best cluster for a task at given prices, if one of the best has room; else -1."""
    best = np.inf
    for i in range(len(room)):
        best = min(best, line[i] + price[i])
    if best < np.inf:
        for i in range(len(room)):
            if line[i] + price[i] <= best and fill[i] < room[i]:
                return i
    return -1


@inner
def _shortest(
    line: Floats,
    gain: Floats,
    room: Longs,
    fill: Longs,
    group: Longs,
    cap: Longs,
    count: Longs,
    price: Floats,
    far: Floats,
    open_: Longs,
    parent: Longs,
) -> int:
    """Dijkstra's method from a task over clusters and groups; return the end of the path, or -1.

    ``far`` is the length of the path plus the price of its end, so all arcs are >= 0. The nodes
    without a final length are the first ones of ``open_``.
    """
    m, left = len(room), len(far)
    at, best = -1, np.inf
    for v in range(left):
        open_[v], parent[v] = v, -1
        far[v] = line[v] + price[v] if v < m else np.inf
        if far[v] < best:
            at, best = v, far[v]
    while at >= 0:
        v = open_[at]
        left -= 1
        open_[at] = open_[left]
        g = v - m if v >= m else group[v]
        if v >= m and count[g] < cap[g]:
            return int(v)
        spare = v < m and fill[v] < room[v]
        if spare and g < 0:
            return int(v)
        least, base = best, best - price[v]
        at, best = -1, np.inf
        for q in range(left):
            u = open_[q]
            length = np.inf
            if u < m and v < m:
                length = base + gain[v, u] + price[u]
            elif u >= m:
                if spare and g == u - m:
                    length = base + price[u]
            elif group[u] == g and fill[u] > 0:
                length = base + price[u]
            length = max(length, least)  # not shorter than here, except by rounding
            if length < far[u]:
                far[u], parent[u] = length, v
            if far[u] < best:
                at, best = q, far[u]
    return -1


@inner
def _unwind(j: int, end: int, m: int, parent: Longs, who: Longs, moved: Longs) -> int:
    """Write the moves of a path, the last one first; return their number."""
    steps, v = 0, end
    while True:
        before = parent[v]
        if v < m and before < m:  # a task enters cluster v
            moved[steps, 0] = j if before < 0 else who[before, v]
            moved[steps, 1] = v
            steps += 1
        if before < 0:
            return steps
        v = before


@inner
def _gained(i: int, k: int, cost: Floats, gain: Floats, who: Longs) -> None:
    """Update the cost of moving a task on after a task came to a cluster."""
    for other in range(len(gain)):
        extra = cost[k, other] - cost[k, i]
        if extra < gain[i, other] and other != i:
            gain[i, other], who[i, other] = extra, k


@inner
def _lost(
    i: int, k: int, cost: Floats, head: Longs, after: Longs, gain: Floats, who: Longs
) -> None:
    """Find the next cheapest move after a task left a cluster, wherever it was the cheapest."""
    for other in range(len(gain)):
        if who[i, other] != k:
            continue
        gain[i, other], who[i, other] = np.inf, -1
        q = head[i]
        while q >= 0:
            extra = cost[q, other] - cost[q, i]
            if extra < gain[i, other]:
                gain[i, other], who[i, other] = extra, q
            q = after[q]
