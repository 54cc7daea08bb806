"""Prices of a large round: slot-seconds of each cluster and success, and the bound they prove.

For prices ``lam >= 0`` of slot-seconds and ``0 <= mu <= P`` of success (P: what missing success
costs), a placement that ends by T and costs V in all has

    V >= T + sum_j min_i (lam_i w_ij - mu a_ij + move_ij) + mu G - sum_i lam_i C_i(T),

where only pairs with ``e_ij <= T`` count in the minimum (see :mod:`walras.matching.terms`; G is the
success wanted in all). The capacity C_i is convex in T, so that over an interval the right side is
least at one of its ends. Where the makespan alone counts, no placement ends by T as long as the
right side without its T is positive; the root is the bound. The prices maximise a smooth form of
this by Newton's method on each task's nearest clusters; one pass over all times then certifies it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from walras.kernels.matching.priced import nearest, smooth
from walras.kernels.parallel import map_runs
from walras.matching.round import Round, success_wanted
from walras.matching.terms import Terms
from walras.types import Floats, Ints

_FEWEST, _EFFORT = 8, 1e7  # clusters that a task looks at: so few, and so much work at most
_PARTS = 16  # of the tasks, summed apart, so that sums do not depend on the threads
_SAMPLE = 20  # tasks a cluster whose prices are found before those of all tasks
_FIRST, _WARM, _COOLING, _LAST = 0.1, 0.01, 0.6, 1e-3  # temperatures, in makespans a task
_STEPS, _LOOKS = 4, 40  # of Newton's method between looks at all clusters; these
_HALVINGS, _ARMIJO, _SOLVED = 30, 1e-4, 1e-4
_BACK = 6  # halvings of a step whose tasks would rather be elsewhere
_WITHIN = 0.5  # of the way to where a price is 0: other clusters are to be looked at before


@dataclass(frozen=True, eq=False)
class Given:
    """A round as the kernels of prices take it.

    Attributes:
        round: The round.
        terms: Its terms; one slot that is free now where it has none.
        goal: Success wanted in all.
        price: Of a unit of missing success, or ``inf``.
        size: (tasks,) slots.
        threads: Threads.
    """

    round: Round
    terms: Terms
    goal: float
    price: float
    size: Floats
    threads: int

    @classmethod
    def of(cls, round_: Round, threads: int) -> Given:
        """Of a round whose tasks share slots or run one after the other."""
        m, n = round_.shape
        hard = round_.shortfall_price is None
        goal = float(success_wanted(round_.min_success, n, is_hard=hard))
        price = math.inf if round_.shortfall_price is None else round_.shortfall_price / n
        terms = round_.terms or plain(m, n)
        if round_.terms is None:  # placements are valued by their own pairs then, not by all
            round_ = replace(round_, terms=terms)
        return cls(round_, terms, goal, price, terms.sizes.astype(np.float64), threads)

    @property
    def pays(self) -> bool:
        """Whether there is more to pay than the makespan."""
        return self.terms.move_price > 0.0 or (math.isfinite(self.price) and self.floored)

    @property
    def floored(self) -> bool:
        """Whether success is wanted at all."""
        return self.goal > 0.0 and self.price > 0.0

    def makespan_alone(self) -> Given:
        """The round without what is paid for moves and for missing success."""
        terms = replace(self.terms, move_price=0.0)
        goal = 0.0 if math.isfinite(self.price) else self.goal
        return replace(self, terms=terms, goal=goal, price=math.inf)

    def some(self, step: int) -> Given:
        """Every so many-th task, each for so many."""
        r, t = self.round, self.terms
        picked = slice(None, None, step)
        terms = replace(
            t,
            sizes=t.sizes[picked],
            pinned=t.pinned[picked],
            previous=t.previous[picked],
            deadlines=t.deadlines[picked],
            least=t.least[picked],
            move_price=t.move_price * step,
        )
        part = replace(
            r,
            times=np.ascontiguousarray(r.times[:, picked]),
            success=np.ascontiguousarray(r.success[:, picked]),
            min_success=0.0,
            tasks=(),
            times_interval=None,
            success_interval=None,
            terms=terms,
        )
        return replace(
            self,
            round=part,
            terms=terms,
            goal=self.goal / step,
            price=self.price * step,
            size=self.size[picked] * step,
        )


def plain(m: int, n: int) -> Terms:
    """The terms of clusters that run one task after the other."""
    none = np.full(n, -1)
    return Terms(
        np.zeros((m, 1)),
        np.ones((m, 1), np.int64),
        np.ones(n, np.int64),
        none,
        none,
        0.0,
        np.full(n, np.inf),
        np.zeros(n),
    )


@dataclass(frozen=True, eq=False)
class Prices:
    """Prices, the bound they prove, and the clusters that they bring near to each task.

    Attributes:
        lam: (clusters,) of a slot-second; 0 on clusters that end too late.
        mu: Of success.
        bound: On the objective of every placement that is better than the limit.
        lacking: Success that is missing of the goal where prices rule.
        near: The nearest clusters.
    """

    lam: Floats
    mu: float
    bound: float
    lacking: float
    near: Near


@dataclass(frozen=True, eq=False)
class Near:
    """The nearest clusters of each task, and what is known of the pairs.

    Attributes:
        cluster: (tasks, K) in rising order of reduced cost; -1 where there are fewer.
        cost: (tasks, K) reduced costs.
        work: (tasks, K) slot-seconds.
        chance: (tasks, K) chances.
        base: (tasks, K) what a move costs.
        soonest: (tasks, K) the soonest end.
    """

    cluster: Ints
    cost: Floats
    work: Floats
    chance: Floats
    base: Floats
    soonest: Floats

    def least(self, lam: Floats, mu: float) -> float:
        """The sum of the least reduced costs among these clusters at other prices."""
        cost = self.base + lam[self.cluster] * self.work - mu * self.chance
        return float(np.where(self.cluster >= 0, cost, np.inf).min(axis=1).sum())

    @classmethod
    def of(cls, given: Given, lam: Floats, mu: float, limit: float, most: int = 10**6) -> Near:
        """By one pass over the times.

        Args:
            given: The round.
            lam: Prices of slot-seconds.
            mu: Price of success.
            limit: Seconds within which a task must be able to end.
            most: Clusters that a task looks at, at most.
        """
        r, t = given.round, given.terms
        m, n = r.shape
        k = min(max(_FEWEST, math.isqrt(int(_EFFORT / n))), m, most)
        cluster, cost = np.empty((n, k), np.int32), np.empty((n, k))
        starts = np.ascontiguousarray(t.starts)

        def work(first: int, last: int) -> None:
            nearest(
                first,
                last,
                r.times,
                r.success,
                given.size,
                starts,
                t.size_kind,
                lam,
                mu,
                t.previous,
                t.move_price,
                limit,
                cluster,
                cost,
            )

        _in_parts(given.threads, n, lambda part, first, last: work(first, last))
        row, column = np.maximum(cluster, 0), np.arange(n)[:, None]
        times = r.times[row, column]
        base = np.where(
            (t.previous[:, None] >= 0) & (t.previous[:, None] != row), t.move_price, 0.0
        )
        return cls(
            cluster,
            cost,
            np.where(cluster >= 0, given.size[:, None] * times, 0.0),  # no 0 x inf at a price of 0
            r.success[row, column],
            base,
            starts[row, t.size_kind[:, None]] + times,
        )


def _in_parts(threads: int, n: int, work: Callable[[int, int, int], None]) -> None:
    """``work(part, first task, last task)`` on parts of the tasks, whatever the threads."""
    edges = np.linspace(0, n, _PARTS + 1).astype(np.int64)

    def run(first: int, last: int) -> None:
        for part in range(first, last):
            work(part, int(edges[part]), int(edges[part + 1]))

    map_runs(threads, run, edges)


@dataclass(frozen=True, eq=False)
class _Line:
    """Capacities over an interval of times, each below a line ``at + slope * T``."""

    low: float
    high: float
    at: Floats
    slope: Floats

    @classmethod
    def over(cls, terms: Terms, low: float, high: float) -> _Line:
        high = max(high, low * (1.0 + 1e-6), 1e-300)
        first, last = terms.capacity(low), terms.capacity(high)
        slope = (last - first) / (high - low)
        return cls(low, high, first - slope * low, slope)


class _Dual:
    """The smooth dual function of prices, on clusters that are open within the limit."""

    def __init__(self, given: Given, line: _Line, near: Near, tau: float) -> None:
        self.given, self.line, self.near, self.tau = given, line, near, tau
        self.open = line.slope > 0.0
        self.barrier = tau * len(near.cluster) / max(int(self.open.sum()), 1)
        self.capped = math.isfinite(given.price)

    def value(self, lam: Floats, mu: float, *, curved: bool) -> tuple[float, Floats, Floats]:
        """The function, its gradient and minus its second derivative by (lam, mu)."""
        m, g, near = len(lam), self.given, self.near
        sums = np.zeros(_PARTS)
        gradient = np.zeros((_PARTS, m + 1))
        curvature = np.zeros((_PARTS if curved else 1, m + 1, m + 1))

        def work(part: int, first: int, last: int) -> None:
            sums[part] = smooth(
                first,
                last,
                near.cluster,
                near.work,
                near.chance,
                near.base,
                lam,
                mu,
                self.tau,
                curved,
                gradient[part],
                curvature[part if curved else 0],
            )

        _in_parts(g.threads, len(near.cluster), work)
        slope, second = gradient.sum(axis=0), np.tril(curvature.sum(axis=0)) / self.tau
        second = second + np.tril(second, -1).T
        own = self.open
        total = math.fsum(sums) + mu * g.goal - float(self.line.at[own] @ lam[own])
        total += self.barrier * float(np.log(lam[own]).sum())
        slope[:m] += np.where(own, self.barrier / np.where(own, lam, 1.0), 0.0) - self.line.at
        second[np.arange(m), np.arange(m)] += np.where(
            own, self.barrier / np.where(own, lam, 1.0) ** 2, 1.0
        )
        if g.floored:
            total += self.barrier * math.log(mu)
            slope[m] += g.goal + self.barrier / mu
            second[m, m] += self.barrier / mu**2
            if self.capped:
                spare = g.price - mu
                total += self.barrier * math.log(spare)
                slope[m] -= self.barrier / spare
                second[m, m] += self.barrier / spare**2
        return total, slope, second

    def direction(self, slope: Floats, second: Floats) -> tuple[Floats, float, float]:
        """Newton's direction with the prices' sum kept: of lam, of mu, and the rise along it."""
        m = len(self.open)
        free = np.append(self.open, self.given.floored)
        normal = np.append(self.line.slope, 0.0)[free]
        matrix = second[np.ix_(free, free)]
        both = np.linalg.solve(
            matrix + 1e-12 * np.diag(matrix.diagonal()), np.column_stack([slope[free], normal])
        )
        step = both[:, 0] - both[:, 1] * (normal @ both[:, 0]) / (normal @ both[:, 1])
        whole = np.zeros(m + 1)
        whole[free] = step
        return whole[:m], float(whole[m]), float(slope[free] @ step)


def _climb(dual: _Dual, lam: Floats, mu: float) -> tuple[Floats, float]:
    """Newton's method, the step halved until the function rises enough."""
    n, g = len(dual.near.cluster), dual.given
    for _ in range(_STEPS):
        value, slope, second = dual.value(lam, mu, curved=True)
        along, of_mu, rise = dual.direction(slope, second)
        if not rise > _SOLVED * dual.tau * n:
            break
        falling = dual.open & (along < 0.0)
        size = 1.0
        if falling.any():
            size = min(size, _WITHIN * float((-lam[falling] / along[falling]).min()))
        if of_mu < 0.0:
            size = min(size, -_WITHIN * mu / of_mu)
        if of_mu > 0.0 and dual.capped and g.floored:
            size = min(size, _WITHIN * (g.price - mu) / of_mu)
        for _ in range(_HALVINGS):
            if dual.value(lam + size * along, mu + size * of_mu, curved=False)[0] >= (
                value + _ARMIJO * size * rise
            ):
                break
            size *= 0.5
        else:
            break
        lam, mu = lam + size * along, mu + size * of_mu
    return lam, mu


