"""Other solutions of max-min fairness than the policies take, to explain the published cells.

Which of the best shares are taken decides how long jobs take. ``las`` ends where ECOS does, and its
program has time for pairs on types where they do not run, too.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from walras.policies.central import central_max_min
from walras.policies.solved import mean_speed
from walras.rounds import JobsSnapshot, Shares
from walras.simulate.time_shared import Policy


def las_at_centre(*, sharing: bool) -> Policy:
    """``las(by_speed=True)`` at the centre of the best shares, with time only where jobs run.

    Args:
        sharing: Whether two jobs may share their workers.
    """

    def decide(jobs: JobsSnapshot) -> Shares:
        if not len(jobs):
            return jobs.shares(np.zeros(jobs.speed.shape))
        found = central_max_min(
            np.where(jobs.fits, jobs.speed, 0.0),
            jobs.size / jobs.weight / mean_speed(jobs),
            jobs.size,
            jobs.workers,
            jobs.group if sharing else np.full(len(jobs), -1),
            jobs.paired,
        )
        return jobs.shares(found.time, pair=found.pair, pair_time=found.pair_time)

    return decide


las_centred = partial(las_at_centre, sharing=False)
las_fitting = partial(las_at_centre, sharing=True)
