"""How good the rounds were: their makespan beside those of other plans, on the measured times."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from walras.demo.live.world import World
from walras.matching import match
from walras.types import Floats, Longs

FLOOR = 0.7
"""Of the tasks of a round, so many should succeed; the policy of the demo's rounds."""

_SECONDS = 0.5  # a matching


@dataclass(frozen=True)
class Ran:
    """A run: which network, where, from when to when."""

    network: str
    cluster: str
    granted: float
    ended: float


@dataclass
class Score:
    """Sums over the rounds that were judged.

    Attributes:
        world: What the clusters are like.
        slots: Of each cluster.
        rounds: How many were judged.
        ours: Makespans of the exchange's plans.
        averages: Of plans by the clusters' mean times.
        oracle: Of plans that know the times.
        judged: Rounds that were looked at.
    """

    world: World
    slots: int
    rounds: int = 0
    ours: float = 0.0
    averages: float = 0.0
    oracle: float = 0.0
    judged: set[int] = field(default_factory=set)
    _runs: list[Ran] = field(default_factory=list, repr=False)

    def add(self, seq: int, began: float, runs: list[Ran]) -> None:
        """Judge a round; earlier ones come first.

        All three plans begin with the slots that were free then, and those that became free when
        the runs of earlier rounds ended. Their tasks take the seconds of the data.

        Args:
            seq: Its number.
            began: When it began.
            runs: What it placed.
        """
        self.judged.add(seq)
        ready = self._ready(began)
        self._runs += runs
        if len(runs) < 2:
            return
        times, success = self.world.truth([run.network for run in runs])
        chosen = np.array([self.world.clusters.index(run.cluster) for run in runs], np.int64)
        known = np.repeat(self.world.averages()[:, None], len(runs), axis=1)
        mean = np.repeat(self.world.recipe.train.success.mean(axis=1)[:, None], len(runs), 1)
        self.rounds += 1
        self.ours += makespan(times, chosen, ready)
        self.averages += makespan(times, self._plan(known, mean, ready), ready)
        self.oracle += makespan(times, self._plan(times, success, ready), ready)

    def _ready(self, began: float) -> list[Floats]:
        """Seconds until each slot of each cluster is free, when a round begins."""
        found = []
        for cluster in self.world.clusters:
            busy = [
                run.ended - began
                for run in self._runs
                if run.cluster == cluster and run.granted <= began < run.ended
            ]
            free = [0.0] * max(self.slots - len(busy), 0)
            found.append(np.array(sorted([*free, *busy])[: self.slots]))
        return found

    def _plan(self, times: Floats, success: Floats, ready: list[Floats]) -> Longs:
        """(N,) the cluster of each task by some times and chances; as many succeed as can."""
        best = float(success.max(axis=0).mean())
        plan: Any = match(
            times,
            success,
            min_success=min(FLOOR, best - 1e-6),
            slots=[self.slots] * len(times),
            ready=ready,
            time_limit=_SECONDS,
        )
        return np.asarray(plan.assignment, np.int64)


def makespan(times: Floats, cluster: Longs, ready: list[Floats]) -> float:
    """Seconds until the last task ends: on each cluster the longest first, on the next free slot.

    Args:
        times: (M, N) seconds.
        cluster: (N,) where each task runs.
        ready: (M,) arrays: seconds until each slot is free.

    Example:
        >>> times = np.array([[1.0, 2.0, 3.0], [9.0, 9.0, 4.0]])
        >>> makespan(times, np.array([0, 0, 1]), [np.array([0.0]), np.array([1.0, 5.0])])
        5.0
    """
    last = 0.0
    for i in range(len(times)):
        free = ready[i].tolist()
        heapq.heapify(free)
        for seconds in np.sort(times[i, cluster == i])[::-1]:
            end = heapq.heappop(free) + float(seconds)
            heapq.heappush(free, end)
            last = max(last, end)
    return last
