"""First in, first out: jobs get their workers in order of arrival and keep them."""

from __future__ import annotations

from typing import Any

import numpy as np

from walras.policies.options import needs_speeds
from walras.rounds import JobsSnapshot, Shares
from walras.simulate.time_shared import Policy
from walras.types import Floats, Longs

_ENOUGH = 1.5  # sum of relative speeds above which two jobs share their workers


def fifo(by_speed: bool = False, sharing: bool = False) -> Policy:
    """First in, first out: the jobs that arrived first have the workers, whole and alone.

    Without ``by_speed`` a job keeps its type until it ends. Its place then goes to the job that
    waits first; places that were free before go to waiting jobs by type in the cluster's order.
    With ``by_speed`` every decision begins anew, and each job in turn takes the type on which it is
    fastest of those with enough free workers. No job overtakes one that finds no room; one that
    can run on none of the types with room lets others pass. With ``sharing``, each job that waits
    then joins the job of its size beside which both gain most: the sum of their speeds relative to
    alone is above 1.5. It ends where one finds no such partner. Source:
    the baselines of Narayanan et al., OSDI 2020, whose released code draws a type at random and
    then takes the last of a list all the same: with its names, V100 before P100 before K80.

    Args:
        by_speed: Whether jobs choose the type on which they are fastest.
        sharing: Whether two jobs may share their workers, where the trace has speeds of pairs.

    Returns:
        The policy.

    Raises:
        InputError: ``sharing`` is asked for without ``by_speed``.

    Example:
        >>> import walras as wl
        >>> from walras.rounds import JobsSnapshot
        >>> jobs = JobsSnapshot.of(["a", "b"], speed=[[1.0, 3.0], [1.0, 2.0]], workers=[1, 1])
        >>> wl.policies.fifo()(jobs).time.tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        >>> wl.policies.fifo(by_speed=True)(jobs).time.tolist()
        [[0.0, 1.0], [1.0, 0.0]]
    """
    needs_speeds(by_speed=by_speed, sharing=sharing)
    choose = _fastest if by_speed else _first

    def decide(snapshot: JobsSnapshot) -> Shares:
        held = np.zeros(snapshot.speed.shape) if by_speed else snapshot.held.copy()
        free = snapshot.workers - (snapshot.size @ held).round().astype(np.int64)
        queue = np.flatnonzero(held.sum(axis=1) == 0.0).tolist()
        if not by_speed:
            queue = _take_over(snapshot, held, free, queue)
        waiting: list[int] = []
        for k, j in enumerate(queue):
            room = snapshot.size[j] <= free
            fits = snapshot.fits[j] & room
            if fits.any():
                t = choose(snapshot.speed[j], fits)
                held[j, t] = 1.0
                free[t] -= snapshot.size[j]
            elif not room.any():
                waiting = queue[k:]
                break
        packed = _pack(snapshot, held, waiting) if sharing else {}
        return snapshot.shares(held, policy=decide.__name__, spare=False, **packed)

    decide.__name__ = "fifo" + " by speed" * by_speed + " sharing" * sharing
    return decide


def _pack(snapshot: JobsSnapshot, held: Floats, waiting: list[int]) -> dict[str, Any]:
    """Let each job that waits join the one beside which both gain most; pairs and their shares."""
    on = {j: int(np.argmax(held[j])) for j in np.flatnonzero(held.any(axis=1)).tolist()}
    pair, pair_time = [], []
    for j in waiting:
        found = [(_gain(snapshot, j, k, t), -k) for k, t in on.items()]
        gain, other = max(found, default=(0.0, 0))
        if gain <= _ENOUGH:
            break
        pair.append((-other, j))
        pair_time.append(held[-other].copy())
        held[-other] = 0.0
        on.pop(-other)
    return {
        "pair": np.array(pair, np.int64).reshape(-1, 2),
        "pair_time": np.array(pair_time).reshape(-1, held.shape[1]),
    }


def _gain(snapshot: JobsSnapshot, j: int, k: int, t: int) -> float:
    """Sum of the speeds of two jobs relative to alone while they share workers of a type."""
    a, b = snapshot.group[[j, k]]
    speed = snapshot.speed[[j, k], t]
    if a < 0 or b < 0 or snapshot.size[j] != snapshot.size[k] or not speed.all():
        return 0.0
    together = np.array([snapshot.paired[a, b, t], snapshot.paired[b, a, t]])
    return float((together / speed).sum()) if together.all() else 0.0


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
