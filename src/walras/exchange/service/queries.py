"""What is read of tasks: pages, one task, its placements."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sqlalchemy as sa

from walras.exchange.errors import NotFoundError
from walras.exchange.states import BAD_END, ENDED_TASK, ON_CLUSTER, OPEN_TASK
from walras.exchange.store.schema import (
    cluster,
    feature_set,
    placement,
    requirement,
    task,
    tenant,
)
from walras.exchange.store.statements import Statement, Transaction, given, in_states


@dataclass(frozen=True)
class Filter:
    """Which tasks a page shows; None for all.

    Attributes:
        tenant: Of which tenant.
        states: In which states.
        name: Of which name.
        cluster: Whose newest placement, or newest run where they have ended, is on which cluster.
        round: Whose placement or run is of which round.
    """

    tenant: str | None = None
    states: tuple[str, ...] = ()
    name: str | None = None
    cluster: str | None = None
    round: int | None = None


_HAS_ENDED = in_states(task.c.state, *ENDED_TASK)
# The newest placement; of a task that has ended, its newest run. They differ where a late result
# ended a task that had been offered again.
_SHOWN = sa.and_(
    placement.c.task == task.c.id,
    sa.or_(
        sa.and_(_HAS_ENDED, placement.c.token == task.c.token),
        sa.and_(sa.not_(_HAS_ENDED), placement.c.attempt == task.c.attempt),
    ),
)
_SHORT = (
    task.c.uid,
    task.c.name,
    tenant.c.name,
    task.c.state,
    task.c.slots,
    task.c.priority,
    task.c.submitted,
    task.c.deadline,
    task.c.min_success,
    task.c.max_attempts,
    task.c.time_limit,
    task.c.attempt,
    task.c.failures,
    task.c.cancel_at,
    task.c.ended,
    task.c.version,
    cluster.c.uid,
    placement.c.round,
)
_NAMES = (
    "uid",
    "name",
    "tenant",
    "state",
    "slots",
    "priority",
    "submitted",
    "deadline",
    "min_success",
    "max_attempts",
    "time_limit",
    "attempt",
    "failures",
    "cancel_requested",
    "ended",
    "version",
    "cluster",
    "round",
)
_TASKS = (
    sa.select(*_SHORT)
    .join(tenant, tenant.c.id == task.c.tenant)
    .outerjoin(placement, _SHOWN)
    .outerjoin(cluster, cluster.c.id == placement.c.cluster)
)
_ONE = Statement(
    sa.select(
        *_SHORT,
        task.c.spec,
        feature_set.c.names,
        task.c.features,
        requirement.c.labels,
        task.c.auditable,
    )
    .join(tenant, tenant.c.id == task.c.tenant)
    .join(feature_set, feature_set.c.id == task.c.feature_set)
    .join(requirement, requirement.c.id == task.c.requirement)
    .outerjoin(placement, _SHOWN)
    .outerjoin(cluster, cluster.c.id == placement.c.cluster)
    .where(task.c.uid == given("uid"))
)
_KEY = Statement(
    sa.select(task.c.id, tenant.c.name)
    .join(tenant, tenant.c.id == task.c.tenant)
    .where(task.c.uid == given("uid"))
)
_PLACEMENTS = Statement(
    sa.select(
        placement.c.attempt,
        cluster.c.uid,
        placement.c.round,
        placement.c.state,
        placement.c.outcome,
        placement.c.offered,
        placement.c.granted,
        placement.c.started,
        placement.c.ended,
        placement.c.seconds,
        placement.c.predicted,
        placement.c.exit_code,
        placement.c.log,
        placement.c.receipt,
    )
    .join(cluster, cluster.c.id == placement.c.cluster)
    .where(placement.c.task == given("task"))
    .order_by(placement.c.attempt)
)
_PLACED = (
    "attempt",
    "cluster",
    "round",
    "state",
    "outcome",
    "offered",
    "granted",
    "started",
    "ended",
    "seconds",
    "predicted",
    "exit_code",
    "log",
    "receipt",
)


_OF_TENANT = sa.select(tenant.c.id).where(tenant.c.name == given("tenant")).scalar_subquery()
_ON = sa.select(cluster.c.id).where(cluster.c.uid == given("cluster")).scalar_subquery()


@lru_cache(512)
def _page(
    owner: bool, states: tuple[str, ...], name: bool, at: bool, seq: bool, after: bool
) -> Statement:
    """The statement of a kind of page; the newest of each state are found by an index, and merged.

    States are written out, with the condition of their partial index: SQLite compares the two.
    """
    parts = [_newest(owner, state, name, at, seq, after) for state in states or (None,)]
    if len(parts) == 1:
        return Statement(parts[0])
    merged = sa.union_all(*(sa.select(part.subquery()) for part in parts)).subquery()
    return Statement(sa.select(merged).order_by(merged.c.key.desc()).limit(given("most")))


def _newest(
    owner: bool, state: str | None, name: bool, at: bool, seq: bool, after: bool
) -> sa.Select[Any]:
    """The newest tasks of a state, by the index that leads to the fewest rows.

    A round has few; then come the open states, then a cluster's list, then the list of a tenant or
    of a state. A sum hides the other indices.
    """
    few = seq or state in OPEN_TASK
    by_cluster = at and not few
    key = placement.c.task if by_cluster else task.c.id + 0 if name else task.c.id
    query = _TASKS.add_columns(key.label("key")).order_by(key.desc()).limit(given("most"))
    if owner:
        own = task.c.tenant + 0 if few or at else task.c.tenant
        query = query.where(own == _OF_TENANT)
    if state is not None:
        query = query.where(in_states(task.c.state, state))
        for indexed in (ON_CLUSTER, BAD_END):
            if state in indexed and not seq:
                query = query.where(in_states(task.c.state, *indexed))
    if name:
        query = query.where(task.c.name == given("name"))
        if not owner:  # names are unique within a tenant
            query = query.where(task.c.tenant.in_(sa.select(tenant.c.id)))
    if by_cluster:
        query = query.where(
            placement.c.cluster == _ON, placement.c.attempt > sa.literal_column("0")
        )
    elif at:
        query = query.where(placement.c.cluster + 0 == _ON)
    if seq:
        query = query.where(placement.c.round == given("round"))
    if after:
        query = query.where(key < given("after"))
    return query


def page(
    tx: Transaction, which: Filter, limit: int, cursor: str | None
) -> tuple[list[dict[str, Any]], str | None]:
    """Tasks, the newest first, and the cursor of the page that follows.

    Args:
        tx: The transaction.
        which: Which tasks.
        limit: How many.
        cursor: The uid of the last task of the page before.

    Raises:
        NotFoundError: There is no such cursor.
    """
    after = None if cursor is None else find(tx, cursor, which.tenant, "cursor")
    states = tuple(s for s in (*OPEN_TASK, *ENDED_TASK) if s in which.states)
    query = _page(
        which.tenant is not None,
        states,
        which.name is not None,
        which.cluster is not None,
        which.round is not None,
        after is not None,
    )
    asked = {
        "tenant": which.tenant,
        "name": which.name,
        "cluster": which.cluster,
        "round": which.round,
        "after": after,
    }
    used = {key: value for key, value in asked.items() if value is not None}
    rows = tx.rows(query, most=limit + 1, **used)
    shown = [_short(row) for row in rows[:limit]]
    return shown, shown[-1]["uid"] if len(rows) > limit else None


def find(tx: Transaction, uid: str, owner: str | None, where: str = "task") -> int:
    """The key of a task.

    Args:
        tx: The transaction.
        uid: Its name.
        owner: The tenant that asks; None for an operator.
        where: What to call it in the error.

    Raises:
        NotFoundError: There is none, or it is another tenant's.
    """
    row = tx.first(_KEY, uid=uid)
    if row is None or owner not in (None, row[1]):
        raise missing(uid, where)
    return int(row[0])


def missing(uid: str, where: str = "task") -> NotFoundError:
    """The error of a task that is not there, or that is another tenant's."""
    return NotFoundError(
        f"there is no task '{uid}'", where=where, remedy="walras task list shows them"
    )


