"""Work in the background, as rows: one open job a kind and key, leased, with a fencing token."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.sql.elements import ClauseElement

from walras.exchange.errors import NotFoundError
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
_READY = sa.and_(
    job.c.kind == given("kind_"),
    sa.or_(
        sa.and_(job.c.state == sa.literal_column("'waiting'"), job.c.run_at <= given("now")),
        sa.and_(job.c.state == sa.literal_column("'running'"), job.c.lease_until < given("now")),
    ),
)
_NEXT = (
    sa.select(job.c.id)
    .where(_READY)
    .order_by(job.c.run_at, job.c.id)
    .limit(1)
    .with_for_update(skip_locked=True)
)
_DUE = Statement(sa.select(job.c.key).where(_READY).order_by(job.c.run_at, job.c.id))
_HELD = Statement(
    sa.select(sa.func.count()).where(
        job.c.kind == given("kind_"),
        job.c.state == sa.literal_column("'running'"),
        job.c.lease_until >= given("now"),
    )
)
_ALONE = Statement(sa.text("SELECT pg_advisory_xact_lock(7702)"))


def _claiming(*more: sa.ColumnElement[bool]) -> Statement:
    return Statement(
        sa.update(job)
        .where(job.c.id.in_(_NEXT.where(*more).scalar_subquery()))
        .values(
            state="running",
            owner=given("owner_"),
            token=job.c.token + 1,
            attempts=job.c.attempts + 1,
            lease_until=given("until"),
        )
        .returning(job.c.id, job.c.token, job.c.kind, job.c.key, job.c.payload, job.c.attempts)
    )


_CLAIM = _claiming()
_CLAIM_KEY = _claiming(job.c.key == given("key_"))
_MINE = [
    job.c.id == given("id_"),
    job.c.token == given("token_"),
    job.c.state == "running",
]
_HEARTBEAT = Statement(sa.update(job).where(*_MINE).values(lease_until=given("until")))
_END = Statement(
    sa.update(job).where(*_MINE).values(state=given("state_"), result=given("result_"))
)
_AGAIN = Statement(
    sa.update(job)
    .where(*_MINE)
    .values(state="waiting", run_at=given("run_at_"), attempts=0, result=given("result_"))
)
_HASTEN = Statement(
    sa.update(job)
    .where(
        job.c.kind == given("kind_"),
        job.c.key == given("key_"),
        job.c.state == sa.literal_column("'waiting'"),
        job.c.run_at > given("run_at_"),
    )
    .values(run_at=given("run_at_"))
)
_OPEN = Statement(
    sa.select(job.c.id, job.c.state).where(
        job.c.kind == given("kind"),
        job.c.key == given("key"),
        job.c.state.in_([sa.literal_column("'waiting'"), sa.literal_column("'running'")]),
    )
)
_READ = Statement(
    sa.select(
        job.c.id, job.c.kind, job.c.key, job.c.state, job.c.run_at, job.c.attempts, job.c.result
    ).where(job.c.id == given("id_"))
)
_FREE = Statement(
    sa.update(job)
    .where(job.c.state == sa.literal_column("'running'"))
    .values(state="waiting", lease_until=sa.null(), token=job.c.token + 1)
)
_FORGET = Statement(
    sa.delete(job).where(
        job.c.state.in_([sa.literal_column("'done'"), sa.literal_column("'failed'")]),
        job.c.run_at < given("before"),
        job.c.id < sa.select(sa.func.max(job.c.id)).scalar_subquery(),  # numbers never come again
    )
)


def enqueue(
    tx: Transaction, now: float, kind: str, key: str, payload: Any = None, *, after: float = 0.0
) -> bool:
    """Ask for a job; False where one of the kind and key is open."""
    made = tx.run(_ENQUEUE, kind=kind, key=key, run_at=now + after, payload=document(payload or {}))
    return bool(made)


def due(tx: Transaction, now: float, kind: str) -> list[str]:
    """Keys of the jobs of a kind that could be claimed; reads alone."""
    return [str(row[0]) for row in tx.rows(_DUE, kind_=kind, now=now)]


def claim(
    tx: Transaction,
    now: float,
    kind: str,
    owner: str,
    lease: float,
    *,
    key: str | None = None,
    alone: bool = False,
) -> Job | None:
    """Take the oldest job that is due, or whose owner was lost.

    Args:
        tx: The transaction.
        now: The service's time.
        kind: Of which kind.
        owner: Who takes it.
        lease: Seconds that it is held without a heartbeat.
        key: Only the job of this key.
        alone: Only while no other job of the kind is held.
    """
    if alone:
        if tx.dialect.name == "postgresql":  # two processes would not see each other's claim
            tx.rows(_ALONE)
        if tx.value(_HELD, kind_=kind, now=now):
            return None
    given_ = {"kind_": kind, "now": now, "owner_": owner, "until": now + lease}
    row = tx.first(_CLAIM, **given_) if key is None else tx.first(_CLAIM_KEY, key_=key, **given_)
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


def again(tx: Transaction, held: Job, run_at: float, result: Any = None) -> bool:
    """Let a job run again at a time; False where it was lost: then undo what it did."""
    done = tx.run(
        _AGAIN, id_=held.key, token_=held.token, run_at_=run_at, result_=document(result or {})
    )
    return bool(done)


def ask(tx: Transaction, now: float, kind: str, key: str, payload: Any = None) -> int:
    """Ask for a job that begins after now; its number.

    One that waits is brought forward and serves; one that runs began before, so that another one
    follows it.
    """
    for name in (key, f"{key}-next"):
        enqueue(tx, now, kind, name, payload)
        row = tx.first(_OPEN, kind=kind, key=name)
        if row is not None and row[1] == "waiting":
            tx.run(_HASTEN, kind_=kind, key_=name, run_at_=now)
            return int(row[0])
    if row is None:  # enqueued above
        raise RuntimeError(f"job {kind} {key} was not enqueued")
    return int(row[0])


def status(tx: Transaction, key: int) -> dict[str, Any]:
    """What is known of a job.

    Raises:
        NotFoundError: There is no such job.
    """
    row = tx.first(_READ, id_=key)
    if row is None:
        raise NotFoundError(
            f"there is no job {key}", where="job", remedy="jobs are forgotten after a while"
        )
    number, kind, name, state, run_at, attempts, result = row
    return {
        "id": int(number),
        "kind": kind,
        "key": name,
        "state": state,
        "run_at": float(run_at),
        "attempts": int(attempts),
        "result": None if result is None else json.loads(result),
    }


def free_all(tx: Transaction) -> int:
    """Let every job that is held run again: at the start of the only process; their number."""
    return tx.run(_FREE)


def forget(tx: Transaction, before: float) -> int:
    """Delete jobs that ended before a time; their number."""
    return tx.run(_FORGET, before=before)
