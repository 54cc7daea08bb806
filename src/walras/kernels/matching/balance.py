"""Balance a large matching: bring every cluster under a limit, and the success up to its goal.

A placement near the optimum of the linear relaxation is nearly feasible: some clusters are over the
limit tau, and some success is missing. Moves and swaps lower

    sum_i max(0, z_i(n_i) sum_{j on i} t_ji - tau)  +  P max(0, G - sum_j a_{j, x_j}),

where each task tries only the few clusters of least reduced cost, and the tasks there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from walras.kernels.matching.local_search import tally
from walras.kernels.parallel import inner, jit
from walras.kernels.room import filled_ints, floats, ints
from walras.types import Floats, Ints

_LEAST = 1e-12  # least gain of a change, as a share of tau


class Lists(NamedTuple):
    """The tasks of each cluster as doubly linked lists; -1 marks their ends.

    Attributes:
        first: (clusters,) first task.
        following: (tasks,) next task.
        before: (tasks,) task before.
    """

    first: Ints
    following: Ints
    before: Ints


@inner
def enter(lists: Lists, j: int, i: int) -> None:
    """Put a task first in a cluster's list."""
    head = lists.first[i]
    lists.following[j], lists.before[j] = head, -1
    if head >= 0:
        lists.before[head] = j
    lists.first[i] = j


@inner
def leave(lists: Lists, j: int, i: int) -> None:
    """Take a task out of a cluster's list."""
    before, following = lists.before[j], lists.following[j]
    if before >= 0:
        lists.following[before] = following
    else:
        lists.first[i] = following
    if following >= 0:
        lists.before[following] = before


@inner
def listed(x: Ints, clusters: int) -> Lists:
    """The lists of a placement."""
    n = len(x)
    lists = Lists(filled_ints(clusters, -1), ints(n), ints(n))
    for j in range(n):
        enter(lists, j, x[j])
    return lists


@inner
def over(value: float, tau: float) -> float:
    """How far a value is over a limit."""
    return value - tau if value > tau else 0.0


@inner
def _best_change(
    j: int,
    t: Floats,
    a: Floats,
    zeta: Floats,
    missing: float,
    price: float,
    x: Ints,
    near: Ints,
    tau: float,
    total: Floats,
    count: Ints,
    lists: Lists,
) -> tuple[float, int, int]:
    """The best change of task j: its gain, its cluster, and the task to swap with (-1: a move)."""
    o = x[j]
    best, place, partner = _LEAST * tau, -1, -1
    own = over(zeta[o, count[o]] * total[o], tau)
    lacking = price * missing if missing > 0 else 0.0
    left = over(zeta[o, count[o] - 1] * (total[o] - t[j, o]), tau)
    for q in range(near.shape[1]):
        i = near[j, q]
        if i == o:
            continue
        before = own + over(zeta[i, count[i]] * total[i], tau) + lacking
        short = missing - a[j, i] + a[j, o]
        gain = before - left - over(zeta[i, count[i] + 1] * (total[i] + t[j, i]), tau)
        gain -= price * short if short > 0 else 0.0
        if gain > best:
            best, place, partner = gain, i, -1
        k = lists.first[i]
        while k >= 0:
            here = zeta[o, count[o]] * (total[o] - t[j, o] + t[k, o])
            there = zeta[i, count[i]] * (total[i] - t[k, i] + t[j, i])
            gain = before - over(here, tau) - over(there, tau)
            lost = short - a[k, o] + a[k, i]
            gain -= price * lost if lost > 0 else 0.0
            if gain > best:
                best, place, partner = gain, i, k
            k = lists.following[k]
    return best, place, partner


@inner
def _move(j: int, i: int, t: Floats, x: Ints, total: Floats, count: Ints, lists: Lists) -> None:
    o = x[j]
    total[o] -= t[j, o]
    total[i] += t[j, i]
    count[o] -= 1
    count[i] += 1
    leave(lists, j, o)
    enter(lists, j, i)
    x[j] = i


@inner
def _remaining(
    zeta: Floats, total: Floats, count: Ints, tau: float, missing: float, price: float
) -> float:
    value = price * missing if missing > 0 else 0.0
    for i in range(len(total)):
        value += over(zeta[i, count[i]] * total[i], tau)
    return value


