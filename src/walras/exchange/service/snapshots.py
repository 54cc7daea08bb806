"""Reads what a round decides from, and makes of a decision what is published.

All waiting tasks are counted and ordered, each with the number before it; only as many as the
window may need are listed with features, so that a snapshot stays small enough to be kept.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sqlalchemy as sa

from walras.exchange.errors import StoreError
from walras.exchange.service import rounds, snapshot_clusters, snapshot_tasks
from walras.exchange.service.rounds import Placed
from walras.exchange.service.snapshot_tasks import Waiting
from walras.exchange.service.timing import Timing
from walras.exchange.store.schema import tenant
from walras.exchange.store.statements import Statement, Transaction, document
from walras.policies.placements import Policy, decayed, eligible, fair_order
from walras.policies.placements.order import within_quota
from walras.rounds import Clusters, Decision, FeatureSet, Rest, Snapshot, Tasks, Tenants
from walras.types import Longs

PRIOR = "prior"
"""Name of what predicts as long as nothing was learned of tasks with such features."""

TYPICAL = 60.0
"""Seconds that a task is taken to need before any has been seen."""

_SAMPLED = 4  # one of so many listed tasks is a random one: those in front may all be unplaceable
_LEVEL = 1  # of compression
_MOST = 50_000  # tasks that are listed at most, however many slots providers say are free
_ALL = 1 << 62  # tasks: more than there are
_MORE = 4  # times as many tasks are read where too few of those read are in line

_TENANTS = Statement(
    sa.select(
        tenant.c.id,
        tenant.c.name,
        tenant.c.weight,
        tenant.c.quota_slots,
        tenant.c.used,
        tenant.c.used_at,
    ).order_by(tenant.c.id)
)


def snapshot(
    tx: Transaction,
    now: float,
    policy: Policy,
    timing: Timing,
    *,
    seed: int = 0,
    change: Callable[[Clusters], Clusters] | None = None,
) -> Snapshot:
    """Read what a round decides from.

    Listed are the first tasks in line, as many as the window may need and some more, and a random
    few of those behind. A task is in line where some cluster that is up could take it and its
    tenant's quota has room. All others are counted by what they have in common. Lower priorities
    are read where the higher ones hold too few tasks in line, or where the last round left slots
    free: so tasks that cannot be placed hold up no others for ever.

    Args:
        tx: One consistent view.
        now: The service's time.
        policy: The settings.
        timing: How long leases last.
        seed: Of the random few.
        change: What is otherwise at the clusters; tasks are listed by what they are then.

    Returns:
        The snapshot.
    """
    known = snapshot_clusters.recent(tx)
    base = _Base.read(tx, now, policy, timing, known)
    if change is not None:
        base = replace(base, clusters=change(base.clusters))
    window = int(policy.rules.window * base.clusters.free[base.clusters.up].sum())
    most = min(policy.listed + 2 * window, _MOST)
    enough = _ALL if rounds.left_free(tx) else most
    reader = _Reader(base, snapshot_tasks.waiting(tx, enough))
    while len(reader.order) < most and reader.waiting.below:
        reader = _Reader(base, snapshot_tasks.waiting(tx, _MORE * len(reader.waiting)))
    return reader.made(tx, reader.listed(most, seed))


def snapshot_of_one(
    tx: Transaction, now: float, policy: Policy, timing: Timing, key: int
) -> Snapshot:
    """Read what a round would decide from if one task waited alone.

    Args:
        tx: One consistent view.
        now: The service's time.
        policy: The settings.
        timing: How long leases last.
        key: The task.

    Returns:
        The snapshot; nothing is listed where the task does not wait.
    """
    base = _Base.read(tx, now, policy, timing, snapshot_clusters.Recent({}, None))
    waiting = snapshot_tasks.alone(tx, key)
    return _Reader(base, waiting).made(tx, np.arange(len(waiting)))


def _tenants(
    tx: Transaction, now: float, half_life: float, in_use: dict[int, int]
) -> tuple[Tenants, dict[int, int]]:
    """The tenants, and key -> place."""
    rows = tx.rows(_TENANTS)
    made = Tenants(
        tuple(row[1] for row in rows),
        np.array([row[2] for row in rows], np.float64),
        np.array([-1 if row[3] is None else row[3] for row in rows], np.int64),
        np.array([in_use.get(row[0], 0) for row in rows], np.int64),
        np.array([decayed(row[4], now - row[5], half_life) for row in rows], np.float64),
    )
    return made, {row[0]: t for t, row in enumerate(rows)}


@dataclass(frozen=True, eq=False)
class _Base:
    """All of a snapshot but its tasks; what the store's keys stand for."""

    now: float
    policy: Policy
    clusters: Clusters
    tenants: Tenants
    typical: float
    tenant_of: dict[int, int]
    labels: dict[int, dict[str, str]]

    @classmethod
    def read(
        cls,
        tx: Transaction,
        now: float,
        policy: Policy,
        timing: Timing,
        known: snapshot_clusters.Recent,
    ) -> _Base:
        typical = known.typical or TYPICAL
        taken = snapshot_clusters.spans(tx, now, typical)
        clusters = snapshot_clusters.clusters(tx, now, timing, taken, known)
        in_use = snapshot_clusters.in_use(taken)
        tenants, tenant_of = _tenants(tx, now, policy.half_life, in_use)
        labels = snapshot_tasks.requirements(tx)
        return cls(now, policy, clusters, tenants, typical, tenant_of, labels)


