"""Least attained service: the job that is served least, relative to its due, is served most."""

from __future__ import annotations

import numpy as np

from walras.domains import cluster_scheduling
from walras.policies.interior_end import interior_max_min
from walras.policies.options import needs_speeds
from walras.policies.solved import (
    NO_PAIRS,
    checked_engine,
    mean_speed,
    needs_near_weights,
    needs_types,
    relative_service,
    shares_of,
)
from walras.rounds import JobsSnapshot, Shares
from walras.simulate.time_shared import Policy
from walras.solving import solve
from walras.types import Floats, Longs


def las(by_speed: bool = False, sharing: bool = False, *, engine: str | None = None) -> Policy:
    """Least attained service: the least service of a job by its weight is as large as it can be.

    The service of job j with share x of its time by type is s_j(x) = size_j Σ_t r_jt x_jt, where
    r_jt is its speed on type t by its mean speed over all workers, or 1 if the policy is blind to
    speeds. Shares maximise min_j s_j(x) / weight_j. Source: Narayanan et al., OSDI 2020,
    section 4.1.

    Many shares have the best least service, and which of them are taken decides how long jobs take.
    Here they are those where an interior-point method ends, that of ECOS at a gap of 1e-8. The
    published runs took this end, and so their mean completion times come out. With
    sharing each pair of jobs of one size may have time on each type, as in the published program;
    where it does not run, that time is left free. Jobs that are alike have alike shares, so that
    the cost of a decision grows with the kinds of jobs, not with jobs and all their pairs.

    Args:
        by_speed: Whether the policy knows speeds.
        sharing: Whether two jobs may share their workers, where the trace has speeds of pairs.
        engine: None for these shares, which spread the time that the least level leaves over; else
            an engine of :func:`walras.solve`, some of which give it to few jobs.

    Returns:
        The policy; its decisions carry value and bound.

    Raises:
        InputError: ``sharing`` is asked for without ``by_speed``, there is no such engine, or, in a
            round, a job can run nowhere or, with the engine ``exact``, has over 1e8 times the
            weight of another.

    Example:
        >>> import walras as wl
        >>> from walras.rounds import JobsSnapshot
        >>> jobs = JobsSnapshot.of(["a", "b"], speed=[[3.0, 1.0], [1.0, 1.0]], workers=[1, 1])
        >>> round(wl.policies.las(by_speed=True)(jobs).value, 3)
        1.0
    """
    needs_speeds(by_speed=by_speed, sharing=sharing)
    if engine is not None:
        checked_engine(engine)
    name = "las" + (" by speed" if by_speed else "") + (" sharing" if sharing else "")

    def decide(snapshot: JobsSnapshot) -> Shares:
        if not len(snapshot):
            return snapshot.shares(np.zeros(snapshot.speed.shape), policy=name, blind=not by_speed)
        needs_types(snapshot)
        size, workers = snapshot.size, snapshot.workers
        if engine is None:
            unit = float(snapshot.weight.min())  # so that only ratios of weights matter
            worth = size * unit / snapshot.weight / (mean_speed(snapshot) if by_speed else 1.0)
            speed = np.where(snapshot.fits, snapshot.speed if by_speed else 1.0, 0.0)
            group, paired = snapshot.group, snapshot.paired
            if not sharing:
                group, paired = np.full(len(group), -1), np.zeros((0, 0, len(workers)))
            found = interior_max_min(speed, worth, size, workers, group, paired)
            time, jobs, pair_time = found.time, found.pair, found.pair_time
            value, bound = found.value / unit, found.bound / unit
        else:
            if engine == "exact":
                needs_near_weights(snapshot)
            service = relative_service(snapshot, by_speed=by_speed) / snapshot.weight[:, None]
            jobs, pair_service = _paired(snapshot, service, sharing=sharing)
            one, other = jobs.T.tolist()
            pairs = cluster_scheduling.Pairs(one, other, pair_service) if len(jobs) else None
            problem = cluster_scheduling.max_min(service.T, size, workers, pairs=pairs)
            solution = solve(problem, engine=engine)
            time, _, pair_time = shares_of(snapshot, solution, sharing=sharing)
            value, bound = solution.value, solution.bound
        return snapshot.shares(
            time,
            pair=jobs,
            pair_time=pair_time,
            policy=name,
            blind=not by_speed,
            value=value,
            bound=bound,
        )

    decide.__name__ = name
    return decide


def _paired(snapshot: JobsSnapshot, service: Floats, *, sharing: bool) -> tuple[Longs, Floats]:
    """(P, 2) pairs of jobs, and (P, 2, T) the service by weight that both have together."""
    if not sharing:
        return NO_PAIRS.jobs, np.zeros((0, 2, len(snapshot.types)))
    jobs, speed = snapshot.pairs
    per = service.max(axis=1) / np.where(snapshot.fits, snapshot.speed, 0.0).max(axis=1)
    return jobs, speed * per[jobs][:, :, None]
