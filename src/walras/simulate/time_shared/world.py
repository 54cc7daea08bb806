"""The world in which jobs share types of workers in time: its state, and what a policy is asked."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from walras.rounds import JobsSnapshot, Shares, Violation, check
from walras.rounds.pairs import paired_speed
from walras.simulate.cluster import Cluster
from walras.simulate.time_shared.faults import no_faults
from walras.simulate.time_shared.state import (
    ACTIVE,
    CHANGED,
    DRAWN,
    LAST,
    MEASURED,
    NEXT,
    NOW,
    ROUND,
    Jobs,
    Pairs,
    State,
    no_pairs,
    start,
)
from walras.simulate.time_shared.taking import take_over
from walras.simulate.trace import Trace
from walras.types import Bools, Floats, Longs

Policy = Callable[[JobsSnapshot], Shares]
"""A policy: from a snapshot to shares of time."""

Numbers = TypeVar("Numbers", Floats, Longs)

_ORDERS = 4096  # random orders of types that are drawn at once
_ROUNDING = 1e-9  # of workers


@dataclass(eq=False)
class World:
    """A time-shared cluster at one moment.

    Attributes:
        trace: The jobs.
        cluster: The workers.
        jobs: What is known of the jobs, as arrays.
        state: What changes.
        draws: Random orders of types.
        last: The last decision.
        policy: Name that the last good decision gives its policy.
        violations: When a decision was refused, and why.
    """

    trace: Trace
    cluster: Cluster
    jobs: Jobs
    state: State
    draws: random.Random
    last: Shares | None = None
    policy: str = ""
    violations: list[tuple[float, Violation]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.workers = self.cluster.workers
        self.faults = no_faults(self.workers, len(self.trace))
        self.paired = self.trace.paired_on(self.cluster)
        self.pairs = no_pairs(len(self.workers))
        self.orders = self._orders()
        self.fastest = self.jobs.speed.max(axis=1)
        self._texts = np.array([self.trace.name, self.trace.kind], object)

    @classmethod
    def start(
        cls,
        trace: Trace,
        cluster: Cluster,
        measured: Bools,
        round_seconds: float,
        wait: float,
        seed: int,
    ) -> World:
        """The world before the first job.

        Raises:
            InputError: A job can run nowhere, or the trace knows no speeds on a type.
        """
        speed = trace.on(cluster)
        jobs = Jobs(trace.arrival, trace.size, trace.steps, speed, measured)
        state = start(jobs, round_seconds, wait)
        return cls(trace, cluster, jobs, state, random.Random(seed + 5))

    @property
    def here(self) -> Longs:
        """The jobs that are there, in order of arrival."""
        return self.state.active[: self.state.counts[ACTIVE]]

    @property
    def spare(self) -> bool:
        """Whether workers that no share claims go to any job."""
        return self.last is None or self.last.spare

    def _up(self) -> tuple[Longs, Longs]:
        """The jobs that some type can hold now, in order of arrival, and types with workers up."""
        if not self.faults.any:
            return self.here, np.arange(len(self.workers))
        room = self.trace.size[self.here][:, None] <= self.faults.up
        holds = (room & (self.jobs.speed[self.here] > 0.0)).any(axis=1)
        return self.here[holds], np.flatnonzero(self.faults.up)

    def snapshot(self) -> JobsSnapshot:
        """What a policy decides from now: workers that are up, and jobs that these can hold."""
        (jobs, up), trace, state = self._up(), self.trace, self.state
        every = len(up) == len(self.workers)
        name, kind = self._texts.take(jobs, axis=1).tolist()

        def of(numbers: Numbers) -> Numbers:
            taken = numbers.take(jobs, axis=0)  # quicker than numbers[jobs]
            return taken if numbers.ndim == 1 or every else taken.take(up, axis=1)

        return JobsSnapshot.checked(
            at=float(state.clock[NOW]),
            round_seconds=float(state.clock[ROUND]),
            name=tuple(name),
            kind=tuple(kind),
            size=of(trace.size),
            weight=of(trace.weight),
            arrival=of(trace.arrival),
            steps=of(trace.steps),
            left=of(state.left),
            deadline=of(trace.deadline),
            attempt=of(self.faults.failures),
            received=of(state.received),
            speed=of(self.jobs.speed),
            types=tuple([self.cluster.types[t] for t in up]),
            workers=self.faults.up[up],
            group=of(trace.group),
            paired=self.paired if every else np.take(self.paired, up, axis=2),
            last=self._still_held(jobs, up) if self.faults.any else self.last,
        )

    def _still_held(self, jobs: Longs, up: Longs) -> Shares | None:
        """The last decision as far as workers that are up can hold it, those that came first first,
        then pairs.
        """
        last = self.last
        if last is None:
            return None
        names, room = self.trace.name, self.faults.up[up]
        size_of = {names[j]: int(self.trace.size[j]) for j in jobs.tolist()}
        size = np.array([size_of.get(name, 0) for name in last.name], np.int64)
        pair_size = size[last.pair].min(axis=1)  # 0 where one has left
        time, free = _within(room.astype(np.float64), room, size, last.time[:, up])
        pair_time, _ = _within(free, room, pair_size, last.pair_time[:, up])
        types = tuple([self.cluster.types[t] for t in up])
        return replace(last, types=types, time=time, pair_time=pair_time)

    def decide(self, policy: Policy) -> float:
        """Ask the policy and take over its shares, or fall back; the seconds it took.

        A decision that :func:`walras.rounds.check` refuses is noted, and the shares of the
        last good decision stay; what they leave goes to jobs without shares, in order of arrival.
        Where no job has room on the workers that are up, nobody is asked.
        """
        snapshot = self.snapshot()
        if not len(snapshot):
            self._take(snapshot, snapshot.shares(snapshot.speed))
            return 0.0
        began = time.perf_counter()
        found = policy(snapshot)
        seconds = time.perf_counter() - began
        broken = check(snapshot, found)
        self.violations += [(snapshot.at, violation) for violation in broken]
        if broken:
            found = _fallback(snapshot)
        else:
            self.policy = found.policy
        self._take(snapshot, found)
        return seconds

    def _take(self, snapshot: JobsSnapshot, found: Shares) -> None:
        """Settle what was owed under the last shares, and begin to count under the new ones."""
        state, now = self.state, self.state.clock[NOW]
        jobs, up = self._up()
        since = now - state.clock[LAST] if self.last is not None else 0.0
        granted = np.where(snapshot.fits, np.maximum(found.time, 0.0), 0.0)
        take_over(self.here, since, jobs, up, granted, state)
        if len(up) < len(self.workers):
            found = replace(
                found,
                types=self.cluster.types,
                time=self._spread(found.time, up),
                pair_time=self._spread(found.pair_time, up),
            )
        self.pairs = self._pairs(found, jobs, since)
        state.given[:] = state.clock[ROUND] / 2 * (len(jobs) + len(self.pairs.jobs))
        state.decided[jobs] = True
        state.clock[LAST], state.counts[CHANGED], self.last = now, 0, found
        if found.blind and len(self.orders) == 1:
            self.orders, state.counts[DRAWN] = self._orders(), 0

    def _spread(self, time: Floats, up: Longs) -> Floats:
        """Shares on the types that are up as shares on all types."""
        made = np.zeros((len(time), len(self.workers)))
        made[:, up] = time
        return made

    def _pairs(self, found: Shares, here: Longs, since: float) -> Pairs:
        """The pairs of a decision, with what those that were there before are owed."""
        if not len(found.pair):
            return no_pairs(len(self.workers))
        n, old, at = len(self.trace), self.pairs, np.sort(found.pair, axis=1)
        jobs, trace = here[at], self.trace
        fits = (self.jobs.speed > 0.0) & (trace.size[:, None] <= self.workers)
        speed = paired_speed(jobs, trace.group, self.paired, trace.size, fits)
        owed = np.zeros(found.pair_time.shape)
        _, now, then = np.intersect1d(
            jobs @ (n, 1), old.jobs @ (n, 1), assume_unique=True, return_indices=True
        )
        owed[now] = old.owed[then] + (old.share[then] * since - old.had[then])
        share = np.where((speed > 0.0).all(axis=1), np.maximum(found.pair_time, 0.0), 0.0)
        return Pairs(jobs, speed, share, np.zeros(share.shape), owed, np.zeros(len(jobs)))

    def _orders(self) -> Longs:
        """(K, T) the orders in which the next rounds fill the types."""
        t = len(self.cluster.types)
        if self.last is None or not self.last.blind:
            return np.arange(t)[None, :]
        drawn = []
        for _ in range(_ORDERS):
            order = list(range(t))
            self.draws.shuffle(order)
            drawn.append(order)
        return np.array(drawn)

    def more_orders(self) -> int:
        """Rounds that can be run before new orders are drawn; draws them where none are left."""
        if len(self.orders) == 1:
            return _ORDERS
        if self.state.counts[DRAWN] >= len(self.orders):
            self.orders, self.state.counts[DRAWN] = self._orders(), 0
        return int(len(self.orders) - self.state.counts[DRAWN])

    @property
    def waits(self) -> bool:
        """Whether measured jobs have not ended."""
        return bool(self.state.counts[MEASURED] > 0)

    @property
    def changed(self) -> bool:
        """Whether a decision is due: something has changed since the last one."""
        return bool(self.state.counts[CHANGED])

    @property
    def repairs(self) -> bool:
        """Whether a worker was down in the last round."""
        return bool((self.faults.up < self.workers).any())

    @property
    def to_come(self) -> int:
        """Jobs that have not arrived."""
        return len(self.trace) - int(self.state.counts[NEXT])


def _within(free: Floats, room: Longs, size: Longs, time: Floats) -> tuple[Floats, Floats]:
    """(N, T) shares that free workers can hold, the first ones first, and (T,) workers left free.

    Args:
        free: (T,) free workers.
        room: (T,) workers that are up.
        size: (N,) workers of each job or pair; 0 where it is not there.
        time: (N, T) shares that it had.
    """
    kept = np.where((size > 0)[:, None] & (size[:, None] <= room), time, 0.0)
    for t in np.flatnonzero(size @ kept > free + _ROUNDING):
        taken = 0.0
        for k in np.flatnonzero(kept[:, t]):
            if taken + size[k] * kept[k, t] > free[t] + _ROUNDING:
                kept[k, t] = 0.0
            taken += size[k] * kept[k, t]
    return kept, np.maximum(free - size @ kept, 0.0)


def _fallback(snapshot: JobsSnapshot) -> Shares:
    """The last shares, and whole workers for jobs without any, in order of arrival."""
    time = snapshot.held.copy()
    pair, pair_time = snapshot.held_pairs
    free = snapshot.workers - snapshot.size @ time - snapshot.size[pair[:, 0]] @ pair_time
    without = (snapshot.held > 0.0).sum(axis=1) == 0
    without[pair] = False
    for j in np.flatnonzero(without):
        fits = snapshot.fits[j] & (snapshot.size[j] <= free + 1e-9)
        if fits.any():
            t = int(np.argmax(fits))
            time[j, t] = 1.0
            free[t] -= snapshot.size[j]
    return snapshot.shares(time, pair=pair, pair_time=pair_time, policy="fallback")