@dataclass(eq=False)
class _Reader:
    """Orders the waiting tasks, and chooses those that are listed."""

    base: _Base
    waiting: Waiting

    def __post_init__(self) -> None:
        base, waiting, n = self.base, self.waiting, len(self.waiting)
        self.owner = _mapped(waiting.tenant, base.tenant_of)
        used = np.unique(np.concatenate([waiting.requirement, self._below(2)])).tolist()
        # The requirement of no labels is the first one.
        order = sorted(used, key=lambda key: (bool(base.labels[key]), key))
        self.requires_of = {key: r for r, key in enumerate(order)}
        self.requirements = tuple(base.labels[key] for key in order) or ({},)
        self.required = _mapped(waiting.requirement, self.requires_of)
        zeros, none = np.zeros(n, np.int64), np.full(n, -1)
        # All of them as tasks without names, to be put in order.
        bare = Tasks(
            waiting.key,
            tuple(map(str, range(n))),
            self.owner,
            waiting.priority,
            waiting.submitted,
            waiting.deadline,
            waiting.slots,
            waiting.min_success,
            self.required,
            zeros,
            zeros,
            zeros,
            none,
            none,
            none,
        )
        whole = self._snapshot(bare, (FeatureSet((), np.zeros((n, 0), np.float32)),))
        line = within_quota(bare, base.tenants, eligible(whole))
        self.order = fair_order(bare, base.tenants, base.typical, line)
        self.ahead = none.copy()
        self.ahead[self.order] = np.arange(len(self.order))

    def _below(self, column: int) -> Longs:
        return np.array([row[column] for row in self.waiting.below], np.int64)

    def _snapshot(
        self,
        tasks: Tasks,
        features: tuple[FeatureSet, ...],
        tried: Any = None,
        rest: Rest | None = None,
    ) -> Snapshot:
        return Snapshot(
            at=self.base.now,
            rules=self.base.policy.rules,
            tasks=tasks,
            clusters=self.base.clusters,
            tenants=self.base.tenants,
            requirements=self.requirements,
            features=features,
            tried=np.zeros((0, 2), np.int64) if tried is None else tried,
            typical=self.base.typical,
            rest=rest or Rest.none(),
        )

    def listed(self, most: int, seed: int) -> Longs:
        """Places of the tasks that are listed, in line first."""
        order = self.order
        if len(order) > most:
            front = most - most // _SAMPLED
            behind = np.random.default_rng([seed, 3]).choice(
                len(order) - front, most - front, replace=False
            )
            order = np.concatenate([order[:front], order[front + np.sort(behind)]])
        return order

    def made(self, tx: Transaction, listed: Longs) -> Snapshot:
        """The snapshot with some tasks listed."""
        waiting = self.waiting
        found = snapshot_tasks.details(tx, waiting.key[listed])
        place = {int(key): i for i, key in enumerate(self.base.clusters.key)}
        tasks = Tasks(
            key=waiting.key[listed],
            uid=found.uid,
            tenant=self.owner[listed],
            priority=waiting.priority[listed],
            submitted=waiting.submitted[listed],
            deadline=waiting.deadline[listed],
            slots=waiting.slots[listed],
            min_success=waiting.min_success[listed],
            requires=self.required[listed],
            feature_set=found.feature_set,
            attempt=found.attempt,
            version=found.version,
            pin=np.full(len(listed), -1),
            previous=_mapped(found.previous, place | {-1: -1}),
            ahead=self.ahead[listed],
        )
        tried = np.array([(j, place[c]) for j, c in found.tried], np.int64).reshape(-1, 2)
        features = found.features or (FeatureSet((), np.zeros((0, 0), np.float32)),)
        return self._snapshot(tasks, features, tried, self._rest(listed))

    def _rest(self, listed: Longs) -> Rest:
        waiting = self.waiting
        out = np.ones(len(waiting), np.bool_)
        out[listed] = False
        ones = np.ones(int(out.sum()), np.int64)
        level = (
            self.owner[out],
            waiting.priority[out],
            self.required[out],
            waiting.slots[out],
            ones,
        )
        below = (
            _mapped(self._below(0), self.base.tenant_of),
            self._below(1),
            _mapped(self._below(2), self.requires_of),
            self._below(3),
            self._below(4),
        )
        return snapshot_tasks.counted([level, below])


