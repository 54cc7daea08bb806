"""Who did what: each entry holds the hash of the one before, so that none can be changed or lost.

hash = SHA-256(previous, at, actor, action, subject, data), as JSON.
"""

from __future__ import annotations

import hashlib
from typing import Any

import sqlalchemy as sa

from walras.exchange.store.schema import audit_log
from walras.exchange.store.statements import Statement, Transaction, document, given, inserting

FIRST = "0" * 64

_INSERT = inserting(audit_log)
_LAST = Statement(sa.select(audit_log.c.hash).order_by(audit_log.c.id.desc()).limit(1))
_PAGE = Statement(
    sa.select(
        audit_log.c.id,
        audit_log.c.at,
        audit_log.c.actor,
        audit_log.c.action,
        audit_log.c.subject,
        audit_log.c.data,
        audit_log.c.previous,
        audit_log.c.hash,
    )
    .where(audit_log.c.id > given("after"))
    .order_by(audit_log.c.id)
    .limit(given("most"))
)
_LOCK = Statement(sa.text("SELECT pg_advisory_xact_lock(7701)"))


def record(
    tx: Transaction, now: float, actor: str, action: str, subject: str, data: Any = None
) -> None:
    """Add an entry to the chain."""
    if tx.dialect.name == "postgresql":  # one writer at a time, as on SQLite: a chain has no forks
        tx.rows(_LOCK)
    previous = tx.value(_LAST) or FIRST
    words = document(data or {})
    tx.run(
        _INSERT,
        at=now,
        actor=actor,
        action=action,
        subject=subject,
        data=words,
        previous=previous,
        hash=entry_hash(previous, now, actor, action, subject, words),
    )


def entry_hash(previous: str, at: float, actor: str, action: str, subject: str, data: str) -> str:
    """The hash of an entry."""
    whole = document([previous, at, actor, action, subject, data])
    return hashlib.sha256(whole.encode()).hexdigest()


def page(tx: Transaction, after: int, most: int) -> list[tuple[Any, ...]]:
    """Entries that follow one, in order."""
    return tx.rows(_PAGE, after=after, most=most)


def broken(tx: Transaction) -> int | None:
    """The id of the first entry that does not fit its chain, or None."""
    previous, last = FIRST, 0
    while rows := page(tx, last, 1000):
        for key, at, actor, action, subject, data, before, found in rows:
            wanted = entry_hash(previous, at, actor, action, subject, data)
            if before != previous or found != wanted:
                return int(key)
            previous, last = found, key
    return None
