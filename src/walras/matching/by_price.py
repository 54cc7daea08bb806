"""Rounds whose tasks share clusters, and very large ones: prices, then places near them.

The dual of such a round has one number a cluster and one for the success, however many tasks there
are. At its optimum nearly every task has one nearest cluster; what is over a cluster's room then is
moved and swapped among nearest clusters until it fits an end between the bound and the best so far.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from walras.errors import InfeasibleError
from walras.kernels.matching.settle import Pairs, cool, settle
from walras.machine import cores
from walras.matching.prices import Given, Near, Prices, priced
from walras.matching.round import Round
from walras.matching.search import Found, OnStage, objective_of
from walras.matching.terms import LATE
from walras.types import Floats, Longs

LARGE = 500_000  # pairs of cluster and task from which any round is placed by price
_AIMS = (0.0, 0.3, 0.6, 0.85)  # of the way from the bound to the best, one attempt each
_WITHIN = 0.9  # of the tolerance, what an attempt aims at
_START = 0.02  # of that way, the first one's, when the best is a poor one
_NEAR = 8  # clusters that a task is tried on
_PROPOSALS, _MOST_PROPOSALS, _LEAST_PROPOSALS = 300, 3_000_000, 300_000  # a task, and in all
_HEAT = 0.01  # first temperature, in mean times of a task on its nearest cluster
_SWEEPS = 50
_ESCALATION = (1.0, 10.0, 1000.0)  # prices of missing success, one after the other
_LEVELS = 64  # deadlines that are told apart; of more, earlier ones stand for those between
_PASSES = 3  # of pricing anew within a better placement


def by_price(round_: Round) -> bool:
    """Whether a round is placed by price."""
    return not round_.runs_together and (round_.terms is not None or round_.times.size >= LARGE)


def search_by_price(
    round_: Round,
    known: Found | None,
    on_stage: OnStage,
    *,
    tolerance: float,
    threads: int | None,
    seed: int,
) -> Found:
    """Match a round with a certified gap.

    Args:
        round_: The round.
        known: A placement and bound to begin with, or None.
        on_stage: Called after each step with the best so far; says why to stop.
        tolerance: Relative gap to reach.
        threads: Threads, or None for all cores.
        seed: Of the annealing.

    Raises:
        InfeasibleError: No placement is found that keeps the deadlines.
    """
    given = Given.of(round_, cores() if threads is None else threads)
    low = least_end(given)
    best = first_placement(given, low)
    if known is not None:
        best = replace(min(best, known, key=lambda f: f.objective), bound=max(low, known.bound))
    steps, step, prices = 1 + (_PASSES - 1) * len(_AIMS), 0, None
    for again in range(_PASSES):
        high = min(best.objective, _any_end(given))
        if given.pays:
            low = max(low, priced(given.makespan_alone(), low, high).bound)
        prices = priced(given, low, high, prices)
        best = replace(best, bound=max(best.bound, min(prices.bound, best.objective)))
        if not given.pays:
            low = max(low, best.bound)
        before = best.objective
        for aim in _AIMS if again else (_START,):
            reason = on_stage(step, steps, "placing by price", best)
            if reason is not None and math.isfinite(best.objective):
                return replace(best, stopped=reason)
            best = _attempt(given, prices, low, best, aim, tolerance, seed + step)
            step += 1
        if again and not best.objective < before * (1.0 - 1e-9):
            break
    if not math.isfinite(best.objective):
        raise none_found(round_, best)
    on_stage(steps, steps, "", best)
    return best


def least_end(given: Given) -> float:
    """No placement ends before the last task at its soonest, nor before the least work is done."""
    t = given.terms
    soonest = t.soonest(given.round.times)
    low = float(soonest.min(axis=0).max())
    work = float((given.size * given.round.times.min(axis=0)).sum())
    short, long = low, max(2.0 * low, 1e-300)
    if float(t.capacity(low).sum()) >= work:
        return low
    while float(t.capacity(long).sum()) < work:
        short, long = long, 2.0 * long
    for _ in range(60):
        middle = 0.5 * (short + long)
        enough = float(t.capacity(middle).sum()) >= work
        short, long = (short, middle) if enough else (middle, long)
    return short


def _any_end(given: Given) -> float:
    """Every placement has ended by then."""
    r, t = given.round, given.terms
    times = np.where(r.usable, r.times, 0.0)
    everything = t.ends((given.size * times).sum(axis=1))
    soonest = np.where(r.usable, t.soonest(r.times), 0.0)
    return max(float(everything.max()), float(soonest.max()))


def first_placement(given: Given, low: float) -> Found:
    """The better of two simple placements: each task where it ends soonest, or is safest."""
    r = given.round
    quick = given.terms.soonest(r.times).argmin(axis=0).astype(np.int32)
    safe = np.where(r.usable, r.success, -1.0).argmax(axis=0).astype(np.int32)
    made = [Found(x, objective_of(r, x), low, _METHOD) for x in (quick, safe)]
    return min(made, key=lambda f: f.objective)


_METHOD = "prices and local search"


def _attempt(
    given: Given,
    prices: Prices,
    low: float,
    best: Found,
    share: float,
    tolerance: float,
    seed: int,
) -> Found:
    """Place the round so that it ends at a share of the way to the best; the better of both."""
    paid = 0.0
    if given.pays:
        paid = float(prices.near.base[:, 0].sum())
        paid += given.price * prices.lacking if math.isfinite(given.price) else 0.0
    least = max(best.bound - paid, 0.0)
    end = least / (1.0 - min(_WITHIN * tolerance, 0.5))
    if math.isfinite(best.objective):
        end = max(end, least + share * max(best.objective - paid - least, 0.0))
    end = max(end, low) * (1.0 + 1e-12)
    near = Near.of(given, prices.lam, prices.mu, end, _NEAR)
    pairs, scale = _pairs(given, near, end)
    count = float((pairs.room[:, -1] > 0.0).sum())
    aim = given.goal
    if math.isfinite(given.price):
        aim = min(aim, given.goal - prices.lacking)
    price = max(prices.mu * count, 1e-6 * scale)
    place = np.zeros(len(near.cluster), np.int32)
    proposals = min(max(_LEAST_PROPOSALS, _PROPOSALS * len(place)), _MOST_PROPOSALS)
    cool(pairs, aim, price, place, _HEAT * scale, proposals, seed % 2**31)
    for factor in _ESCALATION:
        settle(pairs, aim, factor * 10.0 * price, place, _SWEEPS)
    x = near.cluster[np.arange(len(place)), place]
    found = Found(x, objective_of(given.round, x), best.bound, best.method)
    return found if found.objective < best.objective else best


def _pairs(given: Given, near: Near, end: float) -> tuple[Pairs, float]:
    """The round as it is placed for an end, and the mean time of a task in it."""
    t = given.terms
    due, level = _levels(t.due, t.level, end)
    room = np.stack([t.capacity(by) for by in (*due, end)], axis=1)
    slots = t.slots.astype(np.float64)
    count = float((room[:, -1] > 0.0).sum())
    allowed = (near.cluster >= 0) & (near.soonest <= end)
    excess = np.where(allowed, (near.cost - near.cost[:, :1]) * count, np.inf)
    scale = float((near.work[:, 0] / slots[near.cluster[:, 0]]).mean())
    return (
        Pairs(
            np.maximum(near.cluster, 0),
            near.work,
            near.chance,
            excess,
            near.base * count,
            level,
            np.ascontiguousarray(room),
            1.0 / slots,
        ),
        scale,
    )


def _levels(due: Floats, level: Longs, end: float) -> tuple[Floats, Longs]:
    """Deadlines before an end, and the level of each task among them; few enough of them."""
    kept = due[due < end] * (1.0 + LATE)
    level = np.minimum(level, len(kept))
    if len(kept) <= _LEVELS:
        return kept, level
    first = np.unique(np.linspace(0, len(kept) - 1, _LEVELS).astype(np.int64))
    stands = np.searchsorted(first, np.arange(len(kept)), side="right") - 1
    return kept[first], np.append(stands, len(first))[level]


def none_found(round_: Round, best: Found) -> InfeasibleError:
    """What to say where no placement keeps the deadlines and the floor.

    Args:
        round_: The round.
        best: A placement that does not; a bound of ``inf`` says that there is none that does.
    """
    t, proved = Given.of(round_, 1).terms, best.bound == math.inf
    slack = t.slack(round_.times, best.assignment.astype(np.int64))
    i, row = np.unravel_index(int(slack.argmin()), slack.shape)
    tasks = int((t.deadlines <= t.due[row]).sum())
    said = "no placement keeps" if proved else "no placement is found that keeps"
    pins = int((t.pinned >= 0).sum())
    held = f"; {pins} tasks are pinned" if pins else ""
    return InfeasibleError(
        f"{said} all deadlines: {tasks} tasks are due by {t.due[row]:g}, and in the nearest one "
        f"{round_.cluster_name(int(i))} has {max(-slack[i, row], 0.0):.4g} slot-seconds too much "
        f"until then{held}",
        where="deadlines",
        allowed="deadlines that some placement keeps"
        + ("" if proved else "; it is not proved that none does"),
        remedy="loosen deadlines, pins, task_min_success or min_success, or leave tasks out",
    )
