"""AlloX: the least mean completion time, by a matching of jobs to places in queues of workers."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from walras.errors import InputError
from walras.rounds import JobsSnapshot, Shares
from walras.simulate.time_shared import Policy
from walras.types import Floats, Longs


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
    kind, worker, place = _places(len(waiting), free)
    cost = seconds[:, kind] * place
    never = ~np.isfinite(cost)
    cost[never] = 0.0
    cost[never] = (cost.sum() + 1.0) * 2.0  # more than any matching without it
    rows, columns = linear_sum_assignment(cost)
    good = ~never[rows, columns]
    first: dict[tuple[int, int], tuple[int, int]] = {}
    for row, column in zip(rows[good].tolist(), columns[good].tolist(), strict=True):
        queue = (int(kind[column]), int(worker[column]))
        first[queue] = max(first.get(queue, (0, -1)), (int(place[column]), row))
    begins = [(int(waiting[row]), t) for (t, _), (_, row) in first.items()]
    return begins, float(cost[rows, columns][good].sum())


def _places(jobs: int, free: Longs) -> tuple[Longs, Longs, Floats]:
    """Type, worker and place from the end of each place that a best matching can use.

    Workers of a type are alike, so places nearer to the end fill first: a type with w free workers
    needs no more than ⌈jobs / w⌉ places a worker, and no more workers than jobs.
    """
    found = [
        (t, worker, place)
        for t, count in enumerate(np.minimum(free, jobs).tolist())
        for place in range(1, -(-jobs // count) + 1 if count else 1)
        for worker in range(count)
    ]
    table = np.array(found, np.int64)
    return table[:, 0], table[:, 1], table[:, 2].astype(np.float64)