def priced(given: Given, low: float, high: float, start: Prices | None = None) -> Prices:
    """Prices for placements that end within an interval, with the bound that they prove.

    Args:
        given: The round.
        low: No placement ends before.
        high: Placements that end later are of no interest.
        start: Prices to start from; of a part of the tasks if None.

    Returns:
        The prices. The bound holds for placements that end by ``high``.
    """
    line = _Line.over(given.terms, low, high)
    m, n = given.round.shape
    heat, step = _WARM, n // (_SAMPLE * m)
    if start is None:
        heat = _WARM if step > 1 else _FIRST
        if step > 1:
            start = priced(given.some(step), low, high)
            start = replace(start, mu=start.mu / step)
    lam, mu = _begin(given, line, start)
    near = Near.of(given, lam, mu, high)
    best = Prices(lam, mu, *_proved(given, line, lam, mu, near), near)
    for _ in range(_LOOKS):
        if heat <= _LAST:
            break
        to, of = _climb(_Dual(given, line, near, heat * high / n), lam, mu)
        hoped = near.least(to, of)
        for _ in range(_BACK):
            seen = Near.of(given, to, of, high)
            if hoped - seen.least(to, of) <= heat * high:
                break
            to, of = 0.5 * (lam + to), 0.5 * (mu + of)
            hoped = near.least(to, of)
        lam, mu, near = to, of, seen
        found = Prices(lam, mu, *_proved(given, line, lam, mu, near), near)
        best = found if found.bound >= best.bound else best
        heat *= _COOLING
    return best


