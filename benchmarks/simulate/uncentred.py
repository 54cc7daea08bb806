"""Packed max-min fairness whose solver stops before the centre, to explain the published cells.

The time that the least level leaves over is spread as the solver ends. The published runs' solver
ended near the centre of the best shares, as Mehrotra's steps do; ours goes to the centre itself.
"""

from __future__ import annotations

import numpy as np

from walras.policies.central import central_max_min
from walras.policies.solved import mean_speed
from walras.rounds import JobsSnapshot, Shares
from walras.simulate.time_shared import Policy


def las_uncentred() -> Policy:
    """``las(by_speed=True, sharing=True)`` with another solution of the same value."""

    def decide(jobs: JobsSnapshot) -> Shares:
        if not len(jobs):
            return jobs.shares(np.zeros(jobs.speed.shape))
        found = central_max_min(
            np.where(jobs.fits, jobs.speed, 0.0),
            jobs.size / jobs.weight / mean_speed(jobs),
            jobs.size,
            jobs.workers,
            jobs.group,
            jobs.paired,
            centred=False,
        )
        return jobs.shares(found.time, pair=found.pair, pair_time=found.pair_time)

    return decide
