"""Small rounds whose tasks share clusters: exact by branch and bound at the prices of the dual."""

from __future__ import annotations

import math

import numpy as np

from walras.kernels.matching.shared import Field, Levels, branch_shared
from walras.matching.by_price import first_placement, least_end
from walras.matching.prices import Given, Prices, priced
from walras.matching.round import Round
from walras.matching.search import Found, objective_of
from walras.matching.terms import LATE

_METHOD = "branch and bound"


def branch_round(round_: Round, tolerance: float, limit: int) -> Found:
    """Match a round by branch and bound.

    Args:
        round_: The round, with terms.
        tolerance: Relative gap to reach.
        limit: Nodes of the search tree.

    Returns:
        The best placement, with a bound. Where none is found that keeps the deadlines, its
        objective is ``inf``; its bound is, too, where there is none.
    """
    given = Given.of(round_, 1)
    low = least_end(given)
    start = first_placement(given, low)
    high = start.objective if math.isfinite(start.objective) else 2.0 * low
    prices = priced(given, low, high)
    order, levels = _levels(given, prices, start.objective)
    field = Field(
        given.terms.free_at,
        given.terms.width,
        np.stack([given.terms.capacity(by * (1.0 + LATE)) for by in given.terms.due], axis=1)
        if len(given.terms.due)
        else np.zeros((len(given.terms.width), 0)),
        prices.lam,
        prices.mu,
        low,
        given.goal,
        given.price if math.isfinite(given.price) else 0.0,
        not math.isfinite(given.price),
        not given.pays,
    )
    place = np.full(len(order), -1, np.int32)
    _, bound, nodes = branch_shared(levels, field, tolerance, limit, start.objective, place)
    x = start.assignment.copy()
    if len(place) and place[0] >= 0:
        x[order] = levels.cluster[np.arange(len(order)), place]
    value = objective_of(round_, x)
    if math.isfinite(start.objective):  # the prices are those of better placements than the first
        bound = max(bound, min(prices.bound, value))
    bound = max(low, bound)
    if nodes <= limit and not math.isfinite(value):
        bound = math.inf
    return Found(x, value, bound, _METHOD)


def _levels(given: Given, prices: Prices, high: float) -> tuple[np.ndarray, Levels]:
    """The tasks by falling work at its prices, and the clusters of each by reduced cost."""
    r, t = given.round, given.terms
    m, n = r.shape
    usable = r.usable.T & (high >= t.soonest(r.times).T)  # later ones are in no better placement
    times = np.where(usable, r.times.T, 0.0)
    work = given.size[:, None] * times
    moves = (t.previous[:, None] >= 0) & (t.previous[:, None] != np.arange(m))
    paid = np.where(moves, t.move_price, 0.0)
    reduced = np.where(usable, work * prices.lam - prices.mu * r.success.T + paid, np.inf)
    order = np.argsort(-(work * prices.lam).sum(axis=1), kind="stable")
    place = np.argsort(reduced[order], axis=1, kind="stable")

    def at(table: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(np.take_along_axis(table[order], place, axis=1))

    def rest(table: np.ndarray) -> np.ndarray:
        return np.append(table[order][::-1].cumsum()[::-1], 0.0)

    chance = np.where(usable, r.success.T, 0.0)
    soonest = np.where(usable, t.soonest(r.times).T, 0.0)
    same = np.ones(n, np.bool_)
    for table in (reduced, work, chance, soonest, paid, t.level[:, None]):
        rows = table[order]
        same[1:] &= np.all(rows[1:] == rows[:-1], axis=1)
    same[0] = False
    return order, Levels(
        place.astype(np.int32),
        at(reduced),
        at(work),
        at(soonest),
        at(chance),
        at(paid),
        t.level[order],
        np.append(same, False),
        rest(reduced.min(axis=1)),
        rest(chance.max(axis=1)),
        rest(np.where(usable, paid, np.inf).min(axis=1)),
    )
