"""The least makespan: all jobs that are there end as soon as they can all have ended."""

from __future__ import annotations

import numpy as np

from walras.domains import cluster_scheduling
from walras.rounds import JobsSnapshot, Shares
from walras.simulate.time_shared import Policy
from walras.solving import solve


def makespan(*, engine: str = "auto") -> Policy:
    """The least makespan: minimise the time at which the last job ends if shares are kept.

    Shares maximise min_j y_j / n_j, where y_j is the rate of job j and n_j are its steps left.
    Source: Narayanan et al., OSDI 2020, section 4.2.

    Args:
        engine: Of :func:`walras.solve`.

    Returns:
        The policy. Its ``value`` is the makespan in seconds from now, its ``bound`` the least one.

    Example:
        >>> import walras as wl
        >>> from walras.rounds import JobsSnapshot
        >>> jobs = JobsSnapshot.of(["a", "b"], speed=[[1.0], [1.0]], steps=[30, 10], workers=[1])
        >>> round(wl.policies.makespan()(jobs).value, 3)
        40.0
    """

    def decide(snapshot: JobsSnapshot) -> Shares:
        if not len(snapshot):
            return snapshot.shares(np.zeros(snapshot.speed.shape), policy="makespan")
        speed = np.where(snapshot.fits, snapshot.speed, 0.0)
        problem = cluster_scheduling.min_makespan(
            speed.T, snapshot.size, snapshot.workers, snapshot.left
        )
        found = solve(problem, engine=engine)
        return snapshot.shares(
            found.x.T, policy="makespan", value=1.0 / found.value, bound=1.0 / found.bound
        )

    decide.__name__ = "makespan"
    return decide
