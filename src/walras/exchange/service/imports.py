"""Runs from elsewhere that predictors learn from: stored as tasks that have ended."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from walras.exchange.errors import FieldError, NotFoundError
from walras.exchange.service import events
from walras.exchange.states import placement_state
from walras.exchange.store.schema import (
    cluster,
    feature_set,
    observation,
    placement,
    requirement,
    task,
    tenant,
)
from walras.exchange.store.statements import (
    Statement,
    Transaction,
    document,
    given,
    inserting,
    inserting_once,
)


@dataclass(frozen=True)
class Past:
    """A run that was not ours.

    Attributes:
        cluster: Uid of the cluster on which it ran.
        features: What predictors read of it.
        outcome: One of :data:`walras.exchange.states.COUNTED`.
        seconds: How long it ran.
        at: When it ended, seconds since 1970.
        slots: Slots that it took.
    """

    cluster: str
    features: Mapping[str, float]
    outcome: str
    seconds: float
    at: float
    slots: int = 1


_TENANT = Statement(sa.select(tenant.c.id).where(tenant.c.name == given("name")))
_CLUSTER = Statement(sa.select(cluster.c.id).where(cluster.c.uid == given("uid")))
_NEW_FEATURES = inserting_once(feature_set, "names")
_FEATURES = Statement(sa.select(feature_set.c.id).where(feature_set.c.names == given("names")))
_NEW_LABELS = inserting_once(requirement, "labels")
_LABELS = Statement(sa.select(requirement.c.id).where(requirement.c.labels == given("labels")))
_TASK = inserting(task, task.c.id)
_PLACEMENT = inserting(placement, placement.c.id)
_OBSERVATION = inserting(observation)
_EMPTY_TASK = dict.fromkeys(c.name for c in task.columns if c.name != "id")
_EMPTY_PLACEMENT = dict.fromkeys(c.name for c in placement.columns if c.name != "id")
_EMPTY_OBSERVATION = dict.fromkeys(c.name for c in observation.columns if c.name != "id")


def add(
    tx: Transaction, now: float, batch: str, runs: Sequence[Past], owner: str = "default"
) -> int:
    """Add runs, all or none; their number.

    Args:
        tx: The transaction.
        now: The service's time.
        batch: A name that no task begins with; the tasks are named after it.
        runs: The runs.
        owner: The tenant whose tasks they become.

    Raises:
        NotFoundError: A cluster is unknown.
        FieldError: A time is to come.
    """
    of = tx.value(_TENANT, name=owner)
    clusters: dict[str, int] = {}
    sets: dict[tuple[str, ...], int] = {}
    tx.run(_NEW_LABELS, labels="{}")
    labels = int(tx.value(_LABELS, labels="{}"))
    for k, run in enumerate(runs):
        if run.at > now:
            raise FieldError(
                "is to come",
                where="at",
                allowed="a time that has passed",
                remedy="give seconds since 1970",
                pointer=f"/observations/{k}/at",
            )
        if run.cluster not in clusters:
            clusters[run.cluster] = _cluster(tx, run.cluster, k)
        names = tuple(sorted(run.features))
        if names not in sets:
            tx.run(_NEW_FEATURES, names=document(list(names)))
            sets[names] = int(tx.value(_FEATURES, names=document(list(names))))
        keys = {"tenant": of, "requirement": labels, "feature_set": sets[names]}
        _add(tx, f"{batch}-{k}", run, keys, clusters[run.cluster])
    events.tell(tx, now, "observations.imported", batch, {"count": len(runs)}, tenant=None)
    return len(runs)


def _cluster(tx: Transaction, uid: str, k: int) -> int:
    found = tx.value(_CLUSTER, uid=uid)
    if found is None:
        raise NotFoundError(
            f"there is no cluster '{uid}'",
            where="cluster",
            allowed="a cluster of this exchange",
            remedy=f"add it first: PUT /v1/clusters/{uid}",
            pointer=f"/observations/{k}/cluster",
        )
    return int(found)


def _add(tx: Transaction, uid: str, run: Past, keys: dict[str, Any], of: int) -> None:
    state, began = placement_state(run.outcome), run.at - run.seconds
    values = [float(run.features[name]) for name in sorted(run.features)]
    made = {
        "uid": uid,
        "name": uid,
        "spec": document({"command": ["imported"]}),
        "features": struct.pack(f"<{len(values)}f", *values),
        "slots": run.slots,
        "priority": 0,
        "submitted": began,
        "max_attempts": 1,
        "state": state,
        "attempt": 1,
        "failures": int(state == "failed"),
        "token": 1,
        "ended": run.at,
        "version": 0,
        "auditable": 0,
    }
    task_key = tx.value(_TASK, **(_EMPTY_TASK | made | keys))
    placed = {
        "task": task_key,
        "attempt": 1,
        "token": 1,
        "cluster": of,
        "state": state,
        "outcome": run.outcome,
        "slots": run.slots,
        "offered": began,
        "granted": began,
        "started": began,
        "ended": run.at,
        "missed": 0,
        "seconds": run.seconds,
    }
    placed_key = tx.value(_PLACEMENT, **(_EMPTY_PLACEMENT | placed))
    seen = {
        "placement": placed_key,
        "task": task_key,
        "cluster": of,
        "outcome": run.outcome,
        "at": run.at,
        "seconds_reported": run.seconds,
        "seconds_measured": run.seconds,
        "seconds": run.seconds,
        "weight": "used",
        "review": 0,
    }
    tx.run(_OBSERVATION, **(_EMPTY_OBSERVATION | seen))
