"""The round as a problem of placement, and what its solvers give back."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from walras.types import Bools, Floats, Longs

Late = Callable[[], bool]
"""Whether the time is up."""

SLACK = 1e-10  # of the mean chance of success at the floor


@dataclass(frozen=True, eq=False)
class Problem:
    """Tasks that can all be placed, and where.

    Attributes:
        seconds: (n, M) predicted time; infinite where a pair may not be used.
        chance: (n, M) predicted chance of success.
        size: (n,) slots of each task.
        room: (M,) slots that may be filled.
        free: (M,) slots that are free; more than that may be filled where tasks queue.
        group: (M,) provider of each cluster, or -1.
        cap: (providers,) tasks that each may get.
        floor: Least mean chance of success.
        weight: (M,) what a second of work on a cluster counts.
        start: (n,) a placement of all of them.
    """

    seconds: Floats
    chance: Floats
    size: Longs
    room: Longs
    free: Longs
    group: Longs
    cap: Longs
    floor: float
    weight: Floats
    start: Longs

    @cached_property
    def usable(self) -> Bools:
        """(n, M) pairs that may be used."""
        return np.isfinite(self.seconds)

    @cached_property
    def queues(self) -> bool:
        """Whether more may be placed on a cluster than can start at once."""
        return bool((self.room > self.free).any())

    def picked(self, table: Floats, cluster: Longs) -> Floats:
        """(n,) entries of a table at a placement."""
        found: Floats = table[np.arange(len(cluster)), cluster]
        return found

    def ends(self, cluster: Longs) -> Floats:
        """(M,) seconds until each cluster ends: its work over its free slots, or its longest task.

        Where no more is placed than is free, all start at once, and that is the longest task.
        """
        seconds, m = self.picked(self.seconds, cluster), len(self.room)
        longest = np.zeros(m)
        np.maximum.at(longest, cluster, seconds)
        work = np.bincount(cluster, self.size * seconds, m)
        return np.maximum(longest, work / np.maximum(self.free, 1))

    def makespan(self, cluster: Longs) -> float:
        """Seconds until the last cluster ends."""
        return float(self.ends(cluster).max(initial=0.0))

    def success(self, cluster: Longs) -> float:
        """Mean chance of success."""
        return math.fsum(self.picked(self.chance, cluster).tolist()) / len(cluster)

    def shortfall(self, cluster: Longs) -> float:
        """Mean chance of success that is missing to the floor."""
        return max(self.floor - self.success(cluster), 0.0)

    def reaches_floor(self, cluster: Longs) -> bool:
        """Whether the mean chance of success is at the floor."""
        return self.success(cluster) >= self.floor - SLACK

    def within(self, limit: float) -> Problem:
        """The problem without the pairs that take longer."""
        return replace(self, seconds=np.where(self.seconds <= limit, self.seconds, np.inf))

    def fixed(self, drawn: Longs) -> Problem:
        """The problem with the clusters of some tasks given; -1 for the others."""
        m = len(self.room)
        allowed = (drawn < 0)[:, None] | (drawn[:, None] == np.arange(m))
        return replace(self, seconds=np.where(allowed, self.seconds, np.inf))


@dataclass(frozen=True, eq=False)
class Found:
    """A placement of all tasks of a problem.

    Attributes:
        cluster: (n,) which cluster.
        bound: Lower bound on the makespan of every placement of them that keeps the rules.
        method: How it was found.
        prices: (M,) seconds of work that another slot would save.
        floor_price: Seconds of work that a unit of mean success costs.
        complete: Whether the search ended by itself.
        drawn: (n,) chance of the task's cluster where it was drawn, else 0.
    """

    cluster: Longs
    bound: float
    method: str
    prices: Floats
    floor_price: float
    complete: bool
    drawn: Floats
