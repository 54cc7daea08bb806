"""Placements whose longest task is as short as can be; of these, the one of least work.

Where every task starts at once, the makespan is the longest time. The least one is found by
bisection over the times: whether all tasks can be placed without longer pairs is a flow. Of the
placements within it, the cheapest keeps the floor under the mean success by a multiplier.
"""

from __future__ import annotations

import numpy as np

from walras.kernels.matching.placing import insert
from walras.policies.placements.draws import Draws
from walras.policies.placements.flows import Flow, cheapest_of
from walras.policies.placements.problem import SLACK, Found, Late, Problem
from walras.types import Floats, Longs

_RANGE, _HALVINGS = 1e4, 7  # of the multiplier of the floor, in logarithms
_LARGE, _CLOSE = 50_000, 1e-3  # pairs from which a limit so near to its bound will do
_JITTER = 1e-6  # relative; chooses among equal clusters
_TRIALS = 6  # makespans looked at where the floor has a price


def all_placed(
    problem: Problem, limit: float, *, split: bool = False, near: Longs | None = None
) -> Longs | None:
    """A placement of all tasks without longer pairs, if one is found.

    Args:
        problem: The problem.
        limit: Longest time that may be used.
        split: Let the slots of a task go to several clusters, one by one: where even that does not
            fit, nothing does. Bounds on providers count tasks, and are left out then.
        near: A placement of which as much is kept as the limit allows.

    Returns:
        (n,) clusters; of a split problem the clusters of the slots.
    """
    row = np.arange(len(problem.size))
    size, group = problem.size.copy(), problem.group  # to be written to: one version of the kernel
    if split:
        row = np.repeat(row, problem.size)
        size, group = np.ones(len(row), np.int64), np.full(len(group), -1)
    order = np.argsort(-size, kind="stable")
    cluster = np.full(len(row), -1) if near is None else near.copy()
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
        low, _, ended = _bisected(problem, values, True, late)
        if not ended:
            return best, low, False
    least, found, ended = _bisected(problem, values[values >= low], False, late)
    low = low if mixed else least
    return best if found is None else found, low, ended


def _bisected(
    problem: Problem, values: Floats, split: bool, late: Late
) -> tuple[float, Longs | None, bool]:
    """The least limit within which all may be placed.

    The last limit is known to do; the first one is looked at first, since it often does.

    Returns:
        A lower bound on it, where each limit that does not do is known not to; the placement of
        the least one that does; whether the search ended.
    """
    first, last, place = 0, len(values) - 1, 0
    best = None
    while first < last and not close(problem, values[first], values[last]):
        if late():
            return float(values[first]), best, False
        found = all_placed(problem, float(values[place]), split=split, near=best)
        if found is None:
            first = place + 1
        else:
            best, last = found, place
        place = (first + last) // 2
    return float(values[first]), best, True


def close(problem: Problem, low: float, high: float) -> bool:
    """Whether a limit is near enough to its bound; only that of a large problem is."""
    return problem.seconds.size > _LARGE and high <= low * (1.0 + _CLOSE)


def work_of(problem: Problem, seed: int) -> Floats:
    """(n, M) slot-seconds of each pair, weighted; a little noise chooses among equal ones."""
    noise = np.random.default_rng([seed, 1]).random(problem.seconds.shape)
    work = problem.size[:, None] * problem.seconds * problem.weight
    return np.where(problem.usable, work * (1.0 + _JITTER * noise), np.inf)


def safest(problem: Problem, near: Flow | None = None) -> Flow | None:
    """The placement with the greatest mean chance of success."""
    return cheapest_of(problem, np.where(problem.usable, 1.0 - problem.chance, np.inf), near)


def at_floor(
    problem: Problem, work: Floats, safe: Flow | None, late: Late
) -> tuple[Flow, float] | None:
    """The placement of least work at the floor that is found, and the multiplier of the floor.

    Args:
        problem: The problem.
        work: (n, M) what is to be least.
        safe: The safest placement, where it reaches the floor.
        late: Whether the time is up.

    Returns:
        None where no placement that is found reaches the floor.
    """
    near = cheapest_of(problem, work)
    if near is not None and problem.reaches_floor(near.cluster):
        return near, 0.0
    if safe is None:
        return None
    middle = float(np.median(work[problem.usable]))
    low, high, best = middle / _RANGE, middle * _RANGE, safe
    for _ in range(_HALVINGS):
        multiplier = float(np.sqrt(low * high))
        tried = None if late() else _weighted(problem, work, multiplier, near)
        if tried is None:
            break
        near = tried
        if problem.reaches_floor(tried.cluster):
            best, high = tried, multiplier
        else:
            low = multiplier
    return best, high


