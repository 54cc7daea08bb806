"""What happened, in order: read as server-sent events; a tenant sees its own."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from walras.exchange.store.schema import event
from walras.exchange.store.statements import Statement, Transaction, document, given, inserting

_INSERT = inserting(event)
_AFTER = Statement(
    sa.select(event.c.id, event.c.tenant, event.c.at, event.c.kind, event.c.subject, event.c.data)
    .where(event.c.id > given("after"))
    .order_by(event.c.id)
    .limit(given("most"))
)
_LAST = Statement(sa.select(sa.func.max(event.c.id)))
_FORGET = Statement(sa.delete(event).where(event.c.at < given("before")))


def tell(
    tx: Transaction, now: float, kind: str, subject: str, data: Any = None, *, tenant: str | None
) -> None:
    """Add an event; None as the tenant is for operators."""
    tx.run(_INSERT, tenant=tenant, at=now, kind=kind, subject=subject, data=document(data or {}))


def after(tx: Transaction, last: int, most: int = 500) -> list[tuple[Any, ...]]:
    """Events that follow one: (id, tenant, at, kind, subject, data)."""
    return tx.rows(_AFTER, after=last, most=most)


def newest(tx: Transaction) -> int:
    """The id of the last event; 0 before the first."""
    return int(tx.value(_LAST) or 0)


def forget(tx: Transaction, before: float) -> int:
    """Delete events older than a time; their number."""
    return tx.run(_FORGET, before=before)
