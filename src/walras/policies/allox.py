"""AlloX: the least mean completion time, by a matching of jobs to places in queues of workers."""

from __future__ import annotations

import numpy as np

from walras.domains.cluster_scheduling import completion_time
from walras.errors import InputError
from walras.rounds import JobsSnapshot, Shares
from walras.simulate.time_shared import Policy
from walras.types import Longs


def allox() -> Policy:
    """AlloX: waiting jobs are matched to places in the queues of free workers, and run whole.

    A job that runs keeps its worker until it ends. The others are matched to (worker, place from
    the end) pairs; a job that is k-th from the end of a queue adds its processing time k times to
    the sum of completion times, which the matching minimises. The first of each queue begins.
    Source: Le et al., EuroSys 2020 (AlloX), with all jobs considered.

    Returns:
        The policy. Its ``value`` is the sum of the seconds that the matched jobs wait and run from
        now on, and its ``bound`` the same: the matching is exact.

    Raises:
        InputError: A job takes several workers (raised when the policy is asked).

    Example:
        >>> import walras as wl
        >>> from walras.rounds import JobsSnapshot
        >>> jobs = JobsSnapshot.of(
        ...     ["long", "short"], speed=[[1.0], [1.0]], steps=[30, 10], workers=[1]
        ... )
        >>> decision = wl.policies.allox()(jobs)
        >>> decision.time.tolist(), decision.value
        ([[0.0], [1.0]], 50.0)
    """

    def decide(snapshot: JobsSnapshot) -> Shares:
        _check_sizes(snapshot)
        time = np.where(snapshot.held == 1.0, 1.0, 0.0)
        free = snapshot.workers - time.sum(axis=0).astype(np.int64)
        waiting = np.flatnonzero(time.sum(axis=1) == 0.0)
        value = 0.0
        if len(waiting) and free.any():
            begins, value = match(snapshot, waiting, free)
            for j, t in begins:
                time[j, t] = 1.0
        return snapshot.shares(time, policy="allox", value=value, bound=value)

    decide.__name__ = "allox"
    return decide


def _check_sizes(snapshot: JobsSnapshot) -> None:
    several = np.flatnonzero(snapshot.size > 1)
    if len(several):
        j = int(several[0])
        raise InputError(
            f"job {snapshot.name[j]!r} takes {snapshot.size[j]} workers",
            where="policy allox",
            allowed="jobs of one worker",
            remedy="take another policy, or a trace of jobs of one worker",
        )


def match(
    snapshot: JobsSnapshot, waiting: Longs, free: Longs
) -> tuple[list[tuple[int, int]], float]:
    """Which waiting job begins on which type, and the sum of seconds of all."""
    seconds = np.full((len(waiting), len(free)), np.inf)
    fits = snapshot.fits[waiting]
    left = np.repeat(snapshot.left[waiting, None], len(free), axis=1)
    seconds[fits] = left[fits] / snapshot.speed[waiting][fits]
    found = completion_time.match(seconds, free)
    first = [queue[0] for queue in found.queues()]
    begins = zip(waiting[found.job[first]].tolist(), found.resource[first].tolist(), strict=True)
    return list(begins), found.value