def _weighted(problem: Problem, work: Floats, multiplier: float, near: Flow | None) -> Flow | None:
    return cheapest_of(problem, work + multiplier * (1.0 - problem.chance), near)


def solve(problem: Problem, seed: int, draws: Draws, late: Late) -> Found | None:
    """The least makespan at the floor, then the least work.

    Args:
        problem: The problem.
        seed: Chooses among equal clusters.
        draws: Draws clusters of some tasks.
        late: Whether the time is up.

    Returns:
        The placement, or None where none reaches the floor.
    """
    base, low, complete = least_limit(problem, late)
    limit = problem.makespan(base)
    safe = _safe(problem.within(limit), None)
    if safe is None and not problem.reaches_floor(base):
        higher = _limit_at_floor(problem, limit, late)
        if higher is None:
            return None
        limit, least, safe = higher
        low, base = max(low, least), safe.cluster
    inside, chance = problem.within(limit), np.zeros(len(base))
    held = _drawn(problem, base, limit, safe, draws)
    if held is not None:
        inside, base, safe, chance = held
    found = at_floor(inside, work_of(inside, seed), safe, late)
    zeros, price, method = np.zeros(len(problem.room)), 0.0, "bottleneck"
    if found is not None:
        flow, multiplier = found
        base, zeros, price = flow.cluster, flow.prices, multiplier * len(base)
    elif inside.reaches_floor(base):  # the cheapest ones put large tasks first, and may not fit
        method = "augmenting paths"
    else:
        return None
    return Found(base, low, method, zeros, price, complete and not late(), chance)


def _safe(problem: Problem, near: Flow | None) -> Flow | None:
    """The safest placement, where it reaches the floor."""
    best = np.where(problem.usable, problem.chance, 0.0).max(axis=1).mean()
    if best < problem.floor - SLACK:
        return None
    found = safest(problem, near)
    return found if found is not None and problem.reaches_floor(found.cluster) else None


def _drawn(
    problem: Problem, base: Longs, limit: float, safe: Flow | None, draws: Draws
) -> tuple[Problem, Longs, Flow | None, Floats] | None:
    """The problem with the clusters that are drawn, within a longest time that may be a bit longer.

    All draws are kept or none: to drop those that came out badly would skew their chances.

    Returns:
        The problem, a placement, the safest one at the floor, and the chances of what was drawn;
        None where nothing was drawn, or where it leaves the others no place or none at the floor.
    """
    drawn, chance = draws(problem, limit)
    if not (drawn >= 0).any():
        return None
    fixed = problem.fixed(drawn)
    for growth in (0.0, draws.growth / 4.0, draws.growth):
        most = limit * (1.0 + growth)
        held = fixed.within(most)
        start = all_placed(held, most, near=np.where(drawn >= 0, -1, base))
        if start is None:
            continue
        still = None if safe is None else _safe(held, safe)
        if still is not None or held.reaches_floor(start):
            return held, start, still, chance
    return None


def _limit_at_floor(problem: Problem, above: float, late: Late) -> tuple[float, float, Flow] | None:
    """The least longest time above another with which the floor can be reached.

    Returns:
        The limit, a lower bound on it, and the safest placement within it; None where the floor is
        not reached without a limit.
    """
    values = np.unique(problem.seconds[problem.usable])
    best = near = _safe(problem, None)
    if best is None or near is None:
        return None
    exact = len(np.unique(problem.size)) == 1  # then the safest placement is found, always
    first, last = _by_safest_pairs(problem, values), len(values) - 1
    least = float(values[first])
    first = max(first, min(int(np.searchsorted(values, above, side="right")), last))
    proved = exact
    while first < last and not close(problem, values[first], values[last]) and not late():
        middle = (first + last) // 2
        inside = problem.within(float(values[middle]))
        short = _most_success(inside, near.prices) < problem.floor - SLACK
        found = None if short else safest(inside, near)
        if found is not None and inside.reaches_floor(found.cluster):
            last, best, near = middle, found, found
            continue
        near = found or near
        proved = proved and (exact or short)
        first = middle + 1
    return float(values[last]), float(values[first]) if proved else least, best


def _most_success(problem: Problem, prices: Floats) -> float:
    """An upper bound on the mean success, from any prices of slots: a value of the dual."""
    gain = np.where(problem.usable, problem.chance - problem.size[:, None] * prices, -np.inf)
    return float(gain.max(axis=1).sum() + (problem.room * prices).sum()) / len(gain)


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
