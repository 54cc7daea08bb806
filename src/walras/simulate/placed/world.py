"""The world in which tasks run on clusters with slots: its state, and what changes it."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median

import numpy as np

from walras.rounds import Decision, Snapshot
from walras.simulate.placed.slots import Outage, Slots
from walras.simulate.placed.tasks import TaskTrace
from walras.simulate.placed.tenants import TenantUse
from walras.types import Bools

Placer = Callable[[Snapshot], Decision]
"""A policy of placements: from a snapshot to a decision."""

NEW, WAITING, QUEUED, RUNNING, SUCCEEDED, FAILED, EXPIRED = range(7)
"""What has become of a task; one that is queued waits on its cluster for slots."""

OUTCOMES = ("succeeded", "failed", "lost", "running")
"""How a run ended: as it should, by itself before, or with its cluster; or not yet."""
GOOD, BAD, LOST, GOING = range(4)

END, CHANGE, ARRIVE, ROUND, EXPIRE = range(5)
"""Kinds of events; at one time they come in this order."""

_MOST_IN_VAIN = 100_000
_LAST_TIMES = 500  # runs whose median is the typical time
_TYPICAL = 60.0  # seconds, before any run has ended


@dataclass(eq=False)
class RunLog:
    """One entry a run, in order of their starts."""

    task: list[int] = field(default_factory=list)
    cluster: list[int] = field(default_factory=list)
    offered: list[float] = field(default_factory=list)
    began: list[float] = field(default_factory=list)
    ended: list[float] = field(default_factory=list)
    outcome: list[int] = field(default_factory=list)


class World:
    """Tasks and clusters at one moment.

    Args:
        tasks: The tasks, on the world's clusters.
        slots: The clusters.
        seed: Of the outcomes of runs: run k of a task has the same luck under every policy.
        measured: (N,) tasks that are waited for.
        drawn: Cluster -> its outages in order, without an end.
    """

    def __init__(
        self,
        tasks: TaskTrace,
        slots: Slots,
        seed: int,
        measured: Bools,
        drawn: Mapping[str, Iterator[Outage]],
    ) -> None:
        self.tasks, self.slots, self.drawn = tasks, slots, drawn
        self.outages: list[Outage] = []
        self.in_vain = 0  # changes of clusters since a task arrived or was settled
        self.now = 0.0
        self.measured: list[bool] = measured.tolist()
        self.left = sum(self.measured)  # measured tasks of which more is to come
        self.events: list[tuple[float, int, int]] = []
        n, names = len(tasks), tuple(dict.fromkeys(tasks.tenant))
        self.size: list[int] = tasks.size.tolist()
        place = {name: t for t, name in enumerate(names)}
        self.tenant = [place[name] for name in tasks.tenant]
        self.tenants = TenantUse(names, slots)
        self.state = [NEW] * n
        self.failures, self.attempts = [0] * n, [0] * n
        self.previous, self.settled = [-1] * n, [float("nan")] * n
        self.tried: dict[int, list[int]] = {}
        self.waiting: set[int] = set()
        self.free: list[int] = slots.slots.tolist()
        self.cluster_state = ["up"] * len(slots.names)
        self.queue: list[deque[int]] = [deque() for _ in slots.names]
        self.run_of: dict[int, int] = {}  # task -> its run that is going on
        self.offer: dict[int, tuple[int, float, float]] = {}  # cluster, when, seconds expected
        self.log = RunLog()
        self.last_times: deque[float] = deque(maxlen=_LAST_TIMES)
        self.first = np.concatenate([[0], np.cumsum(tasks.max_attempts)]).tolist()
        self.luck = np.random.default_rng([seed, 23]).random((self.first[-1], 2))
        self._schedule()

    def _schedule(self) -> None:
        if len(self.tasks):
            self.add(float(self.tasks.arrival[0]), ARRIVE, 0)
        for outage in (*self.slots.outages, *map(next, self.drawn.values())):
            self._expect(outage)

    def _expect(self, outage: Outage) -> None:
        k = len(self.outages)
        self.outages.append(outage)
        self.add(outage.begin, CHANGE, 2 * k)
        if outage.end < float("inf"):
            self.add(outage.end, CHANGE, 2 * k + 1)

    def add(self, at: float, kind: int, number: int) -> None:
        """Add an event."""
        heapq.heappush(self.events, (at, kind, number))

    @property
    def typical(self) -> float:
        """Median seconds of the last runs that succeeded."""
        return median(self.last_times) if self.last_times else _TYPICAL

    @property
    def is_stuck(self) -> bool:
        """Whether failures that never end go on and on, and no task ends between them."""
        return bool(self.drawn) and self.in_vain > _MOST_IN_VAIN and self.state[-1] != NEW

    # ---- events ---------------------------------------------------------------------------------

    def arrive(self, j: int) -> None:
        """Let a task wait from now on, and expect the next one."""
        self.in_vain = 0
        self.state[j] = WAITING
        self.waiting.add(j)
        deadline = float(self.tasks.deadline[j])
        if deadline < float("inf"):
            self.add(max(deadline, self.now), EXPIRE, j)
        if j + 1 < len(self.tasks):
            self.add(float(self.tasks.arrival[j + 1]), ARRIVE, j + 1)

    def expire(self, j: int) -> bool:
        """Give up a task that still waits at its deadline; whether it did."""
        if self.state[j] != WAITING:
            return False
        self._settle(j, EXPIRED)
        return True

    def end(self, run: int) -> bool:
        """End a run at its time; False where it was lost before."""
        log = self.log
        if log.outcome[run] != GOING:
            return False
        j, i = log.task[run], log.cluster[run]
        luck = self.luck[self.first[j] + self.failures[j], 0]
        good = bool(luck < self.tasks.chance[j, i])
        self._stop(run, GOOD if good else BAD)
        if good:
            self.last_times.append(self.now - log.began[run])
            self._settle(j, SUCCEEDED)
        else:
            self.failures[j] += 1
            self.tried.setdefault(j, []).append(i)
            self._again(j, self.failures[j] < self.tasks.max_attempts[j])
        self._fill(i)
        return True

    def change(self, number: int) -> None:
        """Begin or end an outage."""
        self.in_vain += 1
        outage = self.outages[number // 2]
        i = self.slots.names.index(outage.cluster)
        self.cluster_state[i] = "up" if number % 2 else outage.state
        if number % 2:
            if outage.cluster in self.drawn:
                self._expect(next(self.drawn[outage.cluster]))
            self._fill(i)
        elif outage.state != "cordoned":
            for j in self.queue[i]:
                self.tenants.take(self.tenant[j], -self.size[j], self.now)
                del self.offer[j]
                self._again(j, True)
            self.queue[i].clear()
        if self.cluster_state[i] == "down":
            for run in [r for r in self.run_of.values() if self.log.cluster[r] == i]:
                self._stop(run, LOST)
                self._again(self.log.task[run], True)

    # ---- moves ----------------------------------------------------------------------------------

    def place(self, j: int, i: int, seconds: float) -> None:
        """Send a task to a cluster, where it starts at once or waits for slots."""
        self.waiting.discard(j)
        self.state[j] = QUEUED
        self.attempts[j] += 1
        self.previous[j] = i
        self.offer[j] = i, self.now, seconds
        self.tenants.take(self.tenant[j], self.size[j], self.now)
        self.queue[i].append(j)
        self._fill(i)

    def _fill(self, i: int) -> None:
        """Start what waits on a cluster, the first one first, as far as slots are free."""
        queue = self.queue[i]
        while queue and self.size[queue[0]] <= self.free[i] and self.cluster_state[i] != "down":
            self._start(queue.popleft(), i)

    def _start(self, j: int, i: int) -> None:
        luck, share = self.luck[self.first[j] + self.failures[j]].tolist()
        seconds = float(self.tasks.seconds[j, i])
        if luck >= self.tasks.chance[j, i]:
            seconds *= share
        self.free[i] -= self.size[j]
        self.state[j] = RUNNING
        run = len(self.log.task)
        self.run_of[j] = run
        log = self.log
        log.task.append(j)
        log.cluster.append(i)
        log.offered.append(self.offer[j][1])
        log.began.append(self.now)
        log.ended.append(float("nan"))
        log.outcome.append(GOING)
        self.add(self.now + seconds, END, run)

    def _stop(self, run: int, outcome: int) -> None:
        j, i = self.log.task[run], self.log.cluster[run]
        self.log.ended[run], self.log.outcome[run] = self.now, outcome
        self.free[i] += self.size[j]
        self.tenants.take(self.tenant[j], -self.size[j], self.now)
        del self.run_of[j], self.offer[j]

    def _again(self, j: int, wanted: bool) -> None:
        """Let a task wait again, or give it up where its attempts or its time are over."""
        if not wanted or self.tasks.deadline[j] < self.now:
            self._settle(j, EXPIRED if wanted else FAILED)
            return
        self.state[j] = WAITING
        self.waiting.add(j)

    def _settle(self, j: int, state: int) -> None:
        self.waiting.discard(j)
        self.in_vain = 0
        self.state[j], self.settled[j] = state, self.now
        self.left -= self.measured[j]