def _begin(given: Given, line: _Line, start: Prices | None) -> tuple[Floats, float]:
    """Prices inside their domain."""
    own, n = line.slope > 0.0, given.round.shape[1]
    even = 1.0 / float(line.slope.sum())
    lam = np.full(len(own), even) if start is None else start.lam
    lam = np.where(own, np.maximum(lam, 1e-6 * even), 0.0)
    mu = 0.0
    if given.floored:
        mu = line.high / given.goal if start is None else start.mu
        mu = min(max(mu, 1e-9 * line.high / n), 0.5 * given.price)
    return lam / float(line.slope @ lam), mu


def _proved(given: Given, line: _Line, lam: Floats, mu: float, near: Near) -> tuple[float, float]:
    """The bound that prices prove, and the success that is missing at them."""
    sums = math.fsum(near.cost[:, 0]) + mu * given.goal
    lacking = max(given.goal - float(near.chance[:, 0].sum()), 0.0)
    capacity = given.terms.capacity
    if given.pays:
        ends = (line.low, line.high)
        return min(sums + by - float(lam @ capacity(by)) for by in ends), lacking
    low, high = line.low, line.high
    if sums <= float(lam @ capacity(low)):
        return low, lacking
    for _ in range(200):
        middle = 0.5 * (low + high)
        if sums > float(lam @ capacity(middle)):
            low = middle
        else:
            high = middle
        if high - low <= 1e-14 * high:
            break
    return low, lacking
