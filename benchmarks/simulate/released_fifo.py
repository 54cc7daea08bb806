"""FIFO as Gavel's released code has it, slips included, to explain the published cells.

It departs from first in, first out in three ways, all found by reading it. A type is drawn at
random among those with room, but the job goes to the last type of the list, whether it has room or
not; where the job takes the last worker of that type, it is the drawn type that leaves the list.
And a job that takes over the place of one that ended is checked against workers that later running
jobs still count as free. So types are overbooked at times, and jobs there take turns.
"""

from __future__ import annotations

import random

import numpy as np

from walras.rounds import JobsSnapshot, Shares
from walras.simulate.time_shared import Policy
from walras.types import Floats


def released_fifo(seed: int = 0) -> Policy:
    """The policy; types are listed by name, so that V100 is the last of three."""
    draws = random.Random(seed)

    def decide(snapshot: JobsSnapshot) -> Shares:
        held = (snapshot.held > 0.0).astype(np.float64)
        free, queue = _take_over(snapshot, held)
        _begin(snapshot, held, free, queue, draws)
        taken = snapshot.size @ held
        # Overbooked workers: the same share for every job there, so that they take turns.
        time = held * np.minimum(1.0, snapshot.workers / np.maximum(taken, 1.0))[None, :]
        return snapshot.shares(time, policy="fifo as released", spare=False)

    return decide


def _take_over(snapshot: JobsSnapshot, held: Floats) -> tuple[dict[int, int], list[int]]:
    """Pass on the places of jobs that ended; free workers by type, and who still waits."""
    free = dict(enumerate(snapshot.workers.tolist()))
    here = {name: j for j, name in enumerate(snapshot.name)}
    queue = np.flatnonzero(held.sum(axis=1) == 0.0).tolist()
    last = snapshot.last
    if last is None:
        return free, queue
    for k in range(len(last)):
        if not last.time[k].any():
            continue
        t, j = int(np.argmax(last.time[k])), here.get(last.name[k], -1)
        if j >= 0:
            free[t] -= int(snapshot.size[j])
        elif queue and snapshot.size[queue[0]] <= free[t] and snapshot.speed[queue[0], t] > 0:
            held[queue[0], t] = 1.0
            free[t] -= int(snapshot.size[queue[0]])
            queue = queue[1:]
    return free, queue


def _begin(
    snapshot: JobsSnapshot,
    held: Floats,
    free: dict[int, int],
    queue: list[int],
    draws: random.Random,
) -> None:
    """Give waiting jobs places, in order of arrival."""
    order = sorted(range(len(snapshot.types)), key=lambda t: snapshot.types[t])
    listed = [t for t in order if free[t] > 0]
    for j in queue:
        room = [k for k, t in enumerate(listed) if free[t] >= snapshot.size[j]]
        if not room:
            return
        drawn, t = draws.randrange(len(room)), listed[-1]
        if snapshot.speed[j, t] <= 0:
            continue
        held[j, t] = 1.0
        free[t] -= int(snapshot.size[j])
        if free[t] == 0:
            listed.pop(room[drawn])
