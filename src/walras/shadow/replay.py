"""The replay: arrivals of the log in virtual time, decided round by round by the exchange."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from walras.errors import EngineError
from walras.policies.placements import Policy, decide
from walras.rounds import Clusters, FeatureSet, Predict, Snapshot, Tasks, Tenants
from walras.types import Bools, Floats, Longs

ROW = "row"  # the one feature of a snapshot: the number of the arrival

Seconds = Callable[[int, int], float]
"""``(arrival, cluster) -> seconds`` that it takes there, which no policy knows."""


@dataclass(frozen=True, eq=False)
class Arrivals:
    """What is replayed, in the order of submission.

    Attributes:
        submit: (n,) seconds.
        slots: (n,) slots that each takes.
        requires: (n,) which set of clusters it may go to.
        sets: (sets, M) whether a cluster is in a set.
        clusters: Name of each cluster; length M.
        capacity: (M,) slots of each cluster.
        price: (M,) price of a slot-hour.
        busy_cluster: (b,) where each job runs that runs at the cut.
        busy_slots: (b,) slots that it takes.
        busy_end: (b,) when it ends.
        cut: When the replay begins.
        typical: Seconds that a task takes as long as nothing better is known.
    """

    submit: Floats
    slots: Longs
    requires: Longs
    sets: Bools
    clusters: tuple[str, ...]
    capacity: Longs
    price: Floats
    busy_cluster: Longs
    busy_slots: Longs
    busy_end: Floats
    cut: float
    typical: float

    def __len__(self) -> int:
        return len(self.submit)


@dataclass(frozen=True, eq=False)
class Placed:
    """Where and when the policy ran the arrivals.

    Attributes:
        cluster: (n,) where; -1 for what was not placed before the replay ended.
        start: (n,) when; infinite for those.
        until: The virtual time at which it ended; infinite where all arrivals were placed.
        rounds: Rounds that were decided.
        fallbacks: Rounds whose decision was a fallback.
    """

    cluster: Longs
    start: Floats
    until: float
    rounds: int
    fallbacks: int


@dataclass(eq=False)
class _World:
    """Free slots and running jobs while the replay goes on."""

    given: Arrivals
    free: Longs = field(init=False)
    ends: list[tuple[float, int, int, int]] = field(init=False)  # end, key, cluster, slots
    expected: dict[int, tuple[int, int, float]] = field(init=False)  # key -> cluster, slots, end

    def __post_init__(self) -> None:
        given = self.given
        self.free = given.capacity - np.bincount(
            given.busy_cluster, given.busy_slots, len(given.capacity)
        ).astype(np.int64)
        self.ends, self.expected = [], {}
        for k in range(len(given.busy_end)):
            # of what runs already, the policy knows no more than what a task takes
            self.start(
                -1 - k,
                int(given.busy_cluster[k]),
                int(given.busy_slots[k]),
                float(given.busy_end[k]),
                given.cut + given.typical,
            )

    def start(self, key: int, cluster: int, slots: int, end: float, expected: float) -> None:
        heapq.heappush(self.ends, (end, key, cluster, slots))
        self.expected[key] = cluster, slots, expected

    def run_until(self, time: float) -> bool:
        """End what ends by a time; whether anything did."""
        ended = False
        while self.ends and self.ends[0][0] <= time:
            _, key, cluster, slots = heapq.heappop(self.ends)
            self.free[cluster] += slots
            del self.expected[key]
            ended = True
        return ended

    def clusters(self, now: float) -> Clusters:
        """The clusters as a snapshot has them."""
        given, m = self.given, len(self.given.capacity)
        running = np.array(list(self.expected.values()), np.float64).reshape(-1, 3)
        where, slots = running[:, 0].astype(np.int64), running[:, 1].astype(np.int64)
        left = np.maximum(running[:, 2] - now, 1.0)
        ready = [
            np.concatenate([np.zeros(self.free[i]), np.repeat(left[where == i], slots[where == i])])
            for i in range(m)
        ]
        labels = tuple(
            {f"set{s}": "yes" for s in np.flatnonzero(given.sets[:, i]).tolist()} for i in range(m)
        )
        return Clusters.of(
            given.clusters,
            slots=given.capacity,
            ready=np.concatenate(ready),
            trusted=np.ones(m, np.bool_),
            price=given.price,
            labels=labels,
        )


def replay(
    given: Arrivals,
    predict: Predict,
    seconds: Seconds,
    policy: Policy,
    round_seconds: float,
    seed: int = 0,
    on_count: Callable[[int], bool] | None = None,
) -> Placed:
    """Replay arrivals: a round each so many seconds in which something changed and tasks wait.

    Args:
        given: The arrivals.
        predict: What the policy predicts; the one feature of a task is its number.
        seconds: What a task takes on a cluster.
        policy: The policy.
        round_seconds: Seconds between rounds.
        seed: Seed of the rounds.
        on_count: Called with the number of arrivals placed; True ends the replay.

    Returns:
        Where and when each arrival ran.

    Raises:
        EngineError: Tasks wait, nothing runs, and the policy places none of them.
    """
    world = _World(given)
    n = len(given)
    cluster, start = np.full(n, -1), np.full(n, np.inf)
    waiting: list[int] = []
    arrived = rounds = fallbacks = 0
    now = given.cut
    while True:
        changed = world.run_until(now)
        before = arrived
        while arrived < n and given.submit[arrived] <= now:
            waiting.append(arrived)
            arrived += 1
        if waiting and world.free.any() and (changed or arrived > before):
            listed = waiting[: policy.listed + 2 * int(world.free.sum())]
            decision = decide(
                _snapshot(given, world, listed, now, policy), predict, policy, seed=seed + rounds
            )
            rounds += 1
            fallbacks += decision.state != "ok"
            taken = np.flatnonzero(decision.placed)
            for k in taken.tolist():
                j, i = listed[k], int(decision.cluster[k])
                cluster[j], start[j] = i, now
                size = int(given.slots[j])
                world.free[i] -= size
                world.start(j, i, size, now + seconds(j, i), now + float(decision.seconds[k]))
            if len(taken):
                gone = set(taken.tolist())
                waiting = [j for k, j in enumerate(listed) if k not in gone] + waiting[
                    len(listed) :
                ]
            if on_count is not None and on_count(arrived - len(waiting)):
                return Placed(cluster, start, now, rounds, fallbacks)
        if not waiting and arrived == n:
            return Placed(cluster, start, math.inf, rounds, fallbacks)
        coming = [world.ends[0][0]] if waiting and world.ends else []
        coming += [float(given.submit[arrived])] if arrived < n else []
        if not coming:
            raise EngineError(
                f"{len(waiting)} tasks wait on free clusters and the policy places none",
                where="replay",
                allowed="a policy that places each task somewhere",
                remedy="lower the policy's least success, or let tasks go to more clusters",
            )
        steps = math.ceil((min(coming) - given.cut) / round_seconds - 1e-9)
        now = max(given.cut + steps * round_seconds, now + round_seconds)


def _snapshot(
    given: Arrivals, world: _World, listed: list[int], now: float, policy: Policy
) -> Snapshot:
    row = np.array(listed)
    tasks = Tasks.of(
        [str(j) for j in listed],
        key=row + 1,
        submitted=given.submit[row],
        slots=given.slots[row],
        requires=given.requires[row],
    )
    return Snapshot.of(
        tasks,
        world.clusters(now),
        Tenants.of(["log"]),
        at=now,
        rules=policy.rules,
        requirements=tuple({f"set{s}": "yes"} for s in range(len(given.sets))),
        features=(FeatureSet((ROW,), row[:, None].astype(np.float32)),),
        typical=given.typical,
    )
