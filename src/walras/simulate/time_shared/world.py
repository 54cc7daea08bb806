"""The world in which jobs share types of workers in time: its state, and what a policy is asked."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from walras.rounds import JobsSnapshot, Shares, Violation, check_shares
from walras.simulate.cluster import Cluster
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
from walras.simulate.trace import Trace
from walras.types import Bools, Longs

Policy = Callable[[JobsSnapshot], Shares]
"""A policy: from a snapshot to shares of time."""

_ORDERS = 4096  # random orders of types that are drawn at once


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
        self.paired = self.trace.paired_on(self.cluster)
        self.pairs = no_pairs(len(self.workers))
        self.orders = self._orders()

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

    def snapshot(self) -> JobsSnapshot:
        """What a policy decides from now."""
        jobs, trace, state = self.here, self.trace, self.state
        names, kinds = trace.name, trace.kind
        listed: Sequence[int] = jobs.tolist()
        return JobsSnapshot.checked(
            at=float(state.clock[NOW]),
            round_seconds=float(state.clock[ROUND]),
            name=tuple([names[j] for j in listed]),
            kind=tuple([kinds[j] for j in listed]),
            size=trace.size[jobs],
            weight=trace.weight[jobs],
            arrival=trace.arrival[jobs],
            steps=trace.steps[jobs],
            left=state.left[jobs],
            received=state.received[jobs],
            speed=self.jobs.speed[jobs],
            types=self.cluster.types,
            workers=self.workers,
            group=trace.group[jobs],
            paired=self.paired,
            last=self.last,
        )

    def decide(self, policy: Policy) -> float:
        """Ask the policy and take over its shares, or fall back; the seconds it took.

        A decision that :func:`walras.rounds.check_shares` refuses is noted, and the shares of the
        last good decision stay; what they leave goes to jobs without shares, in order of arrival.
        """
        snapshot = self.snapshot()
        began = time.perf_counter()
        found = policy(snapshot)
        seconds = time.perf_counter() - began
        broken = check_shares(snapshot, found)
        self.violations += [(snapshot.at, violation) for violation in broken]
        if broken:
            found = _fallback(snapshot)
        else:
            self.policy = found.policy
        self._take(snapshot, found)
        return seconds

    def _take(self, snapshot: JobsSnapshot, found: Shares) -> None:
        """Settle what was owed under the last shares, and begin to count under the new ones."""
        jobs, state, now = self.here, self.state, self.state.clock[NOW]
        since = now - state.clock[LAST] if self.last is not None else 0.0
        state.owed[jobs] += state.share[jobs] * since - state.had[jobs]
        state.share[jobs] = np.where(snapshot.fits, np.maximum(found.time, 0.0), 0.0)
        state.had[jobs] = 0.0
        self.pairs = self._pairs(snapshot, found, since)
        state.given[:] = state.clock[ROUND] / 2 * (len(jobs) + len(self.pairs.jobs))
        state.decided[jobs] = True
        state.clock[LAST], state.counts[CHANGED], self.last = now, 0, found
        if found.blind and len(self.orders) == 1:
            self.orders, state.counts[DRAWN] = self._orders(), 0

    def _pairs(self, snapshot: JobsSnapshot, found: Shares, since: float) -> Pairs:
        """The pairs of a decision, with what those that were there before are owed."""
        if not len(found.pair):
            return no_pairs(len(self.workers))
        n, old, at = len(self.trace), self.pairs, np.sort(found.pair, axis=1)
        jobs, group = self.here[at], snapshot.group[at]
        speed = np.stack(
            [self.paired[group[:, 0], group[:, 1]], self.paired[group[:, 1], group[:, 0]]], axis=1
        )
        fits = (speed > 0.0).all(axis=1)
        owed = np.zeros(found.pair_time.shape)
        _, now, then = np.intersect1d(
            jobs @ (n, 1), old.jobs @ (n, 1), assume_unique=True, return_indices=True
        )
        owed[now] = old.owed[then] + (old.share[then] * since - old.had[then])
        share = np.where(fits, np.maximum(found.pair_time, 0.0), 0.0)
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
    def to_come(self) -> int:
        """Jobs that have not arrived."""
        return len(self.trace) - int(self.state.counts[NEXT])


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
