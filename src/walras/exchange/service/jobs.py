"""Work in the background, as rows: one open job a kind and key, leased, with a fencing token."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.sql.elements import ClauseElement

from walras.exchange.store.schema import job
from walras.exchange.store.statements import Statement, Transaction, document, given


@dataclass(frozen=True)
class Job:
    """A job that this owner holds.

    Attributes:
        key: Its number.
        token: Its fencing token: what a lost owner does changes nothing.
        kind: ``round``, ``train``, ``audit`` or ``regret``.
        subject: What it is of.
        payload: Its settings.
        attempts: How often it was begun.
    """

    key: int
    token: int
    kind: str
    subject: str
    payload: dict[str, Any]
    attempts: int


def _enqueue(dialect: Dialect) -> ClauseElement:
    module = sqlite if dialect.name == "sqlite" else postgresql
    values = {
        "kind": given("kind"),
        "key": given("key"),
        "state": "waiting",
        "token": 0,
        "attempts": 0,
        "run_at": given("run_at"),
        "payload": given("payload"),
    }
    where = sa.text("state IN ('waiting', 'running')")
    made: ClauseElement = (
        module.insert(job)
        .values(values)
        .on_conflict_do_nothing(index_elements=["kind", "key"], index_where=where)
    )
    return made


_ENQUEUE = Statement(_enqueue)
_NEXT = (
    sa.select(job.c.id)
    .where(
        job.c.kind == given("kind_"),
        sa.or_(
            sa.and_(job.c.state == "waiting", job.c.run_at <= given("now")),
            sa.and_(job.c.state == "running", job.c.lease_until < given("now")),
        ),
    )
    .order_by(job.c.run_at, job.c.id)
    .limit(1)
    .with_for_update(skip_locked=True)
)
_CLAIM = Statement(
    sa.update(job)
    .where(job.c.id.in_(_NEXT.scalar_subquery()))
    .values(
        state="running",
        owner=given("owner_"),
        token=job.c.token + 1,
        attempts=job.c.attempts + 1,
        lease_until=given("until"),
    )
    .returning(job.c.id, job.c.token, job.c.kind, job.c.key, job.c.payload, job.c.attempts)
)
_MINE = [
    job.c.id == given("id_"),
    job.c.token == given("token_"),
    job.c.state == "running",
]
_HEARTBEAT = Statement(sa.update(job).where(*_MINE).values(lease_until=given("until")))
_END = Statement(
    sa.update(job).where(*_MINE).values(state=given("state_"), result=given("result_"))
)


def enqueue(
    tx: Transaction, now: float, kind: str, key: str, payload: Any = None, *, after: float = 0.0
) -> bool:
    """Ask for a job; False where one of the kind and key is open."""
    made = tx.run(_ENQUEUE, kind=kind, key=key, run_at=now + after, payload=document(payload or {}))
    return bool(made)


def claim(tx: Transaction, now: float, kind: str, owner: str, lease: float) -> Job | None:
    """Take the oldest job that is due, or whose owner was lost."""
    row = tx.first(_CLAIM, kind_=kind, now=now, owner_=owner, until=now + lease)
    if row is None:
        return None
    return Job(int(row[0]), int(row[1]), row[2], row[3], json.loads(row[4]), int(row[5]))


def heartbeat(tx: Transaction, now: float, held: Job, lease: float) -> bool:
    """Keep a job; False where it was lost."""
    return bool(tx.run(_HEARTBEAT, id_=held.key, token_=held.token, until=now + lease))


def end(tx: Transaction, held: Job, state: str, result: Any = None) -> bool:
    """End a job as ``done`` or ``failed``; False where it was lost: then undo what it did."""
    done = tx.run(
        _END, id_=held.key, token_=held.token, state_=state, result_=document(result or {})
    )
    return bool(done)