def _short(row: Sequence[Any]) -> dict[str, Any]:
    made = dict(zip(_NAMES, row, strict=False))
    made["cancel_requested"] = made["cancel_requested"] is not None
    return made


def detail(tx: Transaction, uid: str, owner: str | None) -> dict[str, Any]:
    """One task with all that was asked for; of its environment only the names.

    Raises:
        NotFoundError: There is none, or it is another tenant's.
    """
    row = tx.first(_ONE, uid=uid)
    if row is None or owner not in (None, row[2]):
        raise missing(uid)
    spec, names, features, labels, auditable = row[len(_NAMES) :]
    stated = json.loads(spec)
    keys = json.loads(names)
    values = struct.unpack(f"<{len(keys)}f", bytes(features))
    return _short(row) | {
        "command": stated["command"],
        "environment": sorted(stated.get("environment", {})),
        "requires": json.loads(labels),
        "features": dict(zip(keys, values, strict=True)),
        "auditable": bool(auditable),
    }


def shown_attempt(tx: Transaction, uid: str, owner: str | None) -> int | None:
    """The attempt that a task is shown with: its newest run where it has ended, or its newest.

    None where it was not placed yet.

    Raises:
        NotFoundError: There is no such task, or it is another tenant's.
    """
    placed = placements(tx, uid, owner)
    ended = detail(tx, uid, owner)["state"] in ENDED_TASK
    runs = [one for one in placed if one["granted"] is not None] if ended else []
    chosen = runs or placed
    return chosen[-1]["attempt"] if chosen else None


def placements(tx: Transaction, uid: str, owner: str | None) -> list[dict[str, Any]]:
    """The placements of a task, the oldest first, with ``log`` and ``receipt``.

    Raises:
        NotFoundError: There is no such task, or it is another tenant's.
    """
    rows = tx.rows(_PLACEMENTS, task=find(tx, uid, owner))
    made = [dict(zip(_PLACED, row, strict=True)) for row in rows]
    for one in made:
        one["receipt"] = None if one["receipt"] is None else json.loads(one["receipt"])
    return made
