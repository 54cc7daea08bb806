"""Intervals of differences: days are drawn again, and all that follows from them is made anew.

In each draw the counterfactual times are fitted to the days drawn, and the placements of the policy
run again in their order with these times. So an interval holds what days vary and what the times of
moved jobs are not known of. A deviation is divided by the standard error of its own draw, so that
few or skewed days do not make the interval too narrow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from walras.kernels.queues import run_in_order
from walras.shadow.counterfactual import Model, Observed
from walras.shadow.measures import MEASURES, Days, means
from walras.shadow.replay import Arrivals, Placed
from walras.types import Floats, Longs

_FEWEST = 40  # draws that even a comparison that was stopped has
_LEAST_ERROR = 0.25  # of a draw, as a share of that of all days


@dataclass(frozen=True, eq=False)
class Rerun:
    """The policy's placements, to be run again with other times.

    Attributes:
        jobs: The replayed jobs as the log has them.
        days: The days that are measured.
        given: The arrivals.
        placed: The placements.
        round_seconds: Seconds between rounds.
    """

    jobs: Observed
    days: Days
    given: Arrivals
    placed: Placed
    round_seconds: float

    def __post_init__(self) -> None:
        run = np.flatnonzero(self.placed.cluster >= 0)
        order = run[np.argsort(self.placed.start[run], kind="stable")]
        object.__setattr__(self, "_order", order)

    def sums(self, model: Model) -> tuple[Floats, Longs]:
        """Measures of each day with the times of a model.

        Args:
            model: The model.

        Returns:
            (5, K) sums and (K,) jobs.
        """
        given, order = self.given, self._order  # type: ignore[attr-defined]
        cluster = self.placed.cluster[order]
        seconds = model.seconds(self.jobs, order, cluster)
        ahead, n = len(given.busy_end), len(given)
        begin = np.full(ahead, given.cut - 1.0)
        start = run_in_order(
            np.concatenate([given.busy_cluster, cluster]),
            np.concatenate([begin, given.submit[order]]),
            np.concatenate([given.busy_end - begin, seconds]),
            np.concatenate([given.busy_slots, given.slots[order]]),
            given.capacity,
            np.array([given.cut, self.round_seconds]),
        )[ahead:]
        failed = model.failures(self.jobs, order, cluster)
        starts, times, fails, price = (np.zeros(n) for _ in range(4))
        starts[order], times[order] = start, seconds
        fails[order], price[order] = failed, given.price[cluster]
        return self.days.sums(starts, times, fails, price)


@dataclass(frozen=True, eq=False)
class Draws:
    """What days drawn again gave.

    Attributes:
        deviation: (draws, 5) of the differences from those of all days once.
        error: (draws, 5) standard errors from the days drawn.
        point: (5,) the standard error from all days once.
    """

    deviation: Floats
    error: Floats
    point: Floats


def deviations(
    rerun: Rerun,
    log: Floats,
    resamples: int,
    seed: int,
    on_count: Callable[[int], bool] | None = None,
) -> Draws:
    """By how much each difference moves when days are drawn again.

    Args:
        rerun: The placements.
        log: (5, K) sums of what the log did.
        resamples: How often days are drawn.
        seed: Seed of the draws.
        on_count: Called with the draws that are done; True ends them, after 40 at the least.

    Returns:
        The draws.
    """
    rng, days = np.random.default_rng((seed, 7)), rerun.days
    base, factor = Model.fit(rerun.jobs), _stretch(rerun)
    sums, jobs = rerun.sums(base)
    point = means(sums - log, jobs)
    once = np.ones(days.count)
    error = _error(sums - log, jobs, once, point)
    found, errors = [], []
    for done in range(resamples):
        asked = on_count is not None and on_count(done)
        if asked and done >= _FEWEST:
            break
        drawn_days = rng.integers(0, days.count, days.count)
        weight: Floats = np.bincount(drawn_days, minlength=days.count).astype(np.float64)
        of_job = np.where(days.day >= 0, weight[np.maximum(days.day, 0)], 1.0)
        sums, _ = rerun.sums(Model.fit(rerun.jobs, of_job).apart(base, factor))
        drawn = means(sums - log, jobs, weight)
        found.append(drawn - point)
        errors.append(_error(sums - log, jobs, weight, drawn))
    shape = (len(found), len(MEASURES))
    return Draws(np.array(found).reshape(shape), np.array(errors).reshape(shape), error)


def _error(sums: Floats, jobs: Longs, weight: Floats, mean: Floats) -> Floats:
    """(5,) standard errors of means over days, from how much the days differ."""
    rest = sums - mean[:, None] * np.stack([np.ones(len(jobs)), *[jobs] * (len(sums) - 1)])
    squares = rest**2 @ weight
    size = np.array([weight.sum(), *[weight @ jobs] * (len(sums) - 1)])
    found: Floats = np.sqrt(squares) / np.maximum(size, 1.0)
    return found


def _stretch(rerun: Rerun) -> Floats:
    """(K, M) by which deviations of means are to grow: the root of days over days less one."""
    jobs = rerun.jobs
    pairs = np.unique(np.stack([jobs.cell, rerun.days.day]), axis=1)[0]
    days = np.bincount(pairs, minlength=jobs.runs.size).reshape(jobs.runs.shape)
    many = np.maximum(days, 2)
    return np.where(jobs.supported, np.sqrt(many / (many - 1.0)), 1.0)


def ends(draws: Draws, days: int, level: float) -> Floats:
    """Half the interval of each difference: the wider of two that differ on few or skewed days.

    One is the symmetric studentised bootstrap (Hall, 1988), which mends skewness; the other the t
    interval with the standard deviation of the draws. Days that are drawn from K vary by
    (K - 1) / K of what days do, so both are stretched by the root.

    Args:
        draws: The draws.
        days: K.
        level: Probability that an interval holds.

    Returns:
        (5,) what is to be added and subtracted; infinite where nothing was drawn.
    """
    if len(draws.deviation) < 2:
        return np.full(len(MEASURES), np.inf)
    # A draw of few distinct days has next to no error of its own, and would count without end.
    error = np.maximum(draws.error, np.maximum(_LEAST_ERROR * draws.point, 1e-300))
    studentised = np.quantile(np.abs(draws.deviation) / error, level, axis=0) * draws.point
    plain = stdtrit(days - 1, 0.5 + level / 2.0) * draws.deviation.std(axis=0, ddof=1)
    found: Floats = np.maximum(studentised, plain) * np.sqrt(days / (days - 1.0))
    return found
