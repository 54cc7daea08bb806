"""The policy of rounds that is in force: what an operator set, else the defaults."""

from __future__ import annotations

import json

import sqlalchemy as sa

from walras.exchange.service import audit, events
from walras.exchange.store.schema import meta
from walras.exchange.store.statements import Statement, Transaction, given, inserting_once
from walras.policies.placements import Policy

_NAME = "policy"
_READ = Statement(sa.select(meta.c.value).where(meta.c.name == _NAME))
_NEW = inserting_once(meta, "name")
_CHANGE = Statement(sa.update(meta).where(meta.c.name == _NAME).values(value=given("value_")))


def in_force(tx: Transaction) -> Policy:
    """The policy that the next round is decided by."""
    stored = tx.value(_READ)
    return Policy() if stored is None else Policy.from_document(str(stored))


def put(tx: Transaction, now: float, policy: Policy, actor: str) -> bool:
    """Set the policy, from the next round on; whether it is another one than before.

    Args:
        tx: The transaction.
        now: The service's time.
        policy: The policy.
        actor: Who sets it, for the audit log.
    """
    if in_force(tx) == policy:
        return False
    words = policy.document()
    if not tx.run(_NEW, name=_NAME, value=words):
        tx.run(_CHANGE, value_=words)
    audit.record(tx, now, actor, "policy.set", "exchange", json.loads(words))
    events.tell(tx, now, "policy.set", "exchange", json.loads(words), tenant=None)
    return True
