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
_OLD = (
    sa.select(event.c.id)
    .where(
        event.c.at < given("before"),
        event.c.id < sa.select(sa.func.max(event.c.id)).scalar_subquery(),  # no id comes again
    )
    .order_by(event.c.id)
    .limit(given("most"))
)
_FORGET = Statement(sa.delete(event).where(event.c.id.in_(_OLD.scalar_subquery())))


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


def forget(tx: Transaction, before: float, most: int = 5000) -> int:
    """Delete the oldest events of before a time, but never the newest; their number."""
    return tx.run(_FORGET, before=before, most=most)
