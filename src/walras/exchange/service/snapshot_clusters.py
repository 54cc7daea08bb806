"""The clusters of a snapshot: free slots, when the others are free, and confirmed work."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import sqlalchemy as sa

from walras.exchange.service.timing import Timing
from walras.exchange.store.schema import agent, cluster, observation, placement, task
from walras.exchange.store.statements import Statement, Transaction, given
from walras.rounds import Clusters
from walras.types import Floats

ROUNDS = 20
"""Rounds whose confirmed work counts for a provider's share."""

_OBSERVED = 5000  # newest observations that are looked at
_OVERDUE = 0.1  # a run that is late takes so much longer again, as a share of its time so far
_LEAST = 1.0  # seconds until a slot that is taken may be free
_HELD = 3600.0  # seconds for a run that cannot be reached and has no time limit

_CLUSTERS = Statement(
    sa.select(
        cluster.c.id,
        cluster.c.uid,
        cluster.c.provider,
        cluster.c.trusted,
        cluster.c.slots,
        cluster.c.labels,
        cluster.c.price,
        cluster.c.state,
        cluster.c.seen,
    ).order_by(cluster.c.id)
)
_AGENTS = Statement(sa.select(agent.c.id, agent.c.cluster, agent.c.seen, agent.c.free))
_TAKING = sa.select(
    placement.c.cluster,
    placement.c.state,
    placement.c.slots,
    placement.c.granted,
    placement.c.predicted,
    placement.c.agent,
    task.c.tenant,
    task.c.time_limit,
).join(task, task.c.id == placement.c.task)
_ALIVE = Statement(
    _TAKING.where(
        placement.c.state.in_([sa.literal_column("'leased'"), sa.literal_column("'running'")])
    )
)
_OFFERED = Statement(_TAKING.where(placement.c.state == sa.literal_column("'offered'")))
_UNREACHED = Statement(
    _TAKING.where(
        task.c.state == sa.literal_column("'held'"),
        placement.c.state == sa.literal_column("'unreachable'"),
        task.c.token == placement.c.token,
    )
)
_RECENT = Statement(
    sa.select(
        placement.c.cluster,
        placement.c.round,
        placement.c.slots,
        observation.c.seconds_measured,
        observation.c.weight,
        observation.c.outcome,
    )
    .join(placement, placement.c.id == observation.c.placement)
    .order_by(observation.c.id.desc())
    .limit(given("most"))
)


class Span(NamedTuple):
    """A placement that takes slots.

    Attributes:
        cluster: Key of its cluster.
        slots: Slots that it takes.
        seconds: Until they are free, as far as is known.
        tenant: Key of its tenant.
        offered: Whether no agent has taken it yet.
        agent: Key of its agent, if one has.
        granted: When that was.
    """

    cluster: int
    slots: int
    seconds: float
    tenant: int
    offered: bool
    agent: int | None
    granted: float


@dataclass(frozen=True)
class Recent:
    """What the newest observations tell.

    Attributes:
        confirmed: Key of a cluster -> slot-seconds of confirmed work in the last rounds.
        typical: Median seconds of a completed run, or None where there is none.
    """

    confirmed: Mapping[int, float]
    typical: float | None


def spans(tx: Transaction, now: float, typical: float) -> list[Span]:
    """The placements that take slots now."""
    found = []
    for statement in (_OFFERED, _ALIVE, _UNREACHED):
        for row in tx.rows(statement):
            of, state, slots, granted, predicted, by, owner, limit = row
            expected = typical if predicted is None else float(predicted)
            at = now if granted is None else float(granted)
            seconds = _left(state, expected, now - at, limit)
            found.append(Span(of, int(slots), seconds, owner, state == "offered", by, at))
    return found


def _left(state: str, expected: float, elapsed: float, limit: float | None) -> float:
    """Seconds that a placement still takes its slots, as far as is known."""
    if state == "unreachable":
        return max((_HELD if limit is None else float(limit)) - elapsed, _LEAST)
    return max(expected - elapsed, _OVERDUE * elapsed, _LEAST)


