"""Exact matching of small rounds: branch and bound under a Lagrangian bound.

The problem is that of :mod:`.local_search`. If the number of tasks on a cluster is free and z = 1,
weights lam on the simplex and 0 <= mu <= P give the bound

    q = sum_j min_i (lam_i t_ji - mu a_ji) + mu G  <=  F,

which separates by tasks. The branching fixes tasks one by one, the most demanding first, and leaves
a branch when q over the remaining tasks reaches the best known placement. With z_i(n) every vector
of counts n is a problem of this kind in times z_i(n_i) t_ji, with a multiplier nu_i of any sign for
each count: q then has - nu_i in the minimum and + sum_i nu_i n_i.

Exchanging equal tasks changes nothing. So equal tasks on successive levels take positions in
ascending order; n equal tasks then have multisets of clusters, not m^n placements.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from walras.kernels.parallel import inner
from walras.kernels.room import filled_floats, filled_ints, float_table, floats, int_table, ints
from walras.types import Floats, Ints

_ROUNDING = 1e-12


class Tree(NamedTuple):
    """Scratch space of one branching.

    Attributes:
        times: (tasks, clusters) times in the order of branching, the cheapest cluster first.
        success: (tasks, clusters) chances in that order.
        reduced: (tasks, clusters) reduced costs in that order, rising along a row.
        cluster: (tasks, clusters) the cluster at each position.
        order: (tasks,) the task of each level.
        twin: (tasks + 1,) 1 if the tasks of a level and of the level before are equal, else 0.
        tail: (tasks + 1,) sum of least reduced costs from a level on.
        hope: (tasks + 1,) sum of highest chances from a level on.
        place: (tasks,) present position of each level in its row.
        upcoming: (tasks + 1,) next position to try.
        bound: (tasks + 1,) the fixed part of q.
        reached: (tasks + 1,) success so far.
        load: (clusters,) time so far.
        count: (clusters,) tasks so far.
        lam: (clusters,) best weights found.
        nu: (clusters,) best multipliers of the counts.
        cap: (clusters,) largest number of tasks on a cluster.
    """

    times: Floats
    success: Floats
    reduced: Floats
    cluster: Ints
    order: Ints
    twin: Ints
    tail: Floats
    hope: Floats
    place: Ints
    upcoming: Ints
    bound: Floats
    reached: Floats
    load: Floats
    count: Ints  # type: ignore[assignment]  # a number of tasks, not tuple.count
    lam: Floats
    nu: Floats
    cap: Ints


@inner
def make_tree(n: int, m: int) -> Tree:
    """Scratch space for n tasks on m clusters."""
    return Tree(
        float_table(n, m),
        float_table(n, m),
        float_table(n, m),
        int_table(n, m),
        ints(n),
        filled_ints(n + 1, 0),
        floats(n + 1),
        floats(n + 1),
        ints(n),
        ints(n + 1),
        floats(n + 1),
        floats(n + 1),
        floats(m),
        ints(m),
        floats(m),
        floats(m),
        ints(m),
    )


@inner
def _weights(potential: Floats, lam: Floats) -> None:
    """Compute lam = softmax(potential)."""
    total, top = 0.0, potential[0]
    for i in range(1, len(lam)):
        top = max(top, potential[i])
    for i in range(len(lam)):
        lam[i] = np.exp(potential[i] - top)
        total += lam[i]
    for i in range(len(lam)):
        lam[i] /= total


@inner
def ascend(
    t: Floats,
    a: Floats,
    cap: Ints,
    counted: bool,
    goal: float,
    price: float,
    scale: float,
    steps: int,
    cut: float,
    tree: Tree,
) -> tuple[float, float]:
    """Subgradient ascent of q, multiplicative in lam; returns the best q and its mu.

    It stops when q reaches ``cut``. The best lam and nu are left in the tree.
    """
    n, m = t.shape
    potential, lam, nu = filled_floats(m, 0.0), floats(m), filled_floats(m, 0.0)
    load, used = tree.load, tree.count
    mu, best, best_mu = 0.0, -np.inf, 0.0
    for step in range(steps):
        _weights(potential, lam)
        value, reached = mu * goal, 0.0
        for i in range(m):
            load[i], used[i] = 0.0, 0
            value += nu[i] * cap[i] if counted else 0.0
        for j in range(n):
            least, arg = np.inf, 0
            for i in range(m):
                cost = lam[i] * t[j, i] - mu * a[j, i] - nu[i]
                if cost < least:
                    least, arg = cost, i
            value += least
            load[arg] += t[j, arg]
            used[arg] += 1
            reached += a[j, arg]
        if value > best:
            best, best_mu = value, mu
            for i in range(m):
                tree.lam[i], tree.nu[i] = lam[i], nu[i]
        if value >= cut:
            break
        rate = 0.7 / (1.0 + 0.08 * step)
        for i in range(m):
            potential[i] += rate * min(load[i] / scale, 20.0)
            if counted:
                nu[i] += rate * scale / n * (cap[i] - used[i])
        mu = min(max(mu + rate * scale * (goal - reached), 0.0), price)
    return best, best_mu


@inner
def _by_demand(t: Floats, tree: Tree) -> None:
    """Set ``order`` to the tasks by decreasing weighted time; ``tail`` is scratch."""
    n, m = t.shape
    for j in range(n):
        demand = 0.0
        for i in range(m):
            demand += tree.lam[i] * t[j, i]
        k = j
        while k > 0 and tree.tail[k - 1] < demand:
            tree.tail[k], tree.order[k] = tree.tail[k - 1], tree.order[k - 1]
            k -= 1
        tree.tail[k], tree.order[k] = demand, j


@inner
def arrange(t: Floats, a: Floats, mu: float, tree: Tree) -> None:
    """Order the tasks by their weighted time, and each task's clusters by reduced cost."""
    n, m = t.shape
    _by_demand(t, tree)
    tree.tail[n], tree.hope[n] = 0.0, 0.0
    for k in range(n - 1, -1, -1):
        j = tree.order[k]
        high = 0.0
        for i in range(m):
            cost = tree.lam[i] * t[j, i] - mu * a[j, i] - tree.nu[i]
            high = max(high, a[j, i])
            q = i
            while q > 0 and tree.reduced[k, q - 1] > cost:
                tree.reduced[k, q] = tree.reduced[k, q - 1]
                tree.cluster[k, q] = tree.cluster[k, q - 1]
                q -= 1
            tree.reduced[k, q], tree.cluster[k, q] = cost, i
        for q in range(m):
            tree.times[k, q] = t[j, tree.cluster[k, q]]
            tree.success[k, q] = a[j, tree.cluster[k, q]]
        tree.tail[k] = tree.tail[k + 1] + tree.reduced[k, 0]
        tree.hope[k] = tree.hope[k + 1] + high
    for k in range(1, n):
        tree.twin[k] = 1
        for i in range(m):
            if t[tree.order[k], i] != t[tree.order[k - 1], i]:
                tree.twin[k] = 0
            if a[tree.order[k], i] != a[tree.order[k - 1], i]:
                tree.twin[k] = 0


