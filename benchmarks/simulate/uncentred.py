"""Other solutions of max-min fairness than the policies take, to explain the published cells.

Which of the best shares are taken decides how long jobs take. ``las`` ends where Clarabel does, as
the published runs ended where their interior-point method did; with sharing, it goes to the centre.
Here it is the other way round.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from walras.policies.central import central_max_min
from walras.policies.solved import mean_speed
from walras.rounds import JobsSnapshot, Shares
from walras.simulate.time_shared import Policy


def las_elsewhere(*, sharing: bool, centred: bool) -> Policy:
    """``las(by_speed=True)`` with another solution of the same value.

    Args:
        sharing: Whether two jobs may share their workers.
        centred: Whether to go to the centre; if not, Mehrotra's steps end somewhere near it.
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
            centred=centred,
        )
        return jobs.shares(found.time, pair=found.pair, pair_time=found.pair_time)

    return decide


las_centred = partial(las_elsewhere, sharing=False, centred=True)
las_uncentred = partial(las_elsewhere, sharing=True, centred=False)
