"""Rounds as the store sees them: begun, published at once, or failed; offers taken back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from walras.exchange.service import events
from walras.exchange.service.timing import Timing
from walras.exchange.store.schema import cluster, placement, round_, task
from walras.exchange.store.statements import Statement, Transaction, document, given, inserting


@dataclass(frozen=True)
class Placed:
    """One task of a plan.

    Attributes:
        task: Its key in the store.
        version: Of the task when it was read; a task that changed since drops out of the plan.
        cluster: Key of the cluster.
        slots: Slots it takes.
        propensity: Chance of this cluster where it was drawn at random, else None.
        receipt: The placement's figures and reasons, as JSON.
        predicted: Seconds that it is expected to take, or None.
    """

    task: int
    version: int
    cluster: int
    slots: int
    propensity: float | None = None
    receipt: str | None = None
    predicted: float | None = None


_NEW_ROUND = inserting(round_, round_.c.id)
_END_ROUND = Statement(
    sa.update(round_)
    .where(round_.c.id == given("seq"), round_.c.state == "computing")
    .values(
        state=given("state_"),
        ended=given("now"),
        snapshot_hash=given("snapshot_hash_"),
        snapshot=given("snapshot_"),
        decision=given("decision_"),
        predictor=given("predictor_"),
        makespan=given("makespan_"),
        bound=given("bound_"),
        gap=given("gap_"),
        method=given("method_"),
        counts=given("counts_"),
        blockers=given("blockers_"),
        why=given("why_"),
    )
)
_PLACE = Statement(
    sa.update(task)
    .where(
        task.c.id == given("id_"),
        task.c.state == "pending",
        task.c.version == given("version_"),
    )
    .values(state="placed", attempt=task.c.attempt + 1, version=task.c.version + 1)
    .returning(task.c.attempt)
)
_OFFER = inserting(placement)
_STALE_OFFERS = Statement(
    sa.select(placement.c.id, placement.c.task)
    .join(cluster, cluster.c.id == placement.c.cluster)
    .where(
        placement.c.state == sa.literal_column("'offered'"),
        sa.or_(
            placement.c.offered < given("old"),
            cluster.c.state == "draining",
            cluster.c.seen < given("silent"),
        ),
    )
    .order_by(placement.c.id + 0)  # by the key alone SQLite would read the whole table in order
)
_WITHDRAW = Statement(
    sa.update(placement)
    .where(placement.c.id == given("id_"), placement.c.state == "offered")
    .values(state="withdrawn", ended=given("now"))
)
_UNPLACE = Statement(
    sa.update(task)
    .where(task.c.id == given("id_"), task.c.state == "placed")
    .values(state="pending", version=task.c.version + 1)
)

_ABANDON = Statement(
    sa.update(round_)
    .where(round_.c.state == "computing")
    .values(state="failed", ended=given("now"), why="its process was lost")
)
_LOOK_BACK = 10_000  # rounds before those that are kept
_NEWEST = Statement(sa.select(sa.func.max(round_.c.id)))
_COUNTS = Statement(
    sa.select(round_.c.counts)
    .where(round_.c.counts.is_not(None))
    .order_by(round_.c.id.desc())
    .limit(1)
)
_FORGET = Statement(
    sa.update(round_)
    .where(
        round_.c.id.between(given("first"), given("last")),
        sa.or_(round_.c.snapshot.is_not(None), round_.c.decision.is_not(None)),
    )
    .values(snapshot=sa.null(), decision=sa.null())
)


def begin(tx: Transaction, now: float, policy: str, seed: int) -> int:
    """Begin a round; its number."""
    return int(
        tx.value(
            _NEW_ROUND,
            state="computing",
            started=now,
            policy=policy,
            seed=seed,
            **dict.fromkeys(_ENDING, None),
            ended=None,
            regret=None,
        )
    )


_ENDING = (
    "snapshot_hash", "snapshot", "decision", "predictor", "makespan", "bound", "gap", "method",
    "counts", "blockers", "why",
)  # fmt: skip


def end(tx: Transaction, now: float, seq: int, state: str, **columns: Any) -> bool:
    """End a round that computes; whether it did."""
    values = {f"{name}_": columns.get(name) for name in _ENDING}
    done = tx.run(_END_ROUND, seq=seq, state_=state, now=now, **values)
    if done:
        events.tell(tx, now, f"round.{state}", str(seq), columns.get("summary"), tenant=None)
    return bool(done)


def publish(
    tx: Transaction, now: float, seq: int, state: str, plan: Sequence[Placed], **columns: Any
) -> list[int]:
    """Publish a plan at once; the keys of the tasks that were placed.

    Tasks that changed since the snapshot drop out. Nothing is published twice.
    """
    placed, offers = [], []
    for item in plan:
        attempt = tx.value(_PLACE, id_=item.task, version_=item.version)
        if attempt is None:
            continue
        placed.append(item.task)
        offers.append(_offer(item, int(attempt), seq, now))
    counts = {
        "placed": len(placed),
        "changed": len(plan) - len(placed),
        **columns.pop("counts", {}),
    }
    if not end(tx, now, seq, state, counts=document(counts), summary=counts, **columns):
        raise RuntimeError(f"round {seq} has ended before")  # undone with its transaction
    tx.many(_OFFER, offers)
    return placed


def _offer(item: Placed, attempt: int, seq: int, now: float) -> dict[str, Any]:
    return {
        "task": item.task,
        "attempt": attempt,
        "token": None,
        "round": seq,
        "cluster": item.cluster,
        "agent": None,
        "incarnation": None,
        "state": "offered",
        "outcome": None,
        "slots": item.slots,
        "offered": now,
        "granted": None,
        "started": None,
        "ended": None,
        "lease_until": None,
        "missed": 0,
        "seconds": None,
        "exit_code": None,
        "predicted": item.predicted,
        "propensity": item.propensity,
        "receipt": item.receipt,
        "log": None,
    }


def left_free(tx: Transaction) -> bool:
    """Whether the last plan left slots free, while there were tasks that it did not look at."""
    counts = json.loads(tx.value(_COUNTS) or "{}")
    return bool(counts.get("left_free", 0) > 0 and counts["listed"] < counts["tasks"])


def withdraw(tx: Transaction, now: float, timing: Timing) -> int:
    """Take back offers that no agent took in time, or whose cluster drains or is silent."""
    stale = tx.rows(_STALE_OFFERS, old=now - timing.offer, silent=now - timing.held)
    for key, task_key in stale:
        if tx.run(_WITHDRAW, id_=key, now=now):
            tx.run(_UNPLACE, id_=task_key)
    return len(stale)


def abandon(tx: Transaction, now: float) -> int:
    """End the rounds whose process was lost; their number. Only one round computes at a time."""
    return tx.run(_ABANDON, now=now)


def forget(tx: Transaction, keep: int) -> int:
    """Delete the snapshots and decisions of all rounds but the newest ones; how many rounds."""
    newest = int(tx.value(_NEWEST) or 0)
    return tx.run(_FORGET, last=newest - keep, first=newest - keep - _LOOK_BACK)
