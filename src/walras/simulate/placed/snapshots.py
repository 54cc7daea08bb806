"""Snapshots of the world of tasks: what a round may know, and nothing of the truth."""

from __future__ import annotations

from collections import deque

import numpy as np

from walras.rounds import Clusters, FeatureSet, Rest, Snapshot, Tasks, Tenants
from walras.simulate.placed.tasks import ROW
from walras.simulate.placed.world import GOOD, World
from walras.types import Bools, Floats, Longs

_ROUNDS = 20  # rounds whose confirmed work counts for a provider's share
_OVERDUE = 0.1  # a run that is late takes so much longer again, as a share of its time so far
_LEAST = 1.0  # seconds until a slot that is taken may be free


class Snapshots:
    """Takes snapshots of a world; it reckons once what does not change.

    Where a task can run on some clusters alone, it requires a label that these have.

    Args:
        world: The world.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        tasks, slots = world.tasks, world.slots
        n, m = len(tasks), len(slots.names)
        self.key, self.rows = np.arange(1, n + 1), np.arange(n)
        self.tenant = np.array(world.tenant, np.int64)
        runs = np.isfinite(tasks.seconds)
        sets, which = np.unique(runs, axis=0, return_inverse=True)
        pairs, requires = np.unique(
            np.column_stack([tasks.requires, which.ravel()]), axis=0, return_inverse=True
        )
        self.requires: Longs = requires.ravel().astype(np.int64)
        self.requirements = tuple(
            {**tasks.requirements[r], **({} if sets[s].all() else {f"runs {s}": "yes"})}
            for r, s in pairs.tolist()
        ) or ({},)
        self.labels = tuple(
            {**slots.labels.get(name, {})}
            | {f"runs {s}": "yes" for s in np.flatnonzero(sets[:, i]) if not sets[s].all()}
            for i, name in enumerate(slots.names)
        )
        self.matches = np.array(
            [[r.items() <= has.items() for has in self.labels] for r in self.requirements],
            np.bool_,
        ).reshape(-1, m)
        self.trusted = np.array([name not in slots.provider for name in slots.names], np.bool_)
        self.provider = tuple(slots.provider.get(name, name) for name in slots.names)
        self.price = np.array([slots.price.get(name, 0.0) for name in slots.names])
        self.start = np.concatenate([[0], np.cumsum(slots.slots)])
        self.rounds: deque[int] = deque(maxlen=_ROUNDS)  # runs that there were at each round

    def take(self) -> tuple[Snapshot, Longs]:
        """The snapshot of now, and the tasks that it lists."""
        world, tasks = self.world, self.world.tasks
        clusters = self._clusters()
        listed, rest = self._listed(int(clusters.free[clusters.up].sum()))
        place = {j: k for k, j in enumerate(listed.tolist())}
        tried = [(place[j], i) for j in place if j in world.tried for i in world.tried[j]]
        snapshot = Snapshot(
            at=world.now,
            rules=world.slots.rules,
            tasks=Tasks(
                key=self.key[listed],
                uid=tuple([tasks.name[j] for j in place]),
                tenant=self.tenant[listed],
                priority=tasks.priority[listed],
                submitted=tasks.arrival[listed],
                deadline=tasks.deadline[listed],
                slots=tasks.size[listed],
                min_success=tasks.min_success[listed],
                requires=self.requires[listed],
                feature_set=np.zeros(len(listed), np.int64),
                attempt=np.array([world.attempts[j] for j in place], np.int64),
                version=np.zeros(len(listed), np.int64),
                pin=np.full(len(listed), -1),
                previous=np.array([world.previous[j] for j in place], np.int64),
                ahead=np.arange(len(listed)),
            ),
            clusters=clusters,
            tenants=self._tenants(),
            requirements=self.requirements,
            features=(self._features(listed),),
            tried=np.array(tried, np.int64).reshape(-1, 2),
            typical=max(world.typical, 1e-9),
            rest=rest,
        )
        self.rounds.append(len(world.log.task))
        return snapshot, listed

    def _features(self, listed: Longs) -> FeatureSet:
        given = self.world.tasks.features
        if given is None:
            return FeatureSet((ROW,), listed[:, None].astype(np.float32))
        return FeatureSet(given.names, given.values[listed])

    def _tenants(self) -> Tenants:
        use = self.world.tenants
        return Tenants(
            use.names,
            np.array(use.weight),
            np.array(use.quota, np.int64),
            np.array(use.in_use, np.int64),
            np.array(use.used(self.world.now)),
        )

    def _listed(self, free: int) -> tuple[Longs, Rest]:
        """The tasks that a snapshot lists, by number, and a count of the others.

        Where more wait than it lists, tenants take turns within a priority; those come last that no
        cluster could take now, or whose tenants have no slots left.
        """
        world, tasks = self.world, self.world.tasks
        waiting = np.fromiter(world.waiting, np.int64, len(world.waiting))
        waiting.sort()
        most = world.slots.listed + 2 * free
        if len(waiting) <= most:
            return waiting, Rest.none()
        owner, priority = self.tenant[waiting], tasks.priority[waiting]
        turn = np.zeros(len(waiting), np.int64)
        order = np.lexsort((waiting, owner, -priority))
        group = np.column_stack([owner, priority])[order]
        fresh = np.concatenate([[True], (group[1:] != group[:-1]).any(axis=1)])
        begin = np.maximum.accumulate(np.where(fresh, np.arange(len(order)), 0))
        turn[order] = np.arange(len(order)) - begin
        ranked = np.lexsort((waiting, turn, -priority, ~self._placeable(waiting)))
        out = waiting[ranked[most:]]
        columns = np.column_stack(
            [self.tenant[out], tasks.priority[out], self.requires[out], tasks.size[out]]
        )
        kinds, count = np.unique(columns, axis=0, return_counts=True)
        return np.sort(waiting[ranked[:most]]), Rest(
            kinds[:, 0], kinds[:, 1], kinds[:, 2], kinds[:, 3], count
        )

    def _placeable(self, waiting: Longs) -> Bools:
        world = self.world
        up = np.array([state == "up" for state in world.cluster_state], np.bool_)
        room = np.where(self.matches & up, world.slots.slots, 0).max(axis=1, initial=0)
        use = world.tenants
        left = [q - u if q >= 0 else 2**53 for q, u in zip(use.quota, use.in_use, strict=True)]
        size = world.tasks.size[waiting]
        fits: Bools = (room[self.requires[waiting]] >= size) & (
            np.array(left, np.int64)[self.tenant[waiting]] >= size
        )
        return fits

    def _clusters(self) -> Clusters:
        world, slots = self.world, self.world.slots
        m = len(slots.names)
        offered = np.zeros(m, np.int64)
        for i, queue in enumerate(world.queue):
            offered[i] = sum(world.size[j] for j in queue)
        return Clusters(
            key=np.arange(1, m + 1),
            uid=slots.names,
            provider=self.provider,
            trusted=self.trusted,
            slots=slots.slots,
            offered=offered,
            ready=self._ready(),
            labels=self.labels,
            price=self.price,
            state=tuple(world.cluster_state),
            confirmed=self._confirmed(),
        )

    def _ready(self) -> Floats:
        """Seconds until each slot is free, cluster after cluster, the free ones first."""
        world = self.world
        ready = np.zeros(int(self.start[-1]))
        taken: list[list[float]] = [[] for _ in world.free]
        for j, (i, _, expected) in world.offer.items():
            run = world.run_of.get(j)
            elapsed = 0.0 if run is None else world.now - world.log.began[run]
            left = max(expected - elapsed, _OVERDUE * elapsed, _LEAST)
            taken[i] += [left] * world.size[j]
        for i, busy in enumerate(taken):
            begin, end = self.start[i], self.start[i + 1]
            if world.cluster_state[i] == "down":
                ready[begin:end] = np.inf
            elif busy:
                kept = sorted(busy)[-(end - begin) :]
                ready[end - len(kept) : end] = kept
        return ready

    def _confirmed(self) -> Floats:
        """Slot-seconds of runs that succeeded, of those begun in the last rounds."""
        world, log = self.world, self.world.log
        found = np.zeros(len(world.free))
        if self.trusted.all() or not self.rounds:
            return found
        for run in range(self.rounds[0], len(log.task)):
            if log.outcome[run] == GOOD:
                seconds = log.ended[run] - log.began[run]
                found[log.cluster[run]] += world.size[log.task[run]] * seconds
        return found