@inner
def _largest(values: Floats) -> float:
    found: float = values[0]
    for i in range(1, len(values)):
        found = max(found, values[i])
    return found


@inner
def cut_below(upper: float, tolerance: float) -> float:
    """The bound at which a branch contains nothing better, up to rounding."""
    return upper - abs(upper) * (tolerance + _ROUNDING)


@inner
def _descend(
    tree: Tree, k: int, cap: Ints, goal: float, price: float, cut: float
) -> tuple[bool, float]:
    """Take the next promising cluster of level k; return whether there is one, and its bound."""
    m = tree.times.shape[1]
    while tree.upcoming[k] < m:
        q = tree.upcoming[k]
        low = tree.bound[k] + tree.reduced[k, q] + tree.tail[k + 1]
        if low >= cut:
            break
        tree.upcoming[k] += 1
        i = tree.cluster[k, q]
        if tree.count[i] >= cap[i]:
            continue
        load = tree.load[i] + tree.times[k, q]
        reached = tree.reached[k] + tree.success[k, q]
        missing = goal - reached - tree.hope[k + 1]
        if load + (price * missing if missing > 0 else 0.0) >= cut:
            continue
        tree.place[k] = q
        tree.load[i] = load
        tree.count[i] += 1
        tree.bound[k + 1] = tree.bound[k] + tree.reduced[k, q]
        tree.reached[k + 1] = reached
        tree.upcoming[k + 1] = q * tree.twin[k + 1]
        return True, low
    return False, np.inf


@inner
def _retreat(tree: Tree, k: int) -> None:
    q = tree.place[k]
    i = tree.cluster[k, q]
    tree.load[i] -= tree.times[k, q]
    tree.count[i] -= 1


@inner
def _open_bound(tree: Tree, k: int, low: float) -> float:
    """The least bound of the unvisited branches when the search stops on level k."""
    m = tree.times.shape[1]
    for q in range(k + 1):
        if tree.upcoming[q] < m:
            following = tree.reduced[q, tree.upcoming[q]]
            low = min(low, tree.bound[q] + following + tree.tail[q + 1])
    return low


@inner
def branch(
    tree: Tree,
    cap: Ints,
    goal: float,
    price: float,
    offset: float,
    tolerance: float,
    limit: int,
    upper: float,
    best: Ints,
) -> tuple[float, float, int]:
    """Depth-first search below ``upper``; improves ``best`` in place.

    Returns F of the best placement, a lower bound on all placements with these counts, and the
    number of visited nodes.
    """
    n = len(tree.order)
    for i in range(len(tree.load)):
        tree.load[i], tree.count[i] = 0.0, 0
    tree.bound[0], tree.reached[0], tree.upcoming[0] = offset, 0.0, 0
    cut = cut_below(upper, tolerance)
    k, nodes = min(n, 0), 0  # a plain 0 has its own type in numba
    while k >= 0:
        if k == n:
            missing = goal - tree.reached[n]
            value = price * missing if missing > 0 else 0.0
            value += _largest(tree.load)
            if value < upper:
                upper = value
                cut = cut_below(upper, tolerance)
                for q in range(n):
                    best[tree.order[q]] = tree.cluster[q, tree.place[q]]
        else:
            entered, low = _descend(tree, k, cap, goal, price, cut)
            if entered:
                nodes += 1
                if nodes > limit:
                    return upper, min(cut, _open_bound(tree, k, low)), nodes
                k += 1
                continue
        k -= 1
        if k >= 0:
            _retreat(tree, k)
    return upper, cut, nodes