@jit
def balance(
    t: Floats,
    a: Floats,
    zeta: Floats,
    goal: float,
    price: float,
    x: Ints,
    near: Ints,
    tau: float,
    sweeps: int,
) -> float:
    """Reduce overload and missing success in place, until none is left or nothing helps.

    Args:
        t: (tasks, clusters) times.
        a: (tasks, clusters) chances of success.
        zeta: (clusters, tasks + 1) factor on the time of tasks that run together, by their number.
        goal: G, total wanted success.
        price: P, price of a unit of missing success.
        x: (tasks,) cluster of each task.
        near: (tasks, k) clusters that a task tries.
        tau: Limit of every cluster's load.
        sweeps: Largest number of sweeps over the tasks.

    Returns:
        The remaining sum: 0 if every load is within ``tau`` and no success is missing.
    """
    n, m = t.shape
    total, count = floats(m), ints(m)
    lists = listed(x, m)
    missing = goal - tally(t, a, x, total, count)
    for _ in range(sweeps):
        changed = False
        for j in range(n):
            o = x[j]
            if missing <= 0 and zeta[o, count[o]] * total[o] <= tau:
                continue
            _, i, k = _best_change(j, t, a, zeta, missing, price, x, near, tau, total, count, lists)
            if i < 0:
                continue
            changed = True
            missing += a[j, o] - a[j, i]
            _move(j, i, t, x, total, count, lists)
            if k >= 0:
                missing += a[k, i] - a[k, o]
                _move(k, o, t, x, total, count, lists)
        # sum again, so that rounding does not pile up
        missing = goal - tally(t, a, x, total, count)
        if not changed or _remaining(zeta, total, count, tau, missing, price) <= 0:
            break
    left: float = _remaining(zeta, total, count, tau, missing, price)
    return left


@jit
def anneal(
    t: Floats,
    a: Floats,
    zeta: Floats,
    goal: float,
    price: float,
    x: Ints,
    near: Ints,
    excess: Floats,
    tau: float,
    hot: float,
    proposals: int,
    seed: int,
) -> float:
    """Simulated annealing of the same sum, plus the excess reduced cost of the placement.

    The excess penalises changes that waste the slack under ``tau``: the loads, weighted by the
    relaxation's prices, rise by exactly this amount.

    Args:
        t: As in :func:`balance`, and so the next six.
        a: See there.
        zeta: See there.
        goal: See there.
        price: See there.
        x: See there.
        near: See there.
        excess: (tasks, clusters) reduced cost over the task's least.
        tau: Limit of every cluster's load.
        hot: First temperature; the last is a thousandth of it.
        proposals: Number of changes to try.
        seed: Seed of the choices.

    Returns:
        The remaining sum, as for :func:`balance`.
    """
    n, m = t.shape
    total, count = floats(m), ints(m)
    lists = listed(x, m)
    missing = goal - tally(t, a, x, total, count)
    state, heat = (seed * 2654435761 + 12345) % 2147483648, hot
    cool = 1e-3 ** (1.0 / max(1, proposals))
    for _ in range(proposals):
        heat *= cool
        state = advance(state)
        j = (state >> 8) % n
        state = advance(state)
        i = near[j, (state >> 8) % near.shape[1]]
        o = x[j]
        if i == o:
            continue
        state = advance(state)
        k = partner(lists, i, (state >> 12) % 8) if (state >> 8) % 4 else -1
        cost, missed = _cost_of_change(
            j, i, k, t, a, zeta, missing, price, x, excess, tau, total, count
        )
        state = advance(state)
        if cost > 0 and (state >> 8) / 8388608.0 >= np.exp(-cost / heat):
            continue
        missing = missed
        _move(j, i, t, x, total, count, lists)
        if k >= 0:
            _move(k, o, t, x, total, count, lists)
    missing = goal - tally(t, a, x, total, count)
    left: float = _remaining(zeta, total, count, tau, missing, price)
    return left


@inner
def advance(state: int) -> int:
    """A linear congruential generator modulo 2^31; its high bits are random enough."""
    return (state * 1103515245 + 12345) % 2147483648


@inner
def _cost_of_change(
    j: int,
    i: int,
    k: int,
    t: Floats,
    a: Floats,
    zeta: Floats,
    missing: float,
    price: float,
    x: Ints,
    excess: Floats,
    tau: float,
    total: Floats,
    count: Ints,
) -> tuple[float, float]:
    """The change of the sum when j moves to i (and k from i to j's cluster); what is missing."""
    o = x[j]
    missed = missing - a[j, i] + a[j, o]
    cost = excess[j, i] - excess[j, o]
    here, there, moved = total[o] - t[j, o], total[i] + t[j, i], 1
    if k >= 0:
        here, there, moved = here + t[k, o], there - t[k, i], 0
        missed += a[k, i] - a[k, o]
        cost += excess[k, o] - excess[k, i]
    cost += over(zeta[o, count[o] - moved] * here, tau) - over(zeta[o, count[o]] * total[o], tau)
    cost += over(zeta[i, count[i] + moved] * there, tau) - over(zeta[i, count[i]] * total[i], tau)
    cost += price * ((missed if missed > 0 else 0.0) - (missing if missing > 0 else 0.0))
    return cost, missed


@inner
def partner(lists: Lists, i: int, walk: int) -> int:
    """The first task of a cluster, -1 if there is none; the task moves down its list."""
    k: int = lists.first[i]
    if k >= 0 and lists.following[k] >= 0:
        leave(lists, k, i)
        last = lists.first[i]
        while walk > 0 and lists.following[last] >= 0:
            last = lists.following[last]
            walk -= 1
        _insert_after(lists, last, k)
    return k


@inner
def _insert_after(lists: Lists, k: int, j: int) -> None:
    following = lists.following[k]
    lists.following[j], lists.before[j] = following, k
    if following >= 0:
        lists.before[following] = j
    lists.following[k] = j
