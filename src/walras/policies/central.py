"""Central solutions of time-shared rounds: the time that the best level leaves over is spread.

Max-min fairness and finish-time fairness have many solutions. A vertex gives the time that is left
over to few jobs; the analytic centre of the solutions, near which interior-point methods end, gives
all jobs part of it. There, jobs that are alike have alike shares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from walras.policies.central_units import (
    Classes,
    classes_of,
    most,
    program,
    rows_of,
    shares,
    units_of,
    within,
)
from walras.programs.central_path import Level, end_of_path, linear
from walras.types import Bools, Floats, Longs

_ROUNDING = 1e-15  # of a root, relative


@dataclass(frozen=True, eq=False)
class Central:
    """Shares of time at the centre of the best ones.

    Attributes:
        time: (N, T) shares of time of jobs alone.
        pair: (P, 2) places of the jobs that may share workers, in order.
        pair_time: (P, T) shares of time of pairs.
        value: What these shares come to: the least service, or the largest ratio.
        bound: What no shares can better.
    """

    time: Floats
    pair: Longs
    pair_time: Floats
    value: float
    bound: float


def central_max_min(
    speed: Floats,
    worth: Floats,
    size: Longs,
    workers: Longs,
    group: Longs,
    paired: Floats,
) -> Central:
    """Maximise the least service of a job over shares of time, at the central solution.

    The service of a job is its worth times its steps a second, alone and beside other jobs.

    Args:
        speed: (N, T) steps a second that a job does alone; 0 where it cannot run.
        worth: (N,) of a step a second of each job, > 0.
        size: (N,) workers that a job occupies.
        workers: (T,) workers of each type.
        group: (N,) group of a job by its speed beside others; -1 where it shares with nobody.
        paired: (G, G, T) steps a second of a job of one group beside one of another; 0 where the
            two do not fit. Jobs of one size share workers of the types on which both run alone.

    Returns:
        The shares; they keep to all rows, and value and bound are computed from them and from the
        prices alone.
    """
    best = float((speed * worth[:, None]).max(initial=0.0))
    if best == 0.0:
        time, pair = np.zeros(speed.shape), np.zeros((0, 2), np.int64)
        return Central(time, pair, np.zeros((0, len(workers))), 0.0, 0.0)
    classes = classes_of(speed, worth / best, size, group)
    units = units_of(classes, paired)
    n, none = classes.count.astype(np.float64), np.zeros(len(workers))
    slope = rows_of(np.where(classes.runs, n, 0.0), 0.0 * n, none)
    found = end_of_path(program(classes, units, workers, linear(slope)))
    x = within(found.x, classes, units, workers)
    value = best * float((units.served(x) / n).min())
    bound = 0.0  # where a job can run nowhere
    if classes.runs.all():
        # With weights l_j that sum to one, min_j s_j is at most Σ_j l_j s_j.
        bound = best * most(classes, units, workers, found.prices) / float(slope @ found.prices)
    return Central(*shares(x, classes, units, workers), value, bound)


def central_ratio(
    speed: Floats,
    left: Floats,
    elapsed: Floats,
    due: Floats,
    size: Longs,
    workers: Longs,
    group: Longs,
    paired: Floats,
    *,
    kept: Floats | None = None,
) -> Central:
    """Minimise the largest ratio of a job's time in all to its due, at the central solution.

    The ratio of job j is (elapsed_j + left_j / y_j) / due_j, where y_j are its steps a second. A
    ratio r asks for y_j >= left_j / (r due_j - elapsed_j), which is convex in r.

    Args:
        speed: (N, T) steps a second that a job does alone; 0 where it cannot run. Every job runs on
            some type.
        left: (N,) steps left, > 0.
        elapsed: (N,) seconds since each job arrived, >= 0.
        due: (N,) seconds in all for a ratio of one, > 0.
        size: (N,) workers that a job occupies.
        workers: (T,) workers of each type.
        group: (N,) group of a job by its speed beside others; -1 where it shares with nobody.
        paired: (G, G, T) steps a second of a job of one group beside one of another; 0 where the
            two do not fit. Jobs of one size share workers of the types on which both run alone.
        kept: (N,) ratios that some jobs keep to, and shares can; the largest of the others, whose
            entries are NaN, is minimised. None for all jobs.

    Returns:
        The shares; they keep to all rows, and value and bound are computed from them and from the
        prices alone.
    """
    best = speed.max(axis=1)
    classes = Classes.apart(speed, 1.0 / best, size, group)
    units = units_of(classes, paired)
    kept = np.full(len(left), np.nan) if kept is None else kept
    jobs = _Ratios(left / best, elapsed, due, kept)
    even = np.minimum(speed @ workers / (best * size * len(size)), 1.0)
    asked = program(
        classes,
        units,
        workers,
        jobs.asked(len(workers)),
        start=-2.0 * jobs.largest(even),
        ceiling=-float((elapsed / due)[jobs.free].max()),
    )
    prices = (found := end_of_path(asked)).prices
    x = within(found.x, classes, units, workers)
    value = jobs.largest(units.served(x))
    brings = most(classes, units, workers, prices)
    bound = jobs.bound(value, units.fastest, prices[: 2 * len(left) : 2], brings)
    return Central(*shares(x, classes, units, workers), value, bound)


@dataclass(frozen=True, eq=False)
class _Ratios:
    """Ratios of jobs.

    Attributes:
        alone: (N,) seconds left at the unit of service.
        elapsed: (N,) seconds since arrival.
        due: (N,) seconds in all for a ratio of one.
        kept: (N,) ratios that jobs keep to; NaN for the others, the free ones.
    """

    alone: Floats
    elapsed: Floats
    due: Floats
    kept: Floats

    @property
    def free(self) -> Bools:
        """(N,) whether a job is free."""
        return np.isnan(self.kept)

    def largest(self, service: Floats) -> float:
        """The largest ratio of a free job at (N,) services."""
        return float(((self.elapsed + self.alone / service) / self.due)[self.free].max())

    def service(self, ratio: float) -> Floats:
        """(N,) services that jobs need for a ratio of the free ones."""
        return self.alone / (np.where(self.free, ratio, self.kept) * self.due - self.elapsed)

    def asked(self, types: int) -> Level:
        """What the level l asks of the rows, where l is the ratio with a minus sign."""
        none, other = np.zeros(len(self.due)), np.zeros(types)

        def at(level: float) -> tuple[Floats, Floats, Floats]:
            service = self.service(-level)
            rate = self.free * service / self.alone * self.due
            parts = (service, service * rate, 2.0 * service * rate * rate)
            asked, slope, bend = (rows_of(part, none, other) for part in parts)
            return asked, slope, bend

        return at

    def bound(self, value: float, fastest: Floats, pulls: Floats, most: float) -> float:
        """The ratio that no shares are below, where Σ_j pulls_j s_j is at most that for all shares:
        at lower ratios the services that are asked for would come to more.
        """

        def excess(ratio: float) -> float:
            return float(pulls @ self.service(ratio)) - most

        least = self.largest(fastest)
        if excess(least) <= 0.0:
            return min(least, value)
        if excess(value) >= 0.0:
            return value
        return float(scipy.optimize.brentq(excess, least, value, xtol=1e-300, rtol=_ROUNDING))
