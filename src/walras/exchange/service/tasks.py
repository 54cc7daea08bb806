"""Tasks: submit, cancel, release, expire."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from walras.exchange.errors import ConflictError, NotFoundError
from walras.exchange.service import events
from walras.exchange.states import ENDED_TASK
from walras.exchange.store.schema import feature_set, placement, requirement, task, tenant
from walras.exchange.store.statements import (
    Statement,
    Transaction,
    document,
    given,
    inserting,
    inserting_once,
)


@dataclass(frozen=True)
class NewTask:
    """What a task asks for.

    Attributes:
        uid: Its name in the API, chosen by the caller of the transaction.
        name: The user's name for it; one a tenant.
        command: Program and arguments.
        features: What predictors read.
        slots: Slots it takes on a cluster.
        priority: Higher goes first.
        deadline: Time by which it must have been placed, or None.
        min_success: Least chance of success, or None for the policy's floor alone.
        max_attempts: Runs that may fail.
        time_limit: Seconds that a run may take, or None.
        requires: Labels that a cluster must have.
        environment: Variables of the command.
        auditable: Whether its work may be run again at another provider, to audit its result.
    """

    uid: str
    name: str
    command: tuple[str, ...]
    features: Mapping[str, float] = field(default_factory=dict)
    slots: int = 1
    priority: int = 0
    deadline: float | None = None
    min_success: float | None = None
    max_attempts: int = 3
    time_limit: float | None = None
    requires: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    auditable: bool = False


NEVER_TRIED: Mapping[str, Any] = {
    "state": "pending",
    "attempt": 0,
    "failures": 0,
    "token": 0,
    "cancel_at": None,
    "ended": None,
    "version": 0,
}
"""Columns of a task that no cluster was given yet."""

_TENANT = Statement(sa.select(tenant.c.id).where(tenant.c.name == given("name")))
_FEATURES = Statement(sa.select(feature_set.c.id).where(feature_set.c.names == given("names")))
_NEW_FEATURES = inserting_once(feature_set, "names")
_LABELS = Statement(sa.select(requirement.c.id).where(requirement.c.labels == given("labels")))
_NEW_LABELS = inserting_once(requirement, "labels")
_INSERT = inserting(task)
_NAMED = Statement(
    sa.select(task.c.uid).where(task.c.tenant == given("tenant"), task.c.name == given("name"))
)
_STATE = Statement(
    sa.select(task.c.id, task.c.state, task.c.token, tenant.c.name)
    .join(tenant, tenant.c.id == task.c.tenant)
    .where(task.c.uid == given("uid"))
)
_CANCELLED = Statement(
    sa.update(task)
    .where(task.c.id == given("id_"), task.c.state.in_(["pending", "placed"]))
    .values(
        state="cancelled",
        ended=given("now"),
        cancel_at=given("now"),
        version=task.c.version + 1,
    )
)
_CANCEL = Statement(
    sa.update(task)
    .where(
        task.c.id == given("id_"),
        task.c.state.in_(["leased", "running", "held"]),
        task.c.cancel_at.is_(None),
    )
    .values(cancel_at=given("now"), version=task.c.version + 1)
)
WITHDRAW_TASK = Statement(
    sa.update(placement)
    .where(placement.c.task == given("id_"), placement.c.state == "offered")
    .values(state="withdrawn", ended=given("now"))
)
_RELEASED = Statement(
    sa.update(task)
    .where(task.c.id == given("id_"), task.c.state == "held")
    .values(
        state=sa.case((task.c.cancel_at.is_not(None), "cancelled"), else_="pending"),
        ended=sa.case((task.c.cancel_at.is_not(None), given("now")), else_=None),
        version=task.c.version + 1,
    )
)
_EXPIRED = Statement(
    sa.update(task)
    .where(task.c.state == sa.literal_column("'pending'"), task.c.deadline < given("now"))
    .values(state="expired", ended=given("now"), version=task.c.version + 1)
    .returning(task.c.uid, task.c.tenant)
)
_TENANT_NAME = Statement(sa.select(tenant.c.name).where(tenant.c.id == given("id_")))


def submit(
    tx: Transaction, now: float, owner: str, tasks: Sequence[NewTask], *, batch: bool = False
) -> list[str]:
    """Add tasks of a tenant, all or none; their uids in order.

    Args:
        tx: The transaction.
        now: The service's time.
        owner: The tenant.
        tasks: The tasks.
        batch: Whether they were sent as a list: errors point into it.

    Raises:
        NotFoundError: There is no such tenant.
        ConflictError: The tenant has a task of one of the names.
    """
    found = tx.value(_TENANT, name=owner)
    if found is None:
        raise NotFoundError(
            f"there is no tenant '{owner}'", where="tenant", remedy="walras tenant add NAME"
        )
    _check_names(tx, found, tasks, batch or len(tasks) > 1)
    sets: dict[tuple[str, ...], int] = {}
    labels: dict[str, int] = {}
    rows = []
    for given_task in tasks:
        names = tuple(sorted(given_task.features))
        required = document(dict(given_task.requires))
        if names not in sets:
            sets[names] = _feature_set(tx, names)
        if required not in labels:
            labels[required] = _requirement(tx, required)
        row = _row(given_task, now, found, names)
        rows.append(row | {"feature_set": sets[names], "requirement": labels[required]})
    tx.many(_INSERT, rows)
    subject = tasks[0].uid if len(tasks) == 1 else f"{len(tasks)} tasks"
    events.tell(tx, now, "task.submitted", subject, {"count": len(tasks)}, tenant=owner)
    return [t.uid for t in tasks]


def _check_names(tx: Transaction, owner: int, tasks: Sequence[NewTask], batch: bool) -> None:
    seen: set[str] = set()
    for k, given_task in enumerate(tasks):
        name = given_task.name
        other = tx.value(_NAMED, tenant=owner, name=name)
        if other is not None or name in seen:
            place = f"/tasks/{k}/name" if batch else "/name"
            raise ConflictError(
                f"the name '{name}' is taken" + (f" by task {other}" if other else " twice"),
                where="name",
                allowed="one task of a name in a tenant",
                remedy="choose another name; send an Idempotency-Key to repeat a request safely",
                pointer=place,
            )
        seen.add(name)


def _feature_set(tx: Transaction, names: tuple[str, ...]) -> int:
    words = document(list(names))
    tx.run(_NEW_FEATURES, names=words)
    return int(tx.value(_FEATURES, names=words))


def _requirement(tx: Transaction, labels: str) -> int:
    tx.run(_NEW_LABELS, labels=labels)
    return int(tx.value(_LABELS, labels=labels))


def _row(made: NewTask, now: float, owner: int, names: tuple[str, ...]) -> dict[str, Any]:
    values = [float(made.features[name]) for name in names]
    spec = {"command": list(made.command)}
    if made.requires:
        spec["requires"] = dict(made.requires)  # type: ignore[assignment]
    if made.environment:
        spec["environment"] = dict(made.environment)  # type: ignore[assignment]
    return {
        "uid": made.uid,
        "tenant": owner,
        "name": made.name,
        "spec": document(spec),
        "features": struct.pack(f"<{len(values)}f", *values),
        "slots": made.slots,
        "priority": made.priority,
        "submitted": now,
        "deadline": made.deadline,
        "min_success": made.min_success,
        "max_attempts": made.max_attempts,
        "time_limit": made.time_limit,
        **NEVER_TRIED,
        "auditable": int(made.auditable),
    }


def _found(tx: Transaction, uid: str, owner: str | None) -> tuple[int, str, str]:
    row = tx.first(_STATE, uid=uid)
    if row is None or owner not in (None, row[3]):
        raise NotFoundError(
            f"there is no task '{uid}'", where="task", remedy="walras task list shows them"
        )
    return int(row[0]), str(row[1]), str(row[3])


def cancel(tx: Transaction, now: float, uid: str, owner: str | None) -> str:
    """Cancel a task; its state: one that runs is ``running`` until its agent has stopped it.

    Args:
        tx: The transaction.
        now: The service's time.
        uid: The task.
        owner: The tenant that asks; None for an operator.

    Raises:
        NotFoundError: There is no such task, or it is another tenant's.
        ConflictError: It has ended.
    """
    key, state, tenant_name = _found(tx, uid, owner)
    if state in ENDED_TASK and state != "cancelled":
        raise ConflictError(
            f"is {state}",
            where=f"task {uid}",
            allowed="a task that has not ended",
            remedy="nothing is left to cancel",
        )
    if tx.run(_CANCELLED, id_=key, now=now):
        tx.run(WITHDRAW_TASK, id_=key, now=now)
        state = "cancelled"
        events.tell(tx, now, "task.cancelled", uid, tenant=tenant_name)
    elif tx.run(_CANCEL, id_=key, now=now):
        events.tell(tx, now, "task.cancelling", uid, tenant=tenant_name)
    return state


def release(tx: Transaction, now: float, uid: str) -> str:
    """Say that the run of a held task is dead; the task's state.

    Raises:
        NotFoundError: There is no such task.
        ConflictError: It is not held.
    """
    key, state, tenant_name = _found(tx, uid, None)
    if not tx.run(_RELEASED, id_=key, now=now):
        raise ConflictError(
            f"is {state}",
            where=f"task {uid}",
            allowed="a held task: its run cannot stop itself, and its agent is silent",
            remedy="wait for its agent, or cancel the task",
        )
    events.tell(tx, now, "task.released", uid, tenant=tenant_name)
    return _found(tx, uid, None)[1]


def expire(tx: Transaction, now: float) -> int:
    """End the pending tasks whose deadline has passed; their number."""
    ended = tx.rows(_EXPIRED, now=now)
    for uid, owner in ended:
        name = tx.value(_TENANT_NAME, id_=owner)
        events.tell(tx, now, "task.expired", uid, tenant=name)
    return len(ended)
