r"""The dual function of few prices, smoothed, with its slope and curvature from one pass.

With the penalty h/2 |x|^2 a demand's shares move continuously with the prices p, so the dual

    D(p) = capacity·p + sum_j max_x [u_j(x) - p·x - h/2 |x|^2]

has a continuous slope, ``capacity - usage``, and a curvature wherever demands hesitate between two
resources. What the penalty costs is of the order h^2 a demand, since only those that hesitate
choose otherwise. For the least throughput t it is
``max_t [n log t - cost(p, t)] + capacity·p`` with n demands: each buys what it must have at least
cost, and a few Newton steps find the best t. The logarithm fixes the scale of the prices, which the
least throughput itself leaves open.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from walras.kernels.few_types.passes import Demanded, exactly, smoothed
from walras.separable.shares import Shares
from walras.types import Floats

_LEVEL_STEPS, _NEWTON_STEPS = 60, 4  # in the level; halvings follow
_LEVEL, _LOOSE = 1e-13, 0.01  # loss in the dual by an inexact level: relative; of short^2


@dataclass(frozen=True, eq=False)
class Point:
    """The smoothed dual at prices.

    Attributes:
        prices: (resources,) the prices.
        level: The least throughput at these prices; 0 where utilities are summed.
        value: The dual function.
        slope: (resources,) capacity minus usage.
        curvature: (resources, resources) of the dual function.
        objective: Of the shares, which may take more than there is; n log t of the least
            throughput t.
        scale: What a gap is relative to.
        is_highest: Whether the least throughput is at its ceiling.
        noise: By how much an inexact level may have lowered the value.
    """

    prices: Floats
    level: float
    value: float
    slope: Floats
    curvature: Floats
    objective: float
    scale: float
    is_highest: bool = False
    noise: float = 0.0


@dataclass(eq=False)
class Dual:
    """The dual of a problem of shares.

    Attributes:
        shares: The problem's arrays.
        threads: Threads of the passes.
        ceiling: The least throughput that the slowest demand can reach alone, where that counts;
            that of ``shares`` if negative.
        worth: (demands,) worth of one more unit to each demand, from the last pass.
        unit: A price at which a demand pays about what its fastest resource is worth.
        passes: Passes over all demands so far.
        short: How far the best point so far is from balance, which says how exact levels must be.
        is_ceiling_best: Whether no price proves a lower bound than the ceiling does.
    """

    shares: Shares
    threads: int
    ceiling: float = -1.0
    worth: Floats = field(init=False)
    passes: int = 0
    is_ceiling_best: bool = False
    short: float = 1.0

    def __post_init__(self) -> None:
        problem = self.shares
        self.worth = np.ones(problem.demands)
        if self.ceiling < 0.0:
            least = problem.is_least
            self.ceiling = float(np.min(problem.fastest() / problem.weight)) if least else 0.0
        self._level = 0.5 * self.ceiling
        self._at = np.zeros(problem.resources), np.zeros(problem.resources)
        fastest = problem.fastest()
        worth = 1.0 if problem.is_least else problem.weight * fastest ** (1.0 - problem.alpha)
        self.unit = float(np.mean(worth) / np.mean(problem.size))
        self._arrays = problem.speed, problem.size, problem.weight, problem.alpha

    def at(self, prices: Floats, h: float) -> Point:
        """The smoothed dual, by one pass or, for the least throughput, by a few."""
        if self.shares.is_least:
            return self._of_least(prices, h)
        found = self._pass(0.0, prices, h)
        slope = self.shares.capacity - found.usage
        value = float(self.shares.capacity @ prices) + found.utility - found.paid
        is_log = self.shares.alpha == 1.0
        scale = float(self.shares.weight.sum()) if is_log else max(abs(found.utility), abs(value))
        return Point(prices, 0.0, value, slope, found.curvature, found.utility, scale)

    def _predicted(self, prices: Floats) -> float:
        """By what factor the best level changes from the last prices to these, to first order."""
        before, pull = self._at
        return float(np.exp(np.clip(-pull @ (prices - before), -2.0, 2.0)))

    def begin_at(self, other: Dual) -> None:
        """Look for the level where another dual, such as that of a sample, found its own."""
        self._level, self._at = other._level, other._at

    def scaled(self, prices: Floats) -> Floats:
        """Prices of another solve on the scale of this dual: all capacity costs n for the least."""
        if not self.shares.is_least:
            return prices
        return prices * (self.shares.demands / float(self.shares.capacity @ prices))

    def write(self, point: Point, h: float) -> Floats:
        """(demands, resources) the shares at a point, which take no more than there is."""
        shares = np.empty((self.shares.demands, self.shares.resources))
        usage = self._pass(point.level, point.prices, h, shares).usage
        shares *= np.minimum(1.0, self.shares.capacity / np.maximum(usage, 1e-300))
        return shares

    def bound(self, point: Point) -> float:
        """The dual without a penalty, which no objective exceeds; also leaves the exact worths."""
        utility, paid, worth = exactly(
            self._arrays, point.level, point.prices, self.worth, self.threads
        )
        self.passes += 1
        left = float(self.shares.capacity @ point.prices) - paid
        if not self.shares.is_least:
            return left + utility
        count = self.shares.demands
        paid_for = max(worth, count) if point.level >= self.ceiling else worth
        most = point.level * (1.0 + left / max(paid_for, 1e-300))
        self.is_ceiling_best = point.is_highest or most >= self.ceiling
        return count * float(np.log(min(self.ceiling, most)))

    def _pass(
        self, level: float, prices: Floats, h: float, shares: Floats | None = None
    ) -> Demanded:
        self.passes += 1
        return smoothed(self._arrays, level, prices, h, self.worth, self.threads, shares)

    def _of_least(self, prices: Floats, h: float) -> Point:
        """The dual at the best level, where its slope in log level, count - worth, is 0."""
        count, capacity = self.shares.demands, self.shares.capacity
        level = min(self._level * self._predicted(prices), self.ceiling)
        low, high = 0.0, self.ceiling
        enough = max(_LEVEL, min(_LOOSE * self.short**2, _LOOSE**2))
        for k in range(_LEVEL_STEPS):
            found = self._pass(level, prices, h)
            slope, bend = count - found.worth, found.worth + found.bend
            low, high = (level, high) if slope > 0 else (low, level)
            loss = 0.5 * min((slope / count) ** 2, 1.0)  # the curvature is at least about count
            if loss <= enough or (slope >= 0 and level >= self.ceiling):
                break
            wish = level * float(np.exp(np.clip(slope / max(bend, 1e-300), -2.0, 2.0)))
            if slope > 0 and wish >= high == self.ceiling:
                level = high
            else:
                level = wish if low < wish < high and k < _NEWTON_STEPS else 0.5 * (low + high)
        self._at = prices, found.mixed / bend
        self._level = level
        curvature = found.curvature
        if level < self.ceiling:
            curvature = curvature + np.outer(found.mixed, found.mixed) / bend
        total = count * float(np.log(level))
        value = float(capacity @ prices) + total - found.paid
        top, slope_p = level >= self.ceiling, capacity - found.usage
        return Point(
            prices,
            level,
            value,
            slope_p,
            curvature,
            total,
            float(count),
            top,
            0.0 if top else loss * count,
        )
