"""Finish-time fairness whose shares are the fairest of the best ones, to explain published cells.

The least largest ratio is nearly always that of one job that is almost done, and it leaves the
shares of all others open. The published runs took what their solver ended with; ours are central.
Here the largest ratio of the other jobs is minimised next, and so on: all of these are best.
"""

from __future__ import annotations

import numpy as np

from walras.policies.central import central_ratio
from walras.policies.finish_time import seconds_alone
from walras.rounds import JobsSnapshot, Shares
from walras.simulate.time_shared import Policy

_SAME = 1e-4  # ratios that differ by less, relative, are one level
_ROUNDING = 1e-6  # by which a level is kept, relative


def finish_time_levelled(levels: int = 12) -> Policy:
    """``finish_time_fairness()`` with other shares of the same value.

    Args:
        levels: How many levels are minimised, one after the other.
    """

    def decide(jobs: JobsSnapshot) -> Shares:
        if not len(jobs):
            return jobs.shares(np.zeros(jobs.speed.shape))
        speed, elapsed = np.where(jobs.fits, jobs.speed, 0.0), jobs.at - jobs.arrival
        alone, rate = seconds_alone(jobs, speed)
        due, kept = alone + jobs.left / rate, np.full(len(jobs), np.nan)
        workers = (jobs.size, jobs.workers, np.full(len(jobs), -1), jobs.paired)
        for _ in range(levels):
            found = central_ratio(speed, jobs.left, elapsed, due, *workers, kept=kept)
            ratio = (elapsed + jobs.left / (speed * found.time).sum(axis=1)) / due
            level = np.isnan(kept) & (ratio > found.value * (1.0 - _SAME))
            kept[level] = found.value * (1.0 + _ROUNDING)
            if not np.isnan(kept).any():
                break
        return jobs.shares(found.time, notes={"alone": alone, "left": jobs.left, "rate": rate})

    return decide
