"""A request that is sent twice takes effect once: its answer is kept with the effect."""

from __future__ import annotations

import sqlalchemy as sa

from walras.exchange.errors import FieldError
from walras.exchange.store.schema import idempotency
from walras.exchange.store.statements import Statement, Transaction, given, inserting_once

_ONCE = inserting_once(idempotency, "tenant", "key")
_READ = Statement(
    sa.select(idempotency.c.fingerprint, idempotency.c.status, idempotency.c.body).where(
        idempotency.c.tenant == given("tenant"), idempotency.c.key == given("key")
    )
)
_ANSWER = Statement(
    sa.update(idempotency)
    .where(idempotency.c.tenant == given("tenant_"), idempotency.c.key == given("key_"))
    .values(status=given("status_"), body=given("body_"))
)
_OLDEST = Statement(
    sa.select(idempotency.c.created)
    .where(idempotency.c.created < given("before"))
    .order_by(idempotency.c.created)
    .limit(1)
    .offset(given("most"))
)
_FORGET = Statement(sa.delete(idempotency).where(idempotency.c.created < given("before")))


def begin(
    tx: Transaction, now: float, owner: str, key: str, fingerprint: str
) -> tuple[int, str] | None:
    """None where the request is new; else the status and body it was answered with.

    Call it first in the transaction of the effect, and :func:`answered` last.

    Raises:
        FieldError: The key was used with another request.
    """
    new = tx.run(
        _ONCE, tenant=owner, key=key, fingerprint=fingerprint, status=0, body="", created=now
    )
    if new:
        return None
    row = tx.first(_READ, tenant=owner, key=key)
    if row is None or row[0] != fingerprint:
        raise FieldError(
            "was used with another request",
            where="Idempotency-Key",
            allowed="one key a request",
            remedy="send a new key",
        )
    return int(row[1]), str(row[2])


def answered(tx: Transaction, owner: str, key: str, status: int, body: str) -> None:
    """Keep the answer, in the transaction of the effect."""
    tx.run(_ANSWER, tenant_=owner, key_=key, status_=status, body_=body)


def forget(tx: Transaction, before: float, most: int = 5000) -> int:
    """Delete about ``most`` of the answers older than a time, the oldest ones; their number."""
    step = tx.value(_OLDEST, before=before, most=most)
    return tx.run(_FORGET, before=before if step is None else step)
