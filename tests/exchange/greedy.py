"""A plan without a prediction: tasks in order, each to the cluster with the most free slots."""

from __future__ import annotations

import heapq
import json
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from walras.exchange.errors import ConflictError
from walras.exchange.runtime.compute import Compute
from walras.exchange.runtime.exchange import Exchange
from walras.exchange.runtime.planner import Outcome, Played
from walras.exchange.service.rounds import Placed
from walras.exchange.service.snapshot_clusters import labels_of
from walras.exchange.service.timing import Timing
from walras.exchange.store.schema import cluster, placement, requirement, task
from walras.exchange.store.statements import Statement, Transaction, given, in_states

_TAKEN = sa.select(sa.func.coalesce(sa.func.sum(placement.c.slots), 0)).where(
    placement.c.cluster == cluster.c.id,
    sa.or_(
        in_states(placement.c.state, "offered"), in_states(placement.c.state, "leased", "running")
    ),
)
_CLUSTERS = Statement(
    sa.select(
        cluster.c.id,
        cluster.c.uid,
        cluster.c.provider,
        cluster.c.labels,
        cluster.c.slots - _TAKEN.scalar_subquery(),
    ).where(cluster.c.state == "up", cluster.c.seen > given("since"))
)
_PENDING = Statement(
    sa.select(task.c.id, task.c.version, task.c.slots, requirement.c.labels)
    .join(requirement, requirement.c.id == task.c.requirement)
    .where(task.c.state == sa.literal_column("'pending'"))
    .order_by(task.c.priority.desc(), task.c.id)
    .limit(given("most"))
)


@dataclass(frozen=True)
class Taken:
    """Clusters that are heard with their labels and free slots, and tasks in order."""

    clusters: list[tuple[int, dict[str, str], int]]
    tasks: list[tuple[int, int, int, dict[str, str]]]


@dataclass(frozen=True)
class Greedy:
    """The planner; see the module.

    Attributes:
        timing: When a cluster counts as not heard.
        most: Tasks that a round looks at.
    """

    timing: Timing
    most: int = 20_000

    def policy(self, tx: Transaction) -> str:
        """See :meth:`Planner.policy`."""
        return '{"name":"greedy"}'

    def take(self, tx: Transaction, now: float, seed: int) -> Taken:
        """See :meth:`Planner.take`."""
        found = tx.rows(_CLUSTERS, since=now - self.timing.held)
        waiting = tx.rows(_PENDING, most=self.most)
        return Taken(
            [(int(row[0]), labels_of(*row[1:4]), int(row[4])) for row in found],
            [(int(k), int(v), int(s), json.loads(required)) for k, v, s, required in waiting],
        )

    def decide(self, taken: Taken, seconds: float, compute: Compute) -> Outcome:
        """See :meth:`Planner.decide`."""
        return Outcome("published", _plan(taken), {"method": "greedy"})

    def fall_back(self, taken: Taken, why: str) -> Outcome:
        """See :meth:`Planner.fall_back`."""
        return Outcome("fallback", _plan(taken), {"method": "greedy", "why": why})

    def play(
        self,
        exchange: Exchange,
        snapshot: bytes | None,
        changes: dict[str, Any],
        seed: int,
        seconds: float,
        compute: Compute,
    ) -> Played:
        """See :meth:`Planner.play`."""
        raise ConflictError(
            "plans without predictions answer no such questions",
            where="whatif",
            remedy="choose another policy",
        )


def _plan(taken: Taken) -> list[Placed]:
    heaps: dict[str, list[tuple[int, int]]] = {}
    free = {key: slots for key, _, slots in taken.clusters}
    plan = []
    for key, version, slots, required in taken.tasks:
        name = json.dumps(required, sort_keys=True)
        if name not in heaps:
            heaps[name] = _heap(taken, required, free)
        chosen = _largest(heaps[name], free)
        if chosen is not None and free[chosen] >= slots:
            free[chosen] -= slots
            plan.append(Placed(key, version, chosen, slots))
    return plan


def _heap(taken: Taken, required: dict[str, str], free: dict[int, int]) -> list[tuple[int, int]]:
    fits = [k for k, labels, _ in taken.clusters if required.items() <= labels.items()]
    heap = [(-free[key], key) for key in fits]
    heapq.heapify(heap)
    return heap


def _largest(heap: list[tuple[int, int]], free: dict[int, int]) -> int | None:
    """The cluster with the most free slots; entries that are out of date are renewed."""
    while heap:
        most, key = heap[0]
        if -most == free[key]:
            return key
        heapq.heapreplace(heap, (-free[key], key))
    return None
