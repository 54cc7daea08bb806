"""Cheapest placements, quickly where prices of a similar one are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from walras.kernels.matching.placing import cheapest
from walras.policies.placements.problem import Problem
from walras.types import Floats, Longs

_SPARE = 4  # places a task above which prices are not worth knowing before
_NEAR = 4  # prices are near where fewer than one in so many tasks has to be moved
_FEW, _SHARE = 400, 4  # tasks up to which all are placed at once; of more, one in so many first


@dataclass(frozen=True, eq=False)
class Flow:
    """A cheapest placement with its prices.

    Attributes:
        cluster: (n,) which cluster.
        prices: (M,) what another slot of a cluster would save.
        start: Size -> (M,) prices of a place for tasks of that size, to start a similar search.
    """

    cluster: Longs
    prices: Floats
    start: Mapping[int, Floats] = field(default_factory=dict)


def cheapest_of(problem: Problem, cost: Floats, near: Flow | None = None) -> Flow | None:
    """The cheapest placement of all tasks; large ones go first where sizes differ.

    Args:
        problem: The problem.
        cost: (n, M); infinite where a pair may not be used.
        near: The placement of a similar problem.

    Returns:
        The placement and its prices, or None where large tasks leave no room for the others.
    """
    m = len(problem.room)
    cluster, room, cap = np.full(len(cost), -1), problem.room.copy(), problem.cap.copy()
    prices, start = np.zeros(m), {}
    for size in np.unique(problem.size)[::-1].tolist():
        mine = np.flatnonzero(problem.size == size)
        places, group, bound = _folded(room // size, problem.group, cap)
        given = None if near is None else near.start.get(size)
        found, price = _placed(np.ascontiguousarray(cost[mine]), places, group, bound, given)
        if (found < 0).any():
            return None
        cluster[mine] = found
        room -= size * np.bincount(found, minlength=m)
        groups = problem.group[found]
        cap -= np.bincount(groups[groups >= 0], minlength=len(cap))
        prices, start[size] = np.maximum(prices, price / size), price
    return Flow(cluster, prices, start)


def _folded(places: Longs, group: Longs, cap: Longs) -> tuple[Longs, Longs, Longs]:
    """Places, groups and caps without the groups of one cluster and those with room for all."""
    if not len(cap):
        return places, group, cap
    member = group >= 0
    clusters = np.bincount(group[member], minlength=len(cap))
    total = np.bincount(group[member], places[member], len(cap))
    alone = member & (clusters[group] == 1)
    places = np.where(alone, np.minimum(places, cap[group]), places)
    kept = (clusters > 1) & (total > cap)
    number = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)
    return places, number[group], cap[kept]


def _placed(
    cost: Floats, places: Longs, group: Longs, cap: Longs, given: Floats | None
) -> tuple[Longs, Floats]:
    """Clusters of tasks of one size, and the prices of a place."""
    n, m = cost.shape
    spare = int(places.sum()) - n
    if len(cap) or not 0 <= spare <= _SPARE * n:
        found, price = np.full(n, -1), np.zeros(m + len(cap))
        cheapest(cost, places, group, cap, found, price)
        of_group = np.where(group >= 0, np.append(price[m:], 0.0)[group], 0.0)
        return found, np.maximum(price[:m] - of_group, 0.0)
    if given is None or _crowded(cost, places, given) > n // _NEAR:
        given = _sampled(cost, places)
    return _balanced(cost, places, given)


def _balanced(cost: Floats, places: Longs, given: Floats) -> tuple[Longs, Floats]:
    """The same from prices to start from."""
    n, m = cost.shape
    spare = int(places.sum()) - n
    # As many tasks as places: those that cost nothing anywhere keep the prices at 0 where they go.
    whole = np.concatenate([cost, np.zeros((spare, m))])
    found, price = np.full(n + spare, -1), given.copy()
    cheapest(whole, places, np.full(m, -1), np.zeros(0, np.int64), found, price)
    if (found < 0).any():
        return found[:n], np.zeros(m)
    nothing = found[n:]
    price -= price[nothing].min() if spare else price.min()
    return found[:n], np.maximum(price, 0.0)


def _crowded(cost: Floats, places: Longs, price: Floats) -> int:
    """Tasks that would be too many if each went to its best cluster at some prices."""
    wanted = np.bincount((cost + price).argmin(axis=1), minlength=len(places))
    return int(np.maximum(wanted - places, 0).sum())


def _sampled(cost: Floats, places: Longs) -> Floats:
    """Prices to start from: those of every fourth task on a quarter of the places."""
    n, m = cost.shape
    if n <= _FEW:
        return np.zeros(m)
    some = np.ascontiguousarray(cost[::_SHARE])
    # Rounded up and down by turns, so that the shares add up.
    share = np.diff(np.floor(np.cumsum(np.append(0, places)) / _SHARE + 0.5)).astype(np.int64)
    short = len(some) - int(share.sum())
    if short > 0:
        share[np.argsort(-places, kind="stable")[:short]] += 1
    return _balanced(some, share, _sampled(some, share))[1]
