"""Placements whose longest task is as short as can be; of these, the one of least work.

Where every task starts at once, the makespan is the longest time. The least one is found by
bisection over the times: whether all tasks can be placed without longer pairs is a flow. Of the
placements within it, the cheapest keeps the floor under the mean success by a multiplier.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from walras.kernels.matching.placing import cheapest, insert
from walras.policies.exchange.problem import Found, Late, Problem
from walras.types import Floats, Longs

Draw = Callable[[Problem, float], tuple[Longs, Floats]]
"""Clusters drawn for some tasks (-1 for the others) and their chances, within a longest time."""

_DOUBLINGS = 40  # of the multiplier of the floor
_HALVINGS = 6
_JITTER = 1e-6  # relative; chooses among equal clusters
_TRIALS = 6  # makespans looked at where the floor has a price


@dataclass(frozen=True, eq=False)
class Flow:
    """A cheapest placement with its prices.

    Attributes:
        cluster: (n,) which cluster.
        prices: (M,) what another slot of a cluster would save.
    """

    cluster: Longs
    prices: Floats


def all_placed(problem: Problem, limit: float, *, split: bool = False) -> Longs | None:
    """A placement of all tasks without longer pairs, if one is found.

    Args:
        problem: The problem.
        limit: Longest time that may be used.
        split: Let the slots of a task go to several clusters, one by one: where even that does not
            fit, nothing does. Bounds on providers count tasks, and are left out then.

    Returns:
        (n,) clusters; of a split problem the clusters of the slots.
    """
    row = np.arange(len(problem.size))
    size, group = problem.size, problem.group
    if split:
        row = np.repeat(row, problem.size)
        size, group = np.ones(len(row), np.int64), np.full(len(group), -1)
    order = np.argsort(-size, kind="stable")
    cluster = np.full(len(row), -1)
    placed = insert(
        problem.seconds, row, limit, size, problem.room, group, problem.cap, order, True, cluster
    )
    return cluster if placed == len(row) else None


def least_limit(problem: Problem, late: Late) -> tuple[Longs, float, bool]:
    """A placement with the least longest time that is found.

    Args:
        problem: The problem.
        late: Whether the time is up.

    Returns:
        The placement, a lower bound on the longest time, and whether the search ended.
    """
    best, low = problem.start, float(problem.seconds.min(axis=1).max())
    longest = float(problem.picked(problem.seconds, best).max())
    values = np.unique(problem.seconds[problem.usable])
    values = values[(values >= low) & (values <= longest)]
    mixed = bool((problem.size > 1).any())
    if mixed:  # the slots of a task one by one: a bound alone
        first, _, ended = _bisected(problem, values, True, late)
        if not ended:
            return best, low, False
        values = values[first:]
        low = float(values[0])
    first, found, ended = _bisected(problem, values, False, late)
    if ended and not mixed:
        low = float(values[first])
    return best if found is None else found, low, ended


def _bisected(
    problem: Problem, values: Floats, split: bool, late: Late
) -> tuple[int, Longs | None, bool]:
    """The first limit within which all are placed; the placement; whether the search ended.

    The last limit is known to do; the first one is looked at first, since it often does.
    """
    first, last, place = 0, len(values) - 1, 0
    best = None
    while first < last:
        if late():
            return last, best, False
        found = all_placed(problem, float(values[place]), split=split)
        if found is None:
            first = place + 1
        else:
            best, last = found, place
        place = (first + last) // 2
    return last, best, True


def cheapest_of(problem: Problem, cost: Floats) -> Flow | None:
    """The cheapest placement of all tasks; large ones go first where sizes differ.

    Args:
        problem: The problem.
        cost: (n, M); infinite where a pair may not be used.

    Returns:
        The placement and its prices, or None where large tasks leave no room for the others.
    """
    m = len(problem.room)
    cluster, room, cap = np.full(len(cost), -1), problem.room.copy(), problem.cap.copy()
    prices = np.zeros(m)
    for size in np.unique(problem.size)[::-1]:
        mine = np.flatnonzero(problem.size == size)
        found, price = np.full(len(mine), -1), np.zeros(m + len(cap))
        placed = cheapest(
            np.ascontiguousarray(cost[mine]), room // size, problem.group, cap, found, price
        )
        if placed < len(mine):
            return None
        cluster[mine] = found
        room -= size * np.bincount(found, minlength=m)
        groups = problem.group[found]
        cap -= np.bincount(groups[groups >= 0], minlength=len(cap))
        of_group = np.where(problem.group >= 0, price[m:][problem.group] if len(cap) else 0.0, 0.0)
        prices = np.maximum(prices, np.maximum(price[:m] - of_group, 0.0) / size)
    return Flow(cluster, prices)


def work_of(problem: Problem, seed: int) -> Floats:
    """(n, M) slot-seconds of each pair, weighted; a little noise chooses among equal ones."""
    noise = np.random.default_rng([seed, 1]).random(problem.seconds.shape)
    work = problem.size[:, None] * problem.seconds * problem.weight
    return np.where(problem.usable, work * (1.0 + _JITTER * noise), np.inf)


def safest(problem: Problem) -> Flow | None:
    """The placement with the greatest mean chance of success."""
    return cheapest_of(problem, np.where(problem.usable, 1.0 - problem.chance, np.inf))


def at_floor(problem: Problem, work: Floats, late: Late) -> tuple[Flow, float] | None:
    """The placement of least work at the floor that is found, and the multiplier of the floor.

    Returns:
        None where no placement that is found reaches the floor.
    """
    found = cheapest_of(problem, work)
    if found is not None and problem.reaches_floor(found.cluster):
        return found, 0.0
    best = safest(problem)
    if best is None or not problem.reaches_floor(best.cluster):
        return None
    low, high = 0.0, float(np.median(work[problem.usable]))
    for step in range(_DOUBLINGS):
        if late():
            return best, high
        tried = _weighted(problem, work, high)
        if tried is not None and problem.reaches_floor(tried.cluster):
            best = tried
            break
        low, high = high, high * 2.0
        if step == _DOUBLINGS - 1:
            return best, high
    for _ in range(_HALVINGS):
        if late():
            break
        middle = (low + high) / 2.0
        tried = _weighted(problem, work, middle)
        if tried is not None and problem.reaches_floor(tried.cluster):
            best, high = tried, middle
        else:
            low = middle
    return best, high


def _weighted(problem: Problem, work: Floats, multiplier: float) -> Flow | None:
    return cheapest_of(problem, work + multiplier * (1.0 - problem.chance))


def solve(problem: Problem, seed: int, draw: Draw, late: Late) -> Found | None:
    """The least makespan at the floor, then the least work.

    Args:
        problem: The problem.
        seed: Chooses among equal clusters.
        draw: Draws clusters of some tasks, none slower than the longest time.
        late: Whether the time is up.

    Returns:
        The placement, or None where none reaches the floor.
    """
    base, low, complete = least_limit(problem, late)
    limit = problem.makespan(base)
    drawn, chance = draw(problem, limit)
    held = problem
    while (drawn >= 0).any():
        start = all_placed(problem.fixed(drawn), limit)
        if start is not None:
            held, base = problem.fixed(drawn), start
            break
        # The clusters that were drawn leave no room for the others: draw fewer.
        few = np.flatnonzero(drawn >= 0)
        drawn[few[len(few) // 2 :]] = -1
    found = _at_limit(held, base, limit, seed, late)
    if found is None and held is not problem:
        drawn[:] = -1
        found = _at_limit(problem, base, limit, seed, late)
    if found is None:
        found = _above(problem, limit, seed, late)
        low = low if found is None else max(low, found.bound)
    if found is None:
        return None
    complete = complete and found.complete and not late()
    chance = np.where(drawn >= 0, chance, 0.0)
    return replace(found, bound=low, complete=complete, drawn=chance)


def _at_limit(problem: Problem, base: Longs, limit: float, seed: int, late: Late) -> Found | None:
    """The least work within a longest time and at the floor; None where the floor is missed."""
    inside = problem.within(limit)
    found = at_floor(inside, work_of(inside, seed), late)
    n = len(base)
    if found is not None:
        flow, multiplier = found
        price = multiplier * n
        return Found(flow.cluster, 0.0, "bottleneck", flow.prices, price, True, np.zeros(n))
    if inside.reaches_floor(base):  # which the cheapest miss where they put large tasks first
        zeros = np.zeros(len(problem.room))
        return Found(base, 0.0, "augmenting paths", zeros, 0.0, True, np.zeros(n))
    return None


def _above(problem: Problem, limit: float, seed: int, late: Late) -> Found | None:
    """The least longest time above another at which the floor is reached; its bound with it."""
    higher = _limit_at_floor(problem, limit, late)
    if higher is None:
        return None
    inside = problem.within(higher[0])
    best = safest(inside)
    if best is None:
        return None
    found = _at_limit(problem, best.cluster, higher[0], seed, late)
    return None if found is None else replace(found, bound=higher[1], complete=not late())


def _limit_at_floor(problem: Problem, above: float, late: Late) -> tuple[float, float] | None:
    """The least longest time above another with which the floor can be reached.

    Returns:
        The limit, and a lower bound on it; None where the floor is not reached without a limit.
    """
    values = np.unique(problem.seconds[problem.usable])
    whole = safest(problem)
    if whole is None or not problem.reaches_floor(whole.cluster):
        return None
    exact = len(np.unique(problem.size)) == 1  # then the safest placement is found, always
    first, last = _by_safest_pairs(problem, values), len(values) - 1
    least = float(values[first])
    first = max(first, min(int(np.searchsorted(values, above, side="right")), last))
    least = float(values[first]) if exact else least
    while first < last and not late():
        middle = (first + last) // 2
        inside = problem.within(float(values[middle]))
        found = safest(inside)
        if found is not None and inside.reaches_floor(found.cluster):
            last = middle
        else:
            first = middle + 1
            least = float(values[first]) if exact else least
    return float(values[last]), least


def _by_safest_pairs(problem: Problem, values: Floats) -> int:
    """The first limit with which each task on its safest cluster would reach the floor."""
    first, last = 0, len(values) - 1
    while first < last:
        middle = (first + last) // 2
        quick = problem.seconds <= values[middle]
        best = np.where(quick, problem.chance, 0.0).max(axis=1)
        if float(best.mean()) >= problem.floor - 1e-9:
            last = middle
        else:
            first = middle + 1
    return first


def elastic(problem: Problem, price: float, late: Late) -> Found:
    """A placement where the floor has a price: least makespan and price of what is missing.

    Args:
        problem: The problem.
        price: Seconds of makespan that a unit of missing mean success costs.
        late: Whether the time is up.

    Returns:
        The best placement that is found.
    """
    base, low, _ = least_limit(problem, late)
    best, zeros = base, np.zeros(len(problem.room))
    values = np.unique(problem.seconds[problem.usable])
    values = values[values >= problem.makespan(base)]
    picked = np.unique(np.linspace(0, len(values) - 1, _TRIALS).round().astype(int))
    for limit in values[picked]:
        found = safest(problem.within(float(limit)))
        if found is None:
            continue
        if _elastic_cost(problem, found.cluster, price) < _elastic_cost(problem, best, price):
            best = found.cluster
        if late():
            break
    return Found(best, low, "elastic floor", zeros, price, True, np.zeros(len(best)))


def _elastic_cost(problem: Problem, cluster: Longs, price: float) -> float:
    return problem.makespan(cluster) + price * problem.shortfall(cluster)
