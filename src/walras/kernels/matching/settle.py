"""Place a large round near its prices: every cluster within what it can do, success at its goal.

Each task looks at its nearest clusters alone. A placement that is nearest by price has few defects:
clusters with more work than they can do by some deadline, and missing success. Changes lower

    sum_il weight_i max(0, W_il - C_il)  +  P max(0, G - sum_j a_j)  +  sum_j excess_j,

where W_il is the work due by deadline l on cluster i, C_il what it can do by then, and the last
deadline is the end that is aimed at. The excess is a reduced cost over the task's least one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from walras.kernels.matching.balance import Lists, advance, enter, leave, listed, over, partner
from walras.kernels.parallel import inner, jit
from walras.types import Floats, Ints, Longs

_LEAST = 1e-12  # of the sum, what a change must gain


class Pairs(NamedTuple):
    """Tasks with their nearest clusters, and what clusters can do.

    Attributes:
        cluster: (tasks, K) clusters that a task looks at.
        work: (tasks, K) slot-seconds there.
        chance: (tasks, K) chances of success there.
        excess: (tasks, K) reduced cost over the least; ``inf`` where the task may not go.
        paid: (tasks, K) what a move there costs.
        level: (tasks,) the task's deadline.
        room: (clusters, deadlines) slot-seconds that a cluster can do by each.
        weight: (clusters,) of a slot-second over that.
    """

    cluster: Ints
    work: Floats
    chance: Floats
    excess: Floats
    paid: Floats
    level: Longs
    room: Floats
    weight: Floats


class Sums(NamedTuple):
    """A placement: which of its clusters each task is on, and what that adds up to.

    Attributes:
        place: (tasks,) position of its cluster among those that it looks at.
        used: (clusters, deadlines) slot-seconds due by each.
        lists: The tasks of each cluster.
    """

    place: Ints
    used: Floats
    lists: Lists


@inner
def _sums(pairs: Pairs, place: Ints) -> tuple[Sums, float]:
    """The sums of a placement, and the success that it reaches."""
    n, m = len(place), len(pairs.room)
    x, used = np.empty(n, np.int32), np.zeros(pairs.room.shape)
    reached = 0.0
    for j in range(n):
        q = place[j]
        x[j] = pairs.cluster[j, q]
        reached += pairs.chance[j, q]
        for row in range(pairs.level[j], len(used[0])):
            used[x[j], row] += pairs.work[j, q]
    return Sums(place, used, listed(x, m)), reached


@inner
def _change_at(
    pairs: Pairs, used: Floats, i: int, gone: int, lost: float, come: int, won: float
) -> float:
    """What cluster i is over its room more, with work that goes and work that comes."""
    total = 0.0
    for row in range(min(gone, come), used.shape[1]):
        before = used[i, row]
        after = before
        if row >= gone:
            after -= lost
        if row >= come:
            after += won
        total += over(after, pairs.room[i, row]) - over(before, pairs.room[i, row])
    return float(total * pairs.weight[i])


@inner
def _position(pairs: Pairs, k: int, o: int) -> int:
    """The position of cluster o among those that task k may go to, or -1."""
    for r in range(pairs.cluster.shape[1]):
        if pairs.cluster[k, r] == o:
            return r if pairs.excess[k, r] < np.inf else -1
    return -1


@inner
def _cost(
    pairs: Pairs, sums: Sums, j: int, q: int, k: int, r: int, missing: float, price: float
) -> tuple[float, float]:
    """What a change adds without the excess: j to its place q, k to r; success missing then."""
    none = sums.used.shape[1]
    p = sums.place[j]
    o, i = pairs.cluster[j, p], pairs.cluster[j, q]
    short = missing - pairs.chance[j, q] + pairs.chance[j, p]
    level, back, forth, late = pairs.level[j], 0.0, 0.0, none
    if k >= 0:
        own = sums.place[k]
        short += pairs.chance[k, own] - pairs.chance[k, r]
        late, back, forth = pairs.level[k], pairs.work[k, r], pairs.work[k, own]
    cost = _change_at(pairs, sums.used, o, level, pairs.work[j, p], late, back)
    cost += _change_at(pairs, sums.used, i, late, forth, level, pairs.work[j, q])
    cost += price * (over(short, 0.0) - over(missing, 0.0))
    return cost, short


@inner
def _put(pairs: Pairs, sums: Sums, j: int, q: int) -> None:
    """Move a task."""
    p = sums.place[j]
    o, i = pairs.cluster[j, p], pairs.cluster[j, q]
    for row in range(pairs.level[j], sums.used.shape[1]):
        sums.used[o, row] -= pairs.work[j, p]
        sums.used[i, row] += pairs.work[j, q]
    leave(sums.lists, j, o)
    enter(sums.lists, j, i)
    sums.place[j] = q


@inner
def _left(pairs: Pairs, sums: Sums, missing: float, price: float) -> float:
    """What is over, and the price of what is missing."""
    total = float(price * over(missing, 0.0))
    for i in range(len(sums.used)):
        for row in range(sums.used.shape[1]):
            total += pairs.weight[i] * over(sums.used[i, row], pairs.room[i, row])
    return total


@inner
def _late(pairs: Pairs, sums: Sums, j: int) -> bool:
    """Whether the task's cluster has too much to do by its deadline or a later one."""
    i = pairs.cluster[j, sums.place[j]]
    for row in range(pairs.level[j], sums.used.shape[1]):
        if sums.used[i, row] > pairs.room[i, row]:
            return True
    return False


