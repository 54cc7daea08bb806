"""Proportional fairness: the product of the jobs' rates is as large as it can be."""

from __future__ import annotations

import numpy as np

from walras.domains import cluster_scheduling
from walras.rounds import JobsSnapshot, Shares
from walras.simulate.time_shared import Policy
from walras.solving import solve


def proportional_fairness(*, engine: str = "auto") -> Policy:
    """Proportional fairness: maximise Σ_j weight_j log y_j, where y_j is the rate of job j.

    Sources: Kelly, 1997; Xu et al., OSDI 2025, section 5.1.

    Args:
        engine: Of :func:`walras.solve`.

    Returns:
        The policy; its decisions carry value and bound.

    Example:
        >>> import walras as wl
        >>> from walras.rounds import JobsSnapshot
        >>> jobs = JobsSnapshot.of(["a", "b"], speed=[[1.0], [9.0]], workers=[1])
        >>> wl.policies.proportional_fairness()(jobs).time.round(3).tolist()
        [[0.5], [0.5]]
    """
    name = "proportional fairness"

    def decide(snapshot: JobsSnapshot) -> Shares:
        if not len(snapshot):
            return snapshot.shares(np.zeros(snapshot.speed.shape), policy=name)
        speed = np.where(snapshot.fits, snapshot.speed, 0.0)
        problem = cluster_scheduling.proportional_fairness(
            speed.T, snapshot.size, snapshot.workers, snapshot.weight
        )
        found = solve(problem, engine=engine)
        return snapshot.shares(found.x.T, policy=name, value=found.value, bound=found.bound)

    decide.__name__ = name
    return decide
