"""Exact solutions of matching rounds, one by one or many in parallel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from walras.kernels.matching.exact import Tree, arrange, ascend, branch, cut_below, make_tree
from walras.kernels.matching.local_search import cost_of, improve, tally
from walras.kernels.parallel import copy, inner, jit, map_runs
from walras.kernels.room import filled_ints, float_table, floats, ints
from walras.types import Floats, Ints, Longs

HARD = 1e300  # price of a hard floor; an infinite one would turn 0 * P into NaN

_ASCENT = 250  # steps of the dual ascent when there are many placements
_SHORT_ASCENT = 10
_COUNTS_ASCENT = 80  # steps for each vector of counts; most are cut off sooner
_FEW = 4000.0  # number of placements below which they are enumerated after a short ascent
_SOFT = 25.0  # price of missing mean success in a local search under a hard floor, in even loads


@inner
def _even_load(t: Floats) -> float:
    """The load of each cluster if all tasks took their quickest time and were spread evenly."""
    total = 0.0
    for j in range(t.shape[0]):
        least = t[j, 0]
        for i in range(1, t.shape[1]):
            least = min(least, t[j, i])
        total += least
    return float(max(total / t.shape[1], 1e-300))


@inner
def _start(
    t: Floats,
    a: Floats,
    zeta: Floats,
    goal: float,
    price: float,
    scale: float,
    mu: float,
    kinds: int,
    best: Ints,
    tree: Tree,
) -> float:
    """A good placement by local search from the priced, the quickest and the safest clusters.

    Returns its F. If no search meets a hard floor, it is the safest placement.
    """
    n, m = t.shape
    trial, value = ints(n), np.inf
    total, count = floats(m), ints(m)
    soft = min(price, max(_SOFT * scale / n, 2.0 * mu))
    for kind in range(kinds + 1):
        for j in range(n):
            least = np.inf
            for i in range(m):
                cost = tree.lam[i] * t[j, i] - mu * a[j, i]
                cost = t[j, i] if kind == 1 else -a[j, i] if kind == 2 else cost
                if cost < least:
                    least, trial[j] = cost, i
        improve(t, a, zeta, goal, soft, trial, 20 * n)
        reached = tally(t, a, trial, total, count)
        found = cost_of(zeta, total, count, reached, goal, price)
        if found < value:
            value = found
            copy(trial, best)
        if kind + 1 >= kinds and value < HARD * 1e-20:
            break
    if value >= HARD * 1e-20:
        for j in range(n):
            best[j] = 0
            for i in range(1, m):
                if a[j, i] > a[j, best[j]]:
                    best[j] = i
        value = cost_of(zeta, total, count, tally(t, a, best, total, count), goal, price)
    return value


@inner
def _solve_apart(
    t: Floats,
    a: Floats,
    zeta: Floats,
    goal: float,
    price: float,
    tolerance: float,
    limit: int,
    best: Ints,
    tree: Tree,
) -> tuple[float, float, int]:
    """Solve a round of sequential tasks: F, its bound and the number of visited nodes."""
    n, m = t.shape
    few = float(m) ** n <= _FEW
    cap = tree.cap
    for i in range(m):
        cap[i] = n
    scale = _even_load(t)
    steps = _SHORT_ASCENT if few else _ASCENT
    low, mu = ascend(t, a, cap, False, goal, price, scale, steps, np.inf, tree)
    upper = _start(t, a, zeta, goal, price, scale, mu, 1 if few else 3, best, tree)
    cut = cut_below(upper, tolerance)
    if low >= cut:
        return upper, cut, 0
    arrange(t, a, mu, tree)
    found, bound, nodes = branch(tree, cap, goal, price, mu * goal, tolerance, limit, upper, best)
    return found, bound, nodes


@jit
def most_tasks(t: Floats, zeta: Floats, cut: float) -> Ints:
    """(clusters,) largest number of tasks that can run together within makespan ``cut``."""
    n, m = t.shape
    most: Ints = filled_ints(m, 0)
    for i in range(m):
        shortest, total = np.sort(t[:, i]), 0.0
        for k in range(n):
            total += shortest[k]
            if zeta[i, k + 1] * total < cut:
                most[i] = k + 1
    return most


@inner
def _scale(t: Floats, zeta: Floats, counts: Ints, scaled: Floats) -> None:
    """Times with the given numbers of tasks together."""
    for j in range(t.shape[0]):
        for i in range(t.shape[1]):
            scaled[j, i] = zeta[i, counts[i]] * t[j, i]


@inner
def _next_counts(counts: Ints, least: Ints, most: Ints) -> bool:
    """Step to the next vector of counts in the box with the same sum; False after the last."""
    m = len(counts)
    for i in range(m - 2, -1, -1):
        counts[i] += 1
        if counts[i] > most[i]:
            counts[i] = least[i]
            continue
        return True
    return False


@inner
def _solve_together(
    t: Floats,
    a: Floats,
    zeta: Floats,
    goal: float,
    price: float,
    tolerance: float,
    limit: int,
    best: Ints,
    tree: Tree,
) -> tuple[float, float, int]:
    """Solve a round with tasks together: try every vector of counts that may be better.

    If stopped at ``limit``, it has no bound.
    """
    n, m = t.shape
    scaled, scale = float_table(n, m), _even_load(t)
    counts, even = tree.cap, min(n, n // m + 1)
    for i in range(m):
        counts[i] = even
    _scale(t, zeta, counts, scaled)
    for i in range(m):
        counts[i] = n
    _, mu = ascend(scaled, a, counts, False, goal, price, scale, _ASCENT // 4, np.inf, tree)
    upper = _start(t, a, zeta, goal, price, scale, mu, 3, best, tree)
    most = most_tasks(t, zeta, upper * (1.0 + 1e-9))
    least = ints(m)
    all_most = 0
    for i in range(m):
        all_most += most[i]
    for i in range(m):
        least[i] = max(0, n - (all_most - most[i]))
        counts[i] = least[i]
    nodes, more = 0, True
    while more:
        last = n
        for i in range(m - 1):
            last -= counts[i]
        if least[m - 1] <= last <= most[m - 1]:
            counts[m - 1] = last
            _scale(t, zeta, counts, scaled)
            upper, spent = _solve_counts(
                scaled, a, counts, goal, price, tolerance, limit - nodes, scale, upper, best, tree
            )
            nodes += spent
        nodes += 1
        if nodes > limit:
            return upper, -np.inf, nodes
        more = _next_counts(counts, least, most)
    return upper, cut_below(upper, tolerance), nodes


@inner
def _solve_counts(
    t: Floats,
    a: Floats,
    counts: Ints,
    goal: float,
    price: float,
    tolerance: float,
    limit: int,
    scale: float,
    upper: float,
    best: Ints,
    tree: Tree,
) -> tuple[float, int]:
    """Search placements with these counts; return the best F known and the visited nodes."""
    cut = cut_below(upper, tolerance)
    low, mu = ascend(t, a, counts, True, goal, price, scale, _COUNTS_ASCENT, cut, tree)
    if low >= cut:
        return upper, 0
    arrange(t, a, mu, tree)
    offset = mu * goal
    for i in range(len(counts)):
        offset += tree.nu[i] * counts[i]
    upper, _, nodes = branch(tree, counts, goal, price, offset, tolerance, limit, upper, best)
    return upper, nodes


# One function for each kind of round, so that only the needed kind is compiled.


@jit
def _run_apart(
    first: int,
    last: int,
    t: Floats,
    a: Floats,
    zeta: Floats,
    goal: Floats,
    price: Floats,
    tolerance: float,
    limit: int,
    x: Ints,
    value: Floats,
    bound: Floats,
    nodes: Longs,
) -> None:
    tree = make_tree(t.shape[1], t.shape[2])
    for b in range(first, last):
        value[b], bound[b], nodes[b] = _solve_apart(
            t[b], a[b], zeta, goal[b], price[b], tolerance, limit, x[b], tree
        )


@jit
def _run_together(
    first: int,
    last: int,
    t: Floats,
    a: Floats,
    zeta: Floats,
    goal: Floats,
    price: Floats,
    tolerance: float,
    limit: int,
    x: Ints,
    value: Floats,
    bound: Floats,
    nodes: Longs,
) -> None:
    tree = make_tree(t.shape[1], t.shape[2])
    for b in range(first, last):
        value[b], bound[b], nodes[b] = _solve_together(
            t[b], a[b], zeta, goal[b], price[b], tolerance, limit, x[b], tree
        )


@dataclass(frozen=True, eq=False)
class Solved:
    """Rounds solved by branch and bound.

    Attributes:
        x: (rounds, tasks) cluster of each task.
        value: (rounds,) F.
        bound: (rounds,) lower bound on F.
        nodes: (rounds,) number of visited nodes.
    """

    x: Ints
    value: Floats
    bound: Floats
    nodes: Longs


def solve_rounds(
    t: Floats,
    a: Floats,
    zeta: Floats,
    goal: Floats,
    price: Floats,
    tolerance: float,
    limit: int,
    threads: int = 1,
) -> Solved:
    """Solve many rounds exactly, each on one thread; the answer does not depend on the threads.

    Args:
        t: (rounds, tasks, clusters) times.
        a: (rounds, tasks, clusters) chances of success.
        zeta: (clusters, tasks + 1) factor on the time of tasks that run together, by their number.
        goal: (rounds,) total wanted success.
        price: (rounds,) price of a unit of missing success; ``HARD`` for a hard floor.
        tolerance: Relative gap at which a branch is left.
        limit: Largest number of nodes in a round.
        threads: Threads.
    """
    rounds, n = t.shape[:2]
    x = np.zeros((rounds, n), dtype=np.int32)
    value, bound = np.empty(rounds), np.empty(rounds)
    nodes = np.empty(rounds, dtype=np.int64)
    run = _run_together if np.any(zeta[:, 1:] != 1.0) else _run_apart
    given: Any = (t, a, zeta, goal, price, tolerance, limit, x, value, bound, nodes)
    map_runs(threads, lambda first, last: run(first, last, *given), np.arange(rounds + 1))
    return Solved(x, value, bound, nodes)


@jit
def _improve_run(
    first: int,
    last: int,
    t: Floats,
    a: Floats,
    zeta: Floats,
    goal: Floats,
    price: Floats,
    x: Ints,
) -> None:
    n = t.shape[1]
    for b in range(first, last):
        # Directly, and through placements that miss a little of the floor; the better one is kept.
        around = ints(n)
        copy(x[b], around)
        soft = min(price[b], _SOFT * _even_load(t[b]) / n)
        improve(t[b], a[b], zeta, goal[b], soft, around, 20 * n)
        other = improve(t[b], a[b], zeta, goal[b], price[b], around, 20 * n)
        if other < improve(t[b], a[b], zeta, goal[b], price[b], x[b], 20 * n):
            copy(around, x[b])


def improve_rounds(
    t: Floats, a: Floats, zeta: Floats, goal: Floats, price: Floats, x: Ints, threads: int = 1
) -> None:
    """Improve given placements of many rounds by local search, in place; none gets worse.

    Args:
        t: As in :func:`solve_rounds`, and so the next four.
        a: See there.
        zeta: See there.
        goal: See there.
        price: See there.
        x: (rounds, tasks) cluster of each task.
        threads: Threads.
    """
    map_runs(
        threads,
        lambda first, last: _improve_run(first, last, t, a, zeta, goal, price, x),
        np.arange(len(t) + 1),
    )
