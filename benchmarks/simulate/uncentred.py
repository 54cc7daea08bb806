"""Max-min fairness whose solver stops before the centre, to explain the published cells.

The time that the least level leaves over is spread as the solver ends. The published runs' solver
ended near the centre of the best shares, as Mehrotra's steps do; ours goes to the centre itself.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from walras.policies.central import central_max_min
from walras.policies.solved import mean_speed, relative_service
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


def las_by_clarabel() -> Policy:
    """``las(by_speed=True)`` by the published program, with the shares where Clarabel ends."""

    def decide(jobs: JobsSnapshot) -> Shares:
        if not len(jobs):
            return jobs.shares(np.zeros(jobs.speed.shape))
        service = relative_service(jobs, by_speed=True) / jobs.weight[:, None]
        time, level = cp.Variable(service.shape, nonneg=True), cp.Variable()
        rows = [
            cp.sum(cp.multiply(service, time), axis=1) >= level,
            cp.sum(time, axis=1) <= 1.0,
            jobs.size @ time <= jobs.workers,
        ]
        cp.Problem(cp.Maximize(level), rows).solve(solver=cp.CLARABEL)
        found = np.where(jobs.fits, np.clip(time.value, 0.0, 1.0), 0.0)
        found /= np.maximum(1.0, found.sum(axis=1, keepdims=True))
        return jobs.shares(found / np.maximum(1.0, jobs.size @ found / jobs.workers))

    return decide
