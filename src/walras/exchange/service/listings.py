"""What is read of clusters, rounds, predictors, tokens, tenants: pages and single things."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa

from walras.exchange.errors import NotFoundError
from walras.exchange.service import audit, policies
from walras.exchange.states import ON_CLUSTER
from walras.exchange.store.schema import (
    agent,
    cluster,
    credential,
    placement,
    predictor,
    round_,
    task,
    tenant,
)
from walras.exchange.store.statements import Statement, Transaction, given, in_states
from walras.policies.placements import decayed

Page = tuple[list[dict[str, Any]], str | None]
"""Entries, and the cursor of the page that follows."""


def _cut(rows: Sequence[Any], limit: int, made: Callable[[Any], dict[str, Any]], key: str) -> Page:
    """A page of rows of which one more than the limit was asked for."""
    shown = [made(row) for row in rows[:limit]]
    return shown, str(shown[-1][key]) if len(rows) > limit else None


# ---- clusters ---------------------------------------------------------------------------------

_HELD = sa.and_(
    placement.c.state == sa.literal_column("'unreachable'"),
    sa.exists().where(
        task.c.id == placement.c.task,
        task.c.state == sa.literal_column("'held'"),
        task.c.token == placement.c.token,
    ),
)
_TAKEN = (
    sa.select(sa.func.coalesce(sa.func.sum(placement.c.slots), 0))
    .where(
        placement.c.cluster == cluster.c.id,
        sa.or_(
            in_states(placement.c.state, "offered"),
            in_states(placement.c.state, "leased", "running"),
            _HELD,
        ),
    )
    .scalar_subquery()
)
_CLUSTER = (
    cluster.c.id,
    cluster.c.uid,
    cluster.c.provider,
    cluster.c.labels,
    cluster.c.slots,
    cluster.c.price,
    cluster.c.state,
    cluster.c.seen,
    cluster.c.trusted,
    cluster.c.version,
    _TAKEN,
)
_CLUSTERS = Statement(
    sa.select(*_CLUSTER)
    .where(cluster.c.id > given("after"))
    .order_by(cluster.c.id)
    .limit(given("most"))
)
_ONE_CLUSTER = Statement(sa.select(*_CLUSTER).where(cluster.c.uid == given("uid")))
_CLUSTER_KEY = Statement(sa.select(cluster.c.id).where(cluster.c.uid == given("uid")))


def clusters(
    tx: Transaction, silent: float, limit: int, cursor: str | None, only: Sequence[str] | None
) -> Page:
    """Clusters in the order in which they were added.

    Args:
        tx: The transaction.
        silent: A cluster that was last heard before this time is not heard.
        limit: How many.
        cursor: The uid of the last cluster of the page before.
        only: The only ones to show; None for all.
    """
    if only is not None:
        found = [row for uid in sorted(set(only)) if (row := tx.first(_ONE_CLUSTER, uid=uid))]
        return [_cluster(row, silent) for row in found], None
    after = 0
    if cursor is not None:
        after = tx.value(_CLUSTER_KEY, uid=cursor)
        if after is None:
            raise NotFoundError(f"there is no cluster '{cursor}'", where="cursor")
    rows = tx.rows(_CLUSTERS, after=after, most=limit + 1)
    return _cut(rows, limit, lambda row: _cluster(row, silent), "uid")


def one_cluster(tx: Transaction, uid: str, silent: float) -> dict[str, Any]:
    """A cluster.

    Raises:
        NotFoundError: There is no such cluster.
    """
    row = tx.first(_ONE_CLUSTER, uid=uid)
    if row is None:
        raise NotFoundError(
            f"there is no cluster '{uid}'", where="cluster", remedy="walras cluster list shows them"
        )
    return _cluster(row, silent)


def _cluster(row: Sequence[Any], silent: float) -> dict[str, Any]:
    _, uid, provider, labels, slots, price, state, seen, trusted, version, taken = row
    return {
        "uid": uid,
        "provider": provider,
        "labels": json.loads(labels),
        "slots": slots,
        "free": max(int(slots) - int(taken), 0),
        "price": price,
        "state": state,
        "heard": seen is not None and seen >= silent,
        "seen": seen,
        "trusted": bool(trusted),
        "version": version,
    }


_AGENT_OF = Statement(
    sa.select(cluster.c.uid)
    .join(agent, agent.c.cluster == cluster.c.id)
    .where(agent.c.uid == given("uid"))
)


def cluster_of_agent(tx: Transaction, uid: str) -> str | None:
    """The cluster of an agent, or None where there is no such agent."""
    found = tx.value(_AGENT_OF, uid=uid)
    return None if found is None else str(found)


# ---- rounds -----------------------------------------------------------------------------------

_ROUND = (
    round_.c.id,
    round_.c.state,
    round_.c.started,
    round_.c.ended,
    round_.c.policy,
    round_.c.seed,
    round_.c.predictor,
    round_.c.method,
    round_.c.makespan,
    round_.c.bound,
    round_.c.gap,
    round_.c.counts,
    round_.c.why,
    round_.c.regret,
    round_.c.snapshot_hash,
)
_ROUNDS = Statement(
    sa.select(*_ROUND)
    .where(round_.c.id < given("before"))
    .order_by(round_.c.id.desc())
    .limit(given("most"))
)
_ONE_ROUND = Statement(sa.select(*_ROUND).where(round_.c.id == given("seq")))
_BLOBS = Statement(
    sa.select(round_.c.snapshot, round_.c.decision).where(round_.c.id == given("seq"))
)
_BLOCKERS = Statement(sa.select(round_.c.blockers).where(round_.c.id == given("seq")))
_PLACED = (
    sa.select(
        placement.c.id,
        task.c.uid,
        task.c.name,
        tenant.c.name,
        cluster.c.uid,
        placement.c.slots,
        placement.c.state,
        placement.c.outcome,
        placement.c.granted,
        placement.c.started,
        placement.c.ended,
        placement.c.predicted,
    )
    .join(task, task.c.id == placement.c.task)
    .join(tenant, tenant.c.id == task.c.tenant)
    .join(cluster, cluster.c.id == placement.c.cluster)
    .where(placement.c.round == given("seq"), placement.c.id > given("after"))
    .order_by(placement.c.id)
    .limit(given("most"))
)
_PLACED_ALL = Statement(_PLACED)
_PLACED_OF = Statement(_PLACED.where(tenant.c.name == given("tenant")))
_LARGE = 2**62


def rounds(tx: Transaction, limit: int, cursor: int | None) -> Page:
    """Rounds, the newest first."""
    rows = tx.rows(_ROUNDS, before=_LARGE if cursor is None else cursor, most=limit + 1)
    return _cut(rows, limit, _round, "seq")


def one_round(tx: Transaction, seq: int) -> dict[str, Any]:
    """A round.

    Raises:
        NotFoundError: There is no such round.
    """
    row = tx.first(_ONE_ROUND, seq=seq)
    if row is None:
        raise NotFoundError(
            f"there is no round {seq}", where="round", remedy="walras round list shows them"
        )
    return _round(row)


def _round(row: Sequence[Any]) -> dict[str, Any]:
    names = (
        "seq",
        "state",
        "started",
        "ended",
        "policy",
        "seed",
        "predictor",
        "method",
        "makespan",
        "bound",
        "gap",
        "counts",
        "why",
        "regret",
        "snapshot_hash",
    )
    made = dict(zip(names, row, strict=True))
    made["policy"] = json.loads(made["policy"])
    made["counts"] = json.loads(made["counts"] or "{}")
    made["mean_success"] = made["counts"].pop("mean_success", None)
    made["regret"] = None if made["regret"] is None else json.loads(made["regret"])
    return made


def blobs(tx: Transaction, seq: int) -> tuple[bytes | None, bytes | None]:
    """The snapshot and the decision of a round, as they were stored; None once forgotten.

    Raises:
        NotFoundError: There is no such round.
    """
    row = tx.first(_BLOBS, seq=seq)
    if row is None:
        raise NotFoundError(f"there is no round {seq}", where="round")
    return tuple(None if blob is None else bytes(blob) for blob in row)  # type: ignore[return-value]


def left_out(tx: Transaction, seq: int) -> dict[str, int]:
    """Code of a blocker -> tasks that it kept a round from placing; empty before it ended."""
    stored = tx.value(_BLOCKERS, seq=seq)
    found: dict[str, int] = {} if stored is None else json.loads(zlib.decompress(bytes(stored)))
    return found


def placed(tx: Transaction, seq: int, owner: str | None, limit: int, cursor: int | None) -> Page:
    """Where a round placed tasks; a tenant sees its own."""
    asked: dict[str, Any] = {"seq": seq, "after": cursor or 0, "most": limit + 1}
    if owner is None:
        rows = tx.rows(_PLACED_ALL, **asked)
    else:
        rows = tx.rows(_PLACED_OF, tenant=owner, **asked)
    names = (
        "key",
        "task",
        "name",
        "tenant",
        "cluster",
        "slots",
        "state",
        "outcome",
        "granted",
        "started",
        "ended",
        "predicted",
    )
    shown, after = _cut(rows, limit, lambda row: dict(zip(names, row, strict=True)), "key")
    for one in shown:
        del one["key"]
    return shown, after


# ---- predictors -------------------------------------------------------------------------------

_PREDICTORS = Statement(
    sa.select(
        predictor.c.version,
        predictor.c.state,
        predictor.c.sha256,
        predictor.c.clusters,
        predictor.c.trained_to,
        predictor.c.scores,
        predictor.c.created,
        predictor.c.decided,
    )
    .where(predictor.c.version < given("before"))
    .order_by(predictor.c.version.desc())
    .limit(given("most"))
)


def predictors(tx: Transaction, limit: int, cursor: int | None) -> Page:
    """Predictors, the newest first."""
    rows = tx.rows(_PREDICTORS, before=_LARGE if cursor is None else cursor, most=limit + 1)
    names = (
        "version",
        "state",
        "sha256",
        "clusters",
        "trained_to",
        "scores",
        "created",
        "decided",
    )

    def made(row: Sequence[Any]) -> dict[str, Any]:
        one = dict(zip(names, row, strict=True))
        return one | {
            "clusters": json.loads(one["clusters"]),
            "scores": json.loads(one["scores"]),
        }

    return _cut(rows, limit, made, "version")


# ---- tokens, tenants, audit -------------------------------------------------------------------

_TOKENS = Statement(
    sa.select(
        credential.c.id,
        credential.c.uid,
        credential.c.name,
        credential.c.prefix,
        credential.c.tenant,
        credential.c.scopes,
        credential.c.created,
        credential.c.expires,
        credential.c.revoked,
    )
    .where(credential.c.id > given("after"))
    .order_by(credential.c.id)
    .limit(given("most"))
)
_TENANTS = Statement(
    sa.select(
        tenant.c.id,
        tenant.c.name,
        tenant.c.weight,
        tenant.c.quota_slots,
        tenant.c.used,
        tenant.c.used_at,
    ).order_by(tenant.c.id)
)
_IN_USE = Statement(
    sa.select(task.c.tenant, sa.func.sum(task.c.slots))
    .where(in_states(task.c.state, *ON_CLUSTER))
    .group_by(task.c.tenant)
)
_OWNER = task.c.tenant + sa.literal_column("0")  # by the column SQLite would read all tasks
_WAITING = Statement(
    sa.select(_OWNER, sa.func.count()).where(in_states(task.c.state, "pending")).group_by(_OWNER)
)


def tokens(tx: Transaction, limit: int, cursor: int | None) -> Page:
    """Tokens in the order in which they were created, without the tokens themselves."""
    names = (
        "key",
        "uid",
        "name",
        "prefix",
        "tenant",
        "scopes",
        "created",
        "expires",
        "revoked",
    )

    def made(row: Sequence[Any]) -> dict[str, Any]:
        one = dict(zip(names, row, strict=True))
        return one | {"scopes": one["scopes"].split()}

    rows = tx.rows(_TOKENS, after=cursor or 0, most=limit + 1)
    shown, after = _cut(rows, limit, made, "key")
    for one in shown:
        del one["key"]
    return shown, after


def tenants(tx: Transaction, now: float) -> list[dict[str, Any]]:
    """All tenants with the share of the work that each got of late, and the share it is owed."""
    rows = tx.rows(_TENANTS)
    in_use = {int(key): int(slots) for key, slots in tx.rows(_IN_USE)}
    waiting = {int(key): int(count) for key, count in tx.rows(_WAITING)}
    half_life = policies.in_force(tx).half_life
    used = {row[0]: decayed(row[4], now - row[5], half_life) for row in rows}
    total, weights = sum(used.values()), sum(row[2] for row in rows)
    return [
        {
            "name": name,
            "weight": weight,
            "quota_slots": quota,
            "share": used[key] / total if total > 0.0 else 0.0,
            "owed": weight / weights,
            "slots_used": in_use.get(key, 0),
            "pending": waiting.get(key, 0),
        }
        for key, name, weight, quota, _, _ in rows
    ]


def audited(tx: Transaction, limit: int, cursor: int | None) -> Page:
    """Entries of the audit log, the oldest first."""
    names = ("id", "at", "actor", "action", "subject", "data", "previous", "hash")

    def made(row: Sequence[Any]) -> dict[str, Any]:
        one = dict(zip(names, row, strict=True))
        return one | {"data": json.loads(one["data"])}

    return _cut(audit.page(tx, cursor or 0, limit + 1), limit, made, "id")
