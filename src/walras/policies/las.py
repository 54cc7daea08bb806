"""Least attained service: the job that is served least, relative to its due, is served most."""

from __future__ import annotations

import numpy as np

from walras.domains import cluster_scheduling
from walras.errors import InputError
from walras.policies.central import central_max_min
from walras.rounds import JobsSnapshot, Shares
from walras.simulate.time_shared import Policy
from walras.solving import solve
from walras.types import Floats


def las(by_speed: bool = False, sharing: bool = False, *, engine: str | None = None) -> Policy:
    """Least attained service: the least service of a job by its weight is as large as it can be.

    The service of job j with share x of its time by type is s_j(x) = size_j Σ_t r_jt x_jt, where
    r_jt is its speed on type t by its mean speed over all workers, or 1 if the policy is blind to
    speeds. Shares maximise min_j s_j(x) / weight_j. Source: Narayanan et al., OSDI 2020,
    section 4.1.

    Args:
        by_speed: Whether the policy knows speeds.
        sharing: Whether two jobs may share a worker; not there yet.
        engine: None for a central solution, which spreads the time that the least level leaves
            over; else an engine of :func:`walras.solve`, some of which give it to few jobs.

    Returns:
        The policy; its decisions carry value and bound.

    Raises:
        InputError: ``sharing`` is asked for.

    Example:
        >>> import walras as wl
        >>> from walras.rounds import JobsSnapshot
        >>> jobs = JobsSnapshot.of(["a", "b"], speed=[[3.0, 1.0], [1.0, 1.0]], workers=[1, 1])
        >>> round(wl.policies.las(by_speed=True)(jobs).value, 3)
        1.0
    """
    if sharing:
        raise InputError(
            "is not there yet",
            where="sharing",
            allowed="False",
            remedy="let each job have its workers alone",
        )
    name = "las by speed" if by_speed else "las"

    def decide(snapshot: JobsSnapshot) -> Shares:
        if not len(snapshot):
            return snapshot.shares(np.zeros(snapshot.speed.shape), policy=name, blind=not by_speed)
        service = _relative(snapshot) if by_speed else snapshot.fits.astype(np.float64)
        time, value, bound = _decided(snapshot, service * snapshot.size[:, None], engine)
        return snapshot.shares(time, policy=name, blind=not by_speed, value=value, bound=bound)

    decide.__name__ = name
    return decide


def _decided(
    snapshot: JobsSnapshot, service: Floats, engine: str | None
) -> tuple[Floats, float, float]:
    """(N, T) shares of time, the least service by weight, and its bound."""
    if engine is None:
        central = central_max_min(
            service / snapshot.weight[:, None], snapshot.size, snapshot.workers
        )
        return central.time, central.value, central.bound
    problem = cluster_scheduling.max_min(
        service.T, snapshot.size, snapshot.workers, snapshot.weight
    )
    found = solve(problem, engine=engine)
    return found.x.T, found.value, found.bound


def _relative(snapshot: JobsSnapshot) -> Floats:
    """(N, T) speed of each job by its mean speed over all workers."""
    speed = np.where(snapshot.fits, snapshot.speed, 0.0)
    mean = snapshot.speed @ snapshot.workers / snapshot.workers.sum()
    return np.asarray(speed / mean[:, None])
