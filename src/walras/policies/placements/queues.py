"""Placements where tasks may queue on clusters; the one place that calls ``walras.matching.match``.

A cluster with k free slots ends after the greater of its work over k and its longest task. The
matching knows no limit on the slots that are filled, and none on providers: what is over them is
moved to where it ends soonest.
"""

from __future__ import annotations

import numpy as np

from walras.errors import WalrasError
from walras.policies.placements.bottleneck import all_placed
from walras.policies.placements.draws import Draws
from walras.policies.placements.problem import Found, Late, Problem
from walras.types import Bools, Longs

_GAIN = 1e-12  # of a chance that counts
_NO_LIMIT = float(np.finfo(float).max)


def solve(
    problem: Problem,
    seed: int,
    draws: Draws,
    late: Late,
    seconds: float | None,
    price: float | None,
) -> Found | None:
    """A placement of little makespan at the floor, with a lower bound.

    Args:
        problem: The problem.
        seed: Of the matching.
        draws: Draws clusters of some tasks.
        late: Whether the time is up.
        seconds: Time limit of the matching, or None.
        price: What a unit of missing mean success costs; None where none may be missing.

    Returns:
        The placement, or None where none is found that reaches the floor.
    """
    start = _listed(problem, problem.start)
    drawn, chance = draws(problem, problem.makespan(start))
    held, base = problem.fixed(drawn), all_placed(problem.fixed(drawn), _NO_LIMIT)
    if base is None:
        held, base, drawn = problem, start, np.full(len(start), -1)
    best, bound, method, ended = _listed(held, base), _bound(problem), "list scheduling", True
    matched = None if late() else _matched(held, seed, seconds, price)
    if matched is not None:
        cluster, lower, ended = matched
        repaired = _repaired(held, cluster, best)
        bound = max(bound, lower) if (drawn < 0).all() else bound
        if _cost(held, repaired, price) < _cost(held, best, price):
            best, method = repaired, "matching"
    if price is None and not held.reaches_floor(best):
        best = _safer(held, best)
        if not held.reaches_floor(best):
            return None
    return Found(
        best,
        min(bound, problem.makespan(best)),
        method,
        np.zeros(len(problem.room)),
        price or 0.0,
        ended and not late(),
        np.where(drawn >= 0, chance, 0.0),
    )


def _cost(problem: Problem, cluster: Longs, price: float | None) -> float:
    """The makespan and the price of what is missing to the floor; a hard floor comes first."""
    weight = 1e12 if price is None else price
    return problem.makespan(cluster) + weight * problem.shortfall(cluster)


def _bound(problem: Problem) -> float:
    """No placement ends before its longest quickest task, nor before its least work is shared."""
    quickest = problem.seconds.min(axis=1)
    shared = float((problem.size * quickest).sum()) / max(float(problem.free.sum()), 1.0)
    return max(float(quickest.max()), shared)


def _matched(
    problem: Problem, seed: int, seconds: float | None, price: float | None
) -> tuple[Longs, float, bool] | None:
    """The matching's placement, its bound, and whether it ended by itself."""
    # Most rounds let no task queue, and the matching takes a second to import.
    from walras.matching import match  # noqa: PLC0415

    rows = np.flatnonzero((problem.free > 0) & problem.usable.any(axis=0))
    try:
        plan = match(
            problem.seconds.T[rows],
            problem.chance.T[rows],
            problem.floor,
            shortfall_price=price,
            time_limit=seconds,
            seed=seed,
            tolerance=0.01,
            slots=problem.free[rows],
            sizes=problem.size,
        )
    except WalrasError:
        return None
    bound = plan.bound if price is None else 0.0  # with a price it bounds the cost
    return rows[plan.assignment], float(bound), str(plan.status) != "limit"


class _Filling:
    """A placement in the making: what is filled of the room and the bounds, and the work."""

    def __init__(self, problem: Problem, cluster: Longs) -> None:
        self.problem, self.cluster = problem, np.full(len(cluster), -1)
        self.fill = np.zeros(len(problem.room), np.int64)
        self.count = np.zeros(len(problem.cap), np.int64)
        self.work = np.zeros(len(problem.room))
        for j in np.flatnonzero(cluster >= 0).tolist():
            self.put(j, int(cluster[j]))

    def fits(self, j: int) -> Bools:
        """(M,) clusters that have room for a task."""
        problem = self.problem
        fits: Bools = problem.usable[j] & (self.fill + problem.size[j] <= problem.room)
        if len(self.count):
            open_ = self.count[problem.group] < problem.cap[problem.group]
            fits &= (problem.group < 0) | open_
        return fits

    def put(self, j: int, i: int) -> None:
        """Place a task."""
        problem = self.problem
        self.cluster[j] = i
        self.fill[i] += problem.size[j]
        self.work[i] += problem.size[j] * problem.seconds[j, i]
        if problem.group[i] >= 0:
            self.count[problem.group[i]] += 1

    def put_soonest(self, j: int) -> bool:
        """Place a task where it ends soonest; False where there is no room."""
        problem, fits = self.problem, self.fits(j)
        after = (self.work + problem.size[j] * problem.seconds[j]) / np.maximum(problem.free, 1)
        ends = np.where(fits, np.maximum(after, problem.seconds[j]), np.inf)
        if fits.any():
            self.put(j, int(ends.argmin()))
        return bool(fits.any())


def _repaired(problem: Problem, cluster: Longs, otherwise: Longs) -> Longs:
    """A placement within the room and the bounds on providers, from one that is over them."""
    filling = _Filling(problem, np.full(len(cluster), -1))
    over = []
    for j in np.argsort(problem.picked(problem.seconds, cluster), kind="stable").tolist():
        if filling.fits(j)[cluster[j]]:
            filling.put(j, int(cluster[j]))
        else:
            over.append(j)
    return filling.cluster if all(filling.put_soonest(j) for j in over) else otherwise


def _listed(problem: Problem, otherwise: Longs) -> Longs:
    """List scheduling: the longest task first, each where it ends soonest and there is room."""
    filling = _Filling(problem, np.full(len(problem.size), -1))
    work = problem.size * problem.seconds.min(axis=1)
    if not all(filling.put_soonest(j) for j in np.argsort(-work, kind="stable").tolist()):
        return otherwise
    kept = filling.cluster
    safe = problem.reaches_floor(kept) or not problem.reaches_floor(otherwise)
    return kept if safe and problem.makespan(kept) < problem.makespan(otherwise) else otherwise


def _safer(problem: Problem, cluster: Longs) -> Longs:
    """Move tasks to safer clusters, the one that loses least time first, to reach the floor."""
    best = cluster.copy()
    for _ in range(len(cluster)):
        if problem.reaches_floor(best):
            break
        filling = _Filling(problem, best)
        gain = problem.chance - problem.picked(problem.chance, best)[:, None]
        extra = problem.seconds - problem.picked(problem.seconds, best)[:, None]
        good = np.stack([filling.fits(j) for j in range(len(best))]) & (gain > _GAIN)
        if not good.any():
            break
        rate = np.where(good, np.maximum(extra, 0.0) / np.maximum(gain, _GAIN), np.inf)
        j, i = np.unravel_index(int(rate.argmin()), rate.shape)
        best[j] = i
    return best
