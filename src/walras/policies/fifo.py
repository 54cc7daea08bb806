"""First in, first out: jobs get their workers in order of arrival and keep them."""

from __future__ import annotations

import numpy as np

from walras.rounds import JobsSnapshot, Shares
from walras.simulate.time_shared import Policy
from walras.types import Floats, Longs


def fifo(by_speed: bool = False) -> Policy:
    """First in, first out: the jobs that arrived first have the workers, whole and alone.

    Without ``by_speed`` a job keeps its type until it ends. Its place then goes to the job that
    waits first; places that were free before go to waiting jobs by type in the cluster's order.
    With ``by_speed`` every decision begins anew, and each job in turn takes the type on which it is
    fastest of those with enough free workers. No job overtakes one that finds no room; one that
    can run on none of the types with room lets others pass. Source:
    the baselines of Narayanan et al., OSDI 2020, whose released code draws a type at random and
    then takes the last of a list all the same: with its names, V100 before P100 before K80.

    Args:
        by_speed: Whether jobs choose the type on which they are fastest.

    Returns:
        The policy.

    Example:
        >>> import walras as wl
        >>> from walras.rounds import JobsSnapshot
        >>> jobs = JobsSnapshot.of(["a", "b"], speed=[[1.0, 3.0], [1.0, 2.0]], workers=[1, 1])
        >>> wl.policies.fifo()(jobs).time.tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        >>> wl.policies.fifo(by_speed=True)(jobs).time.tolist()
        [[0.0, 1.0], [1.0, 0.0]]
    """
    choose = _fastest if by_speed else _first

    def decide(snapshot: JobsSnapshot) -> Shares:
        held = np.zeros(snapshot.speed.shape) if by_speed else snapshot.held.copy()
        free = snapshot.workers - (snapshot.size @ held).round().astype(np.int64)
        queue = np.flatnonzero(held.sum(axis=1) == 0.0).tolist()
        if not by_speed:
            queue = _take_over(snapshot, held, free, queue)
        for j in queue:
            room = snapshot.size[j] <= free
            fits = snapshot.fits[j] & room
            if fits.any():
                t = choose(snapshot.speed[j], fits)
                held[j, t] = 1.0
                free[t] -= snapshot.size[j]
            elif not room.any():
                break
        return snapshot.shares(held, policy=decide.__name__, spare=False)

    decide.__name__ = "fifo by speed" if by_speed else "fifo"
    return decide


def _first(speed: Floats, fits: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> int:
    del speed
    return int(np.argmax(fits))


def _fastest(speed: Floats, fits: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> int:
    return int(np.argmax(np.where(fits, speed, -1.0)))


def _take_over(snapshot: JobsSnapshot, held: Floats, free: Longs, queue: list[int]) -> list[int]:
    """Give the place of each job that ended to the first that waits; who still waits."""
    last = snapshot.last
    if last is None:
        return queue
    here = set(snapshot.name)
    for k, name in enumerate(last.name):
        if not queue:
            break
        if name in here or not last.time[k].any():
            continue
        t, j = int(np.argmax(last.time[k])), queue[0]
        if snapshot.size[j] <= free[t] and snapshot.fits[j, t]:
            held[j, t] = 1.0
            free[t] -= snapshot.size[j]
            queue = queue[1:]
    return queue
