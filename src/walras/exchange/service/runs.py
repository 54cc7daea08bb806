"""What was predicted of runs that have ended, beside what was measured."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import sqlalchemy as sa

from walras.exchange.store.schema import cluster, observation, placement, task, tenant
from walras.exchange.store.statements import Statement, Transaction, given

_OF_RECEIPT = (
    "seconds_interval",
    "chance",
    "chance_interval",
    "runner_up",
    "runner_up_seconds",
    "predictor",
)
_NAMES = (
    "id",
    "task",
    "cluster",
    "round",
    "outcome",
    "at",
    "seconds",
    "seconds_measured",
    "weight",
    "predicted",
)
_LARGE = 2**62


@lru_cache(8)
def _page(owner: bool, at: bool) -> Statement:
    query = (
        sa.select(
            observation.c.id,
            task.c.uid,
            cluster.c.uid,
            placement.c.round,
            observation.c.outcome,
            observation.c.at,
            observation.c.seconds,
            observation.c.seconds_measured,
            observation.c.weight,
            placement.c.predicted,
            placement.c.receipt,
        )
        .join(placement, placement.c.id == observation.c.placement)
        .join(task, task.c.id == observation.c.task)
        .join(cluster, cluster.c.id == observation.c.cluster)
        .where(observation.c.id < given("before"))
        .order_by(observation.c.id.desc())
        .limit(given("most"))
    )
    if owner:
        query = query.join(tenant, tenant.c.id == task.c.tenant).where(
            tenant.c.name == given("tenant")
        )
    if at:
        query = query.where(cluster.c.uid == given("cluster"))
    return Statement(query)


def page(
    tx: Transaction, owner: str | None, at: str | None, limit: int, before: int | None
) -> tuple[list[dict[str, Any]], str | None]:
    """Runs that have ended, the newest first, and the cursor of the page that follows.

    Args:
        tx: The transaction.
        owner: The tenant that asks; None for an operator.
        at: On which cluster; None for all.
        limit: How many.
        before: Those whose number is less; None for the newest.
    """
    named = {"tenant": owner, "cluster": at}
    used = {name: value for name, value in named.items() if value is not None}
    query = _page(owner is not None, at is not None)
    rows = tx.rows(query, before=_LARGE if before is None else before, most=limit + 1, **used)
    shown = [_shown(row) for row in rows[:limit]]
    return shown, str(shown[-1]["id"]) if len(rows) > limit else None


def _shown(row: Sequence[Any]) -> dict[str, Any]:
    receipt = json.loads(row[-1] or "{}")
    made = dict(zip(_NAMES, row[:-1], strict=True))
    return made | {name: receipt.get(name) for name in _OF_RECEIPT}