def _mapped(keys: Longs, places: dict[int, int]) -> Longs:
    """Places of keys, each of which has one."""
    known = np.array(sorted(places), np.int64)
    at = np.array([places[int(key)] for key in known], np.int64)
    found: Longs = at[np.searchsorted(known, keys)]
    return found


# ---- what is published ------------------------------------------------------------------------


def plan_of(decision: Decision, taken: Snapshot) -> list[Placed]:
    """The plan of a decision, with a receipt for each task.

    Args:
        decision: What was decided.
        taken: What it was decided from.
    """
    tasks, drawn = taken.tasks, decision.propensity > 0.0
    foreseen = np.isfinite(decision.seconds_high)  # the prior promises no time
    return [
        Placed(
            task=int(tasks.key[j]),
            version=int(tasks.version[j]),
            cluster=int(taken.clusters.key[decision.cluster[j]]),
            slots=int(tasks.slots[j]),
            propensity=float(decision.propensity[j]) or None,
            receipt=document(
                decision.row(int(j))
                | _shared(decision, decision.predictor if foreseen[j] else PRIOR)
                | {"random": bool(drawn[j])}
            ),
            predicted=float(decision.seconds[j]),
        )
        for j in np.flatnonzero(decision.placed)
    ]


def _shared(decision: Decision, predictor: str) -> dict[str, Any]:
    """What a receipt tells of the round, and who predicted the task's time."""
    return {
        "state": decision.state,
        "method": decision.method,
        "predictor": predictor,
        "makespan": decision.makespan,
        "gap": decision.gap,
    }


def round_columns(decision: Decision, taken: Snapshot) -> dict[str, Any]:
    """The columns of a round, as :func:`walras.exchange.service.rounds.publish` takes them.

    Args:
        decision: What was decided.
        taken: What it was decided from.
    """
    filled = taken.tasks.slots[decision.placed]
    counts = {
        "tasks": taken.waiting,
        "listed": len(taken.tasks),
        "decided": int(decision.placed.sum()),
        "random": int((decision.propensity > 0.0).sum()),
        "clusters": len(taken.clusters),
        "free": int(taken.clusters.free[taken.clusters.up].sum()),
        "left_free": int(taken.room.sum() - filled.sum()),
        "mean_success": decision.mean_success if decision.placed.any() else None,
    }
    return {
        "snapshot_hash": taken.hash,
        "snapshot": zlib.compress(taken.to_bytes(), _LEVEL),
        "decision": zlib.compress(decision.to_bytes(), _LEVEL),
        "predictor": decision.predictor,
        "makespan": decision.makespan,
        "bound": decision.bound,
        "gap": decision.gap,
        "method": decision.method,
        "blockers": zlib.compress(document(decision.blockers.counts).encode(), _LEVEL),
        "why": decision.why or None,
        "counts": counts,
    }


def snapshot_of(stored: bytes) -> Snapshot:
    """The snapshot that a round stored.

    Raises:
        StoreError: It is damaged.
        DataError: It holds something else.
    """
    return Snapshot.from_bytes(_unpacked(stored))


def decision_of(stored: bytes) -> Decision:
    """The decision that a round stored.

    Raises:
        StoreError: It is damaged.
        DataError: It holds something else.
    """
    return Decision.from_bytes(_unpacked(stored))


def blockers_of(stored: bytes) -> dict[str, int]:
    """Code -> tasks, as a round stored them.

    Raises:
        StoreError: It is damaged.
    """
    found: dict[str, int] = json.loads(_unpacked(stored))
    return found


def _unpacked(stored: bytes) -> bytes:
    try:
        return zlib.decompress(stored)
    except (zlib.error, TypeError) as error:  # no bytes at all
        raise StoreError(
            f"is damaged: {error}",
            where="what a round stored",
            remedy="walras db check looks at the whole database",
        ) from error
