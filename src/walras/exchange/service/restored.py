"""The first start on a backup: runs that were granted after it was made are not known any more.

Their agents hear at their next sync that they are stale, and end them; those that hear nothing end
by themselves with their lease. Until then no task is offered, so that none runs twice. Tokens go on
far above those of before, so that no old run is taken for a new one.
"""

from __future__ import annotations

import sqlalchemy as sa

from walras.exchange.service import events
from walras.exchange.service.timing import Timing
from walras.exchange.store.schema import agent, meta, placement, task
from walras.exchange.store.statements import Statement, Transaction, given, inserting_once

MARK = "restored"
"""Name of the row of ``meta`` that a backup carries."""

STEP = 2**32
"""Tokens grow by so much: more than any task is granted between a backup and its loss."""

_AFTER = "offers_after"
_TAKE = Statement(sa.delete(meta).where(meta.c.name == MARK))
_WITHDRAW = Statement(
    sa.update(placement)
    .where(placement.c.state == sa.literal_column("'offered'"))
    .values(state="withdrawn", ended=given("now"))
)
_FENCED = sa.select(agent.c.id).where(agent.c.fences == 1)
_LOSE = Statement(
    sa.update(placement)
    .where(
        placement.c.state.in_([sa.literal_column("'leased'"), sa.literal_column("'running'")]),
        placement.c.agent.in_(_FENCED),
    )
    .values(state="unreachable", outcome="unreachable", ended=given("now"), missed=1)
)
_CANCELLED = Statement(
    sa.update(task)
    .where(
        task.c.state.in_(["leased", "running"]),
        task.c.cancel_at.is_not(None),
        ~sa.exists(
            sa.select(placement.c.id).where(
                placement.c.task == task.c.id,
                placement.c.state.in_(["leased", "running"]),
            )
        ),
    )
    .values(state="cancelled", ended=given("now"), version=task.c.version + 1)
)
_RETURN = Statement(
    sa.update(task)
    .where(
        task.c.state.in_(["pending", "placed", "leased", "running"]),
        ~sa.exists(
            sa.select(placement.c.id).where(
                placement.c.task == task.c.id,
                placement.c.state.in_(["leased", "running"]),
            )
        ),
    )
    .values(state="pending", token=task.c.token + STEP, version=task.c.version + 1)
)
_NEW = inserting_once(meta, "name")
_SET = Statement(sa.update(meta).where(meta.c.name == given("name_")).values(value=given("value_")))
_READ = Statement(sa.select(meta.c.value).where(meta.c.name == given("name")))


def mark(tx: Transaction) -> None:
    """Say that a database was restored: the next start makes it good."""
    tx.run(_NEW, name=MARK, value="1")


def make_good(tx: Transaction, now: float, timing: Timing) -> bool:
    """Take back what may have gone on elsewhere since the backup; whether this is a backup.

    Runs of schedulers that cannot end by themselves stay: their agents list them, or they are held.

    Args:
        tx: The transaction.
        now: The service's time.
        timing: How long leases last.
    """
    if not tx.run(_TAKE):
        return False
    tx.run(_WITHDRAW, now=now)
    tx.run(_LOSE, now=now)
    tx.run(_CANCELLED, now=now)
    tx.run(_RETURN)
    after = repr(now + timing.held + timing.kill)
    if not tx.run(_NEW, name=_AFTER, value=after):
        tx.run(_SET, name_=_AFTER, value_=after)
    events.tell(tx, now, "exchange.restored", "exchange", {"offers_after": after}, tenant=None)
    return True


def offers_after(tx: Transaction) -> float:
    """The time before which no task is offered; 0 where the database was never restored."""
    found = tx.value(_READ, name=_AFTER)
    return 0.0 if found is None else float(found)
