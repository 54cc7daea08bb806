"""Shortest remaining time: the job that would end first runs first."""

from __future__ import annotations

import numpy as np

from walras import checks
from walras.rounds import JobsSnapshot, Shares
from walras.simulate.time_shared import Policy
from walras.types import Floats


def shortest_remaining_time(by_speed: bool = True) -> Policy:
    """Shortest remaining time: jobs have workers whole, by the seconds of work that they have left.

    Each job in turn takes the type on which it is fastest of those with enough free workers; one
    that finds no room lets others pass. On one worker this gives the least mean completion time
    (Schrage, 1968). A policy that is blind to speeds counts seconds on the first type of the
    cluster on which a job runs, and takes the first type with room.

    Args:
        by_speed: Whether the policy knows speeds.

    Returns:
        The policy.

    Raises:
        InputError: ``by_speed`` is not True or False.

    Example:
        >>> import walras as wl
        >>> from walras.rounds import JobsSnapshot
        >>> jobs = JobsSnapshot.of(
        ...     ["long", "short"], speed=[[1.0, 3.0], [1.0, 2.0]], steps=[90, 10], workers=[1, 1]
        ... )
        >>> wl.policies.shortest_remaining_time()(jobs).time.tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    checks.flag(by_speed, "by_speed")
    name = "shortest remaining time" + ("" if by_speed else " blind")

    def decide(snapshot: JobsSnapshot) -> Shares:
        time, free = np.zeros(snapshot.speed.shape), snapshot.workers.copy()
        speed = _known(snapshot, by_speed=by_speed)
        seconds = snapshot.left / np.maximum(speed.max(axis=1), np.finfo(float).tiny)
        for j in np.argsort(seconds, kind="stable").tolist():
            room = snapshot.fits[j] & (snapshot.size[j] <= free)
            if room.any():
                t = int(np.argmax(np.where(room, speed[j], -1.0)))
                time[j, t] = 1.0
                free[t] -= snapshot.size[j]
            elif not free.any():
                break
        return snapshot.shares(time, policy=name, blind=not by_speed)

    decide.__name__ = name
    return decide


def _known(snapshot: JobsSnapshot, *, by_speed: bool) -> Floats:
    """(N, T) speeds that the policy knows, 0 where a job cannot run."""
    first = snapshot.speed[np.arange(len(snapshot)), np.argmax(snapshot.fits, axis=1)]
    known = snapshot.speed if by_speed else first[:, None]
    return np.where(snapshot.fits, known, 0.0)