@inner
def _best(
    pairs: Pairs, sums: Sums, j: int, missing: float, price: float, least: float
) -> tuple[int, int, int]:
    """The change that gains most, moves paid: new place, swap partner and its new place."""
    best, place, other, there = -least, -1, -1, -1
    o = pairs.cluster[j, sums.place[j]]
    for q in range(pairs.cluster.shape[1]):
        if q == sums.place[j] or not pairs.excess[j, q] < np.inf:
            continue
        cost, _ = _cost(pairs, sums, j, q, -1, -1, missing, price)
        more = pairs.paid[j, q] - pairs.paid[j, sums.place[j]]
        cost += more
        if cost < best:
            best, place, other, there = cost, q, -1, -1
        k = sums.lists.first[pairs.cluster[j, q]]
        while k >= 0:
            r = _position(pairs, k, o)
            if r >= 0:
                cost, _ = _cost(pairs, sums, j, q, k, r, missing, price)
                cost += more + pairs.paid[k, r] - pairs.paid[k, sums.place[k]]
                if cost < best:
                    best, place, other, there = cost, q, k, r
            k = sums.lists.following[k]
    return place, other, there


@jit
def settle(pairs: Pairs, goal: float, price: float, place: Ints, sweeps: int) -> float:
    """Lower what is over and what is missing, in place, until nothing is left or helps.

    Args:
        pairs: The round.
        goal: G, success wanted in all.
        price: P of a unit of missing success.
        place: (tasks,) position of the cluster of each task among those that it looks at.
        sweeps: Sweeps over the tasks at most.

    Returns:
        What is left.
    """
    sums, reached = _sums(pairs, place)
    missing = goal - reached
    left = _left(pairs, sums, missing, price)
    for _ in range(sweeps):
        changed = False
        for j in range(len(place)):
            if missing <= 0.0 and not _late(pairs, sums, j):
                continue
            q, k, r = _best(pairs, sums, j, missing, price, _LEAST * (left + 1e-300))
            if q < 0:
                continue
            changed = True
            _, missing = _cost(pairs, sums, j, q, k, r, missing, price)
            _put(pairs, sums, j, q)
            if k >= 0:
                _put(pairs, sums, k, r)
        sums, reached = _sums(pairs, place)  # sums anew: no rounding piles up
        missing = goal - reached
        left = _left(pairs, sums, missing, price)
        if not changed or left <= 0.0:
            break
    return float(left)


@jit
def cool(
    pairs: Pairs, goal: float, price: float, place: Ints, hot: float, proposals: int, seed: int
) -> float:
    """Simulated annealing of the sum, in place.

    Args:
        pairs: As in :func:`settle`, and so the next three.
        goal: See there.
        price: See there.
        place: See there.
        hot: First temperature; the last is a thousandth of it.
        proposals: Changes to try.
        seed: Of the choices.

    Returns:
        What is left, as :func:`settle` does.
    """
    n, width = pairs.cluster.shape
    sums, reached = _sums(pairs, place)
    missing = goal - reached
    state, heat = (seed * 2654435761 + 12345) % 2147483648, hot
    colder = 1e-3 ** (1.0 / max(1, proposals))
    for _ in range(proposals):
        heat *= colder
        state = advance(state)
        j = (state >> 8) % n
        state = advance(state)
        q, p = (state >> 8) % width, sums.place[j]
        if q == p or not pairs.excess[j, q] < np.inf:
            continue
        state = advance(state)
        k = r = -1
        if (state >> 8) % 4:
            k = partner(sums.lists, pairs.cluster[j, q], (state >> 12) % 8)
            if k >= 0:
                r = _position(pairs, k, pairs.cluster[j, p])
        if r < 0:
            k = -1
        cost, short = _cost(pairs, sums, j, q, k, r, missing, price)
        cost += pairs.excess[j, q] - pairs.excess[j, p]
        if k >= 0:
            cost += pairs.excess[k, r] - pairs.excess[k, sums.place[k]]
        state = advance(state)
        if cost > 0 and (state >> 8) / 8388608.0 >= np.exp(-cost / heat):
            continue
        missing = short
        _put(pairs, sums, j, q)
        if k >= 0:
            _put(pairs, sums, k, r)
    sums, reached = _sums(pairs, place)
    return float(_left(pairs, sums, goal - reached, price))
