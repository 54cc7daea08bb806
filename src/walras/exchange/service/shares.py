"""What each tenant was granted of late: slot-seconds, decayed with the policy's half-life."""

from __future__ import annotations

import math
from collections import defaultdict

import sqlalchemy as sa

from walras.exchange.store.schema import placement, task, tenant
from walras.exchange.store.statements import Statement, Transaction, given
from walras.policies.placements import Policy, decayed

HALF_LIFE = Policy().half_life
"""Seconds in which slot-seconds count half, as long as no policy says otherwise."""

_ENDED_STATES = ("succeeded", "failed", "cancelled", "preempted", "unreachable")
_TENANTS = Statement(sa.select(tenant.c.id, tenant.c.used, tenant.c.used_at))
_SPANS = sa.select(task.c.tenant, placement.c.slots, placement.c.granted, placement.c.ended).join(
    task, task.c.id == placement.c.task
)
_ENDED = Statement(
    _SPANS.where(
        placement.c.state.in_([sa.literal_column(f"'{state}'") for state in _ENDED_STATES]),
        placement.c.ended > given("since"),
        placement.c.granted.is_not(None),
    )
)
_ALIVE = Statement(
    _SPANS.where(
        placement.c.state.in_([sa.literal_column("'leased'"), sa.literal_column("'running'")])
    )
)
_CHARGE = Statement(
    sa.update(tenant)
    .where(tenant.c.id == given("id_"), tenant.c.used_at == given("before"))
    .values(used=given("used_"), used_at=given("now"))
)


def granted(
    slots: float, begin: float, end: float, now: float, half_life: float = HALF_LIFE
) -> float:
    """Slot-seconds from one time to another, each decayed from then until now."""
    if end <= begin:
        return 0.0
    rate = math.log(2.0) / half_life
    return slots * (math.exp(rate * (end - now)) - math.exp(rate * (begin - now))) / rate


def charge(tx: Transaction, now: float, half_life: float = HALF_LIFE) -> None:
    """Add to each tenant the slot-seconds of its runs since it was last charged.

    Args:
        tx: The transaction.
        now: The service's time.
        half_life: Seconds in which they count half.
    """
    tenants = tx.rows(_TENANTS)
    spans = defaultdict(list)
    since = min((float(at) for _, _, at in tenants), default=now)
    for owner, slots, begin, end in [*tx.rows(_ENDED, since=since), *tx.rows(_ALIVE)]:
        spans[owner].append((float(slots), float(begin), now if end is None else float(end)))
    for key, used, at in tenants:
        more = sum(
            granted(slots, max(begin, float(at)), min(end, now), now, half_life)
            for slots, begin, end in spans[key]
        )
        total = decayed(float(used), now - float(at), half_life) + more
        tx.run(_CHARGE, id_=key, before=at, used_=total, now=now)
