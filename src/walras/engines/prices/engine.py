"""The engine of few prices: from a sample of the demands to all of them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from walras.engines.base import Engine
from walras.engines.options import number
from walras.engines.prices.dual import Dual, Point
from walras.engines.prices.newton import minimised, shortfall
from walras.errors import EngineError
from walras.iterate import Iterate
from walras.progress import Progress, Timings
from walras.progress_log import IterationLog
from walras.separable.form import Separable
from walras.separable.shares import Shares, shares_of
from walras.settings import Settings
from walras.status import Status
from walras.types import Floats

MOST = 64  # resources: a Newton step costs their square a demand that hesitates
_ROUGH = 1e-3  # balance that is enough on the sample, and before the last penalty
_LARGEST = 0.3  # penalty to begin with, relative to the worth of a resource
_FIRST = 0.3  # prices to begin with, relative to it
_SEED = 0  # of the sample
_PROVED = 0.7  # of the tolerance, at which the certificate will agree
_BALANCE = 0.1  # of the tolerance, to which usage and prices are balanced
_FALL = 0.3  # of the penalty where the gap is still too large
_LEAST = 1e-9  # penalty
_STEPS = 60  # of Newton at one penalty; where they do not end it, hardly any demand hesitates
_HOPELESS = 100.0  # times the best gap, at which smaller penalties do not help


@dataclass(frozen=True, repr=False)
class Prices(Engine):
    """Newton's method on the prices of few resources, for very many demands.

    The dual function has one number a resource, and one pass over all demands gives its value,
    slope and curvature. The prices of a random sample of the demands are the start; a few passes
    over all of them end it. Shares are those that demands choose at the prices under a small
    penalty, h/2 times the sum of their squares, which splits ties. Memory: the shares, and one
    number a demand.

    It takes problems of shares alone: every demand may use every resource, its shares sum to 1 at
    most, and alpha-fair utilities or the least throughput are maximised. ``auto`` takes it where
    demands are many.

    Attributes:
        sample: Demands of the sample, at least 1.
        penalty: The penalty h at the tolerance 1e-6, relative to the worth of a demand's fastest
            resource, > 0. It falls where the gap asks for less.

    Raises:
        InputError: An option is outside its range.

    Example:
        >>> import numpy as np, walras as wl
        >>> cs, rng = wl.domains.cluster_scheduling, np.random.default_rng(0)
        >>> speed = rng.uniform(0.1, 1.0, (3, 5000)).astype(np.float32)
        >>> problem = cs.proportional_fairness(speed, np.ones(5000), [1000.0, 900.0, 800.0])
        >>> s = wl.solve(problem, engine=wl.engines.Prices())
        >>> s.engine, s.gap <= 1e-6
        ('prices', True)
    """

    name = "prices"

    sample: int = number(16_384, 1, 10**9, whole=True)
    penalty: float = number(1e-3, 1e-9, 1.0)

    def accepts(self, problem: Separable) -> str | None:
        """Say why the engine cannot solve a problem, or None if it can.

        Args:
            problem: The problem.

        Returns:
            The reason in a few words, or None.
        """
        if problem.shape[0] > MOST:
            return f"has {problem.shape[0]} resources; the engine of few prices takes {MOST}"
        if problem.objective == "leximin":
            return "has levels, of which the later ones keep what the earlier ones gave"
        if shares_of(problem) is None:
            return "is not of shares alone: all pairs, one row a resource, one or two a demand"
        return None

    def solve(self, problem: Separable, settings: Settings) -> Iterate:
        """Prices of a sample, then of all demands; the shares at the last penalty.

        Args:
            problem: A problem of shares.
            settings: ``start`` gives the first prices, in place of the sample's.

        Returns:
            The shares, with the prices of all rows.

        Raises:
            EngineError: The problem is of another form.
        """
        self.require(problem)
        shares = shares_of(problem)
        if shares is None:  # require has refused it
            raise EngineError("not of shares", where="engine 'prices'", allowed="", remedy="")
        return _Run(self, problem, shares, settings).solve()


@dataclass(eq=False)
class _Run:
    """One solve."""

    engine: Prices
    problem: Separable
    shares: Shares
    settings: Settings
    began: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        self.log = IterationLog(self.settings)
        self._steps = min(_STEPS, self.settings.max_iterations)

    def solve(self) -> Iterate:
        """The shares at the best prices, and the prices of all rows."""
        dual, point, h, status = Dual(self.shares, self.settings.workers), None, 0.0, None
        try:
            point, h = self._begun(dual)
            built = time.perf_counter()
            point, h = self._proved(dual, point, h)
            status = self.log.outcome
        except KeyboardInterrupt:
            if point is None:
                raise
            status = Status.INTERRUPTED
        x = dual.write(point, h)
        dual.bound(point)
        return Iterate(
            x=self._entries(x),
            t=np.array([point.level] if self.shares.is_least else []),
            prices=self._row_prices(dual, point),
            status=status or Status.OPTIMAL,
            history=self.log.history,
            timings=Timings(build=built - self.began, iterate=time.perf_counter() - built),
        )

    def _begun(self, dual: Dual) -> tuple[Point, float]:
        """Prices to begin with: known ones, a sample's, or those of large penalties."""
        wanted = self.engine.penalty * np.sqrt(self.settings.tolerance / 1e-6)
        h = float(np.clip(wanted, _LEAST, _LARGEST))
        start = self.settings.start
        m, n = self.shares.resources, self.shares.demands
        if start is not None and np.all(start.prices[:m] >= 0.0) and np.any(start.prices[:m] > 0.0):
            return dual.at(dual.scaled(start.prices[:m]), h), h
        if n > 2 * self.engine.sample:
            rng = np.random.default_rng(_SEED)
            chosen = np.sort(rng.choice(n, self.engine.sample, replace=False)).astype(np.int32)
            sampled = Dual(self.shares.sample(chosen), dual.threads, dual.ceiling)
            prices = self._descended(sampled, h).prices
            dual.begin_at(sampled)
            return dual.at(prices, h), h
        return self._descended(dual, h), h

    def _descended(self, dual: Dual, last: float) -> Point:
        """The best prices at a penalty, by way of larger ones."""
        shares, h = dual.shares, _LARGEST
        point = dual.at(np.full(shares.resources, _FIRST * dual.unit), h)
        while True:
            point = minimised(dual, point, h, _ROUGH, self._steps, self._is_late)
            if h <= last:
                return point
            h = max(last, _FALL * h)
            point = dual.at(point.prices, h)

    def _is_late(self, point: Point) -> bool:
        """Whether the time limit is over, at any point."""
        del point
        return time.perf_counter() > self.log.deadline

    def _proved(self, dual: Dual, point: Point, h: float) -> tuple[Point, float]:
        """Balance at smaller and smaller penalties until the gap is within the tolerance.

        Where whole classes of demands hesitate, prices move in proportion to the penalty; the last
        two tell where they go. The best point so far is kept.
        """
        aim, best, known = _BALANCE * self.settings.tolerance, (np.inf, point, h), (point.prices, h)
        while True:
            point = minimised(dual, point, h, aim, self._steps, self._record)
            bound = dual.bound(point)
            gap = (bound - point.objective) / point.scale + shortfall(point, self.shares.capacity)
            over = self._record(point, bound, gap, h)
            best = min(best, (gap, point, h), key=lambda each: each[0])
            worse = gap > _HOPELESS * best[0]
            if over or worse or gap <= _PROVED * self.settings.tolerance or h <= _LEAST:
                return best[1], best[2]
            smaller = max(_LEAST, _FALL * h)
            pace = (smaller - h) / (h - known[1]) if h < known[1] else 0.0
            start = np.maximum(point.prices + pace * (point.prices - known[0]), 0.0)
            known, h = (point.prices, h), smaller
            point = dual.at(start, h)

    def _record(
        self, point: Point, bound: float = np.nan, gap: float = np.nan, h: float = np.nan
    ) -> bool:
        """Record a step; True where it is time to stop."""
        sign = 1.0 if self.problem.maximize else -1.0
        least, n = self.shares.is_least, self.shares.demands
        value, bound = (
            float(np.exp(each / n)) if least else each for each in (point.objective, bound)
        )
        return self.log.record(
            Progress(
                iteration=self.log.steps,
                elapsed=self.log.elapsed,
                value=sign * value,
                bound=sign * bound,
                gap=gap,
                primal_residual=shortfall(point, self.shares.capacity),
                note="" if np.isnan(h) else f"penalty {h:.1g}",
            )
        )

    def _entries(self, x: Floats) -> Floats:
        """(entries,) the shares; pairs that cannot run are no entries."""
        return x.ravel() if self.problem.entries == x.size else x[self.shares.speed.T > 0.0]

    def _row_prices(self, dual: Dual, point: Point) -> Floats:
        """(rows,) prices of capacity and throughput; those of time follow from these."""
        shares, worth = self.shares, dual.worth
        m, n = shares.resources, shares.demands
        prices = np.zeros(m + n if shares.alpha == 0.0 else m + 2 * n)
        prices[:m] = point.prices
        if shares.alpha == 0.0:
            return prices
        own = prices[m + n :]
        if shares.is_least:
            slowest = np.argmin(shares.fastest() / shares.weight)
            if dual.is_ceiling_best:
                prices[:m], own[slowest] = 0.0, 1.0
                return prices
            prices[:m] *= point.level / n
            np.divide(worth, shares.fastest(), out=own)
            own *= shares.weight
            own *= point.level / n
            if point.level >= dual.ceiling:
                own[slowest] += max(0.0, 1.0 - float(own.sum()))
            return prices
        np.power(shares.fastest(), -shares.alpha, out=own)
        own *= worth
        own *= -shares.weight
        return prices