def recent(tx: Transaction) -> Recent:
    """What the newest observations tell; only completed runs of our own rounds are confirmed."""
    rows = [row for row in tx.rows(_RECENT, most=_OBSERVED) if row[5] == "completed"]
    last = sorted({row[1] for row in rows if row[1] is not None})[-ROUNDS:]
    confirmed: dict[int, float] = defaultdict(float)
    for of, seq, slots, seconds, weight, _ in rows:
        if last and seq is not None and seq >= last[0] and weight in ("used", "audited"):
            confirmed[int(of)] += float(slots) * float(seconds)
    times = [float(row[3]) for row in rows]
    return Recent(confirmed, statistics.median(times) if times else None)


def clusters(
    tx: Transaction, now: float, timing: Timing, taken: Sequence[Span], known: Recent
) -> Clusters:
    """The clusters as a round sees them.

    A cluster that has not been heard for as long as a lease is held is ``down``. Slots that no
    agent serves are not free.

    Args:
        tx: The transaction.
        now: The service's time.
        timing: How long leases last.
        taken: The placements that take slots.
        known: What observations tell.
    """
    rows = tx.rows(_CLUSTERS)
    served = _served(tx, now, timing, taken)
    by_cluster: dict[int, list[Span]] = defaultdict(list)
    for span in taken:
        by_cluster[span.cluster].append(span)
    ready, offered, states, labels = [], [], [], []
    for key, uid, provider, _, slots, has, _, state, seen in rows:
        mine = by_cluster[key]
        ready.append(_ready(int(slots), served.get(key, 0), mine))
        offered.append(sum(span.slots for span in mine if span.offered))
        silent = seen is None or float(seen) < now - timing.held
        states.append("down" if silent else str(state))
        labels.append(labels_of(uid, provider, has))
    return Clusters(
        key=np.array([row[0] for row in rows], np.int64),
        uid=tuple(row[1] for row in rows),
        provider=tuple(row[2] for row in rows),
        trusted=np.array([bool(row[3]) for row in rows], np.bool_),
        slots=np.array([row[4] for row in rows], np.int64),
        offered=np.array(offered, np.int64),
        ready=np.concatenate([np.zeros(0), *ready]),
        labels=tuple(labels),
        price=np.array([row[6] for row in rows], np.float64),
        state=tuple(states),
        confirmed=np.array([known.confirmed.get(row[0], 0.0) for row in rows], np.float64),
    )


def labels_of(uid: str, provider: str, own: str) -> dict[str, str]:
    """The labels that tasks may require: a cluster's own, and ``cluster`` and ``provider``.

    Labels of its own with these two names do not count, so that none passes for another.

    Example:
        >>> from walras.exchange.service.snapshot_clusters import labels_of
        >>> labels_of("east", "lab", '{"gpu":"h100","provider":"another"}')
        {'gpu': 'h100', 'provider': 'lab', 'cluster': 'east'}
    """
    labels: dict[str, str] = json.loads(own)
    return labels | {"provider": provider, "cluster": uid}


def _served(tx: Transaction, now: float, timing: Timing, taken: Sequence[Span]) -> dict[int, int]:
    """Key of a cluster -> slots that agents which are heard serve.

    An agent told how many of its slots were free in its last message, before what was granted in
    the answer: it serves these and the ones that its runs of before took.
    """
    heard: dict[int, tuple[int, float]] = {}
    served: dict[int, int] = defaultdict(int)
    for key, of, seen, free in tx.rows(_AGENTS):
        if seen is not None and float(seen) >= now - timing.held:
            heard[key] = (of, float(seen))
            served[of] += int(free)
    for span in taken:
        if span.agent in heard:
            of, seen = heard[span.agent]
            if span.granted < seen:
                served[of] += span.slots
    return served


def _ready(slots: int, served: int, mine: Sequence[Span]) -> Floats:
    """(slots,) seconds until each slot of a cluster is free; infinite where nobody serves it."""
    busy = [span.seconds for span in mine for _ in range(span.slots)]
    busy = sorted(busy, reverse=True)[:slots]
    unserved = min(max(slots - max(served, len(busy)), 0), slots - len(busy))
    free = slots - len(busy) - unserved
    return np.array([0.0] * free + busy + [np.inf] * unserved)


def in_use(taken: Sequence[Span]) -> dict[int, int]:
    """Key of a tenant -> slots that its placements take."""
    found: dict[int, int] = defaultdict(int)
    for span in taken:
        found[span.tenant] += span.slots
    return found
