"""The waiting tasks of a snapshot: all are counted, those that may be placed are listed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa

from walras.exchange.store.schema import feature_set, placement, requirement, task
from walras.exchange.store.statements import Row, Statement, Transaction, given
from walras.rounds import FeatureSet, Rest
from walras.types import Floats, Longs

_CHUNK = 500  # keys that one statement asks for

_WAITS = sa.select(
    task.c.id,
    task.c.tenant,
    task.c.priority,
    task.c.submitted,
    task.c.deadline,
    task.c.slots,
    task.c.min_success,
    task.c.requirement,
).where(task.c.state == sa.literal_column("'pending'"))
_PENDING = Statement(_WAITS.where(task.c.priority >= given("least")))
_ONE = Statement(_WAITS.where(task.c.id == given("key")))
_LEVELS = Statement(
    sa.select(task.c.priority, sa.func.count())
    .where(task.c.state == sa.literal_column("'pending'"))
    .group_by(task.c.priority)
    .order_by(task.c.priority.desc())
)
_OWNER = task.c.tenant + sa.literal_column("0")  # by the column SQLite would read all tasks
_KIND = (_OWNER, task.c.priority, task.c.requirement, task.c.slots)
_BELOW = Statement(
    sa.select(*_KIND, sa.func.count())
    .where(task.c.state == sa.literal_column("'pending'"), task.c.priority < given("least"))
    .group_by(*_KIND)
)
_NEVER = sa.func.coalesce(task.c.deadline, sa.literal_column("1e300"))
_COUNT = sa.select(sa.func.count()).where(task.c.state == sa.literal_column("'pending'"))
_HIGHER = Statement(_COUNT.where(task.c.priority > given("priority")))
_EARLIER = Statement(
    _COUNT.where(
        task.c.priority == given("priority"),
        sa.tuple_(_NEVER, task.c.submitted, task.c.id)
        < sa.tuple_(given("deadline"), given("submitted"), given("key")),
    )
)
_KEYS = [given(f"k{i}") for i in range(_CHUNK)]
_NEWEST = sa.and_(placement.c.task == task.c.id, placement.c.attempt == task.c.attempt)
_LISTED = Statement(
    sa.select(
        task.c.id,
        task.c.uid,
        task.c.feature_set,
        task.c.features,
        task.c.attempt,
        task.c.version,
        task.c.failures,
        placement.c.cluster,
    )
    .outerjoin(placement, _NEWEST)
    .where(task.c.id.in_(_KEYS))
)
_FAILED = Statement(
    sa.select(placement.c.task, placement.c.cluster)
    .where(placement.c.task.in_(_KEYS), placement.c.state == "failed")
    .distinct()
)
_REQUIREMENTS = Statement(sa.select(requirement.c.id, requirement.c.labels))
_FEATURE_SETS = Statement(sa.select(feature_set.c.id, feature_set.c.names))


@dataclass(frozen=True, eq=False)
class Waiting:
    """Waiting tasks as columns, one entry each.

    Attributes:
        key: (N,) number in the store.
        tenant: (N,) key of the tenant.
        priority: (N,) priority.
        submitted: (N,) time of submission.
        deadline: (N,) infinite for none.
        slots: (N,) slots it takes.
        min_success: (N,) 0 for none.
        requirement: (N,) key of the requirement.
        below: Tasks of lower priorities: (tenant, priority, requirement, slots, count).
    """

    key: Longs
    tenant: Longs
    priority: Longs
    submitted: Floats
    deadline: Floats
    slots: Longs
    min_success: Floats
    requirement: Longs
    below: list[Row]

    def __len__(self) -> int:
        return len(self.key)


def waiting(tx: Transaction, enough: int) -> Waiting:
    """The waiting tasks of the highest priorities that hold enough tasks; the others counted.

    Args:
        tx: The transaction.
        enough: Tasks from which on a lower priority is not read.
    """
    least, count = 0, 0
    for priority, tasks in tx.rows(_LEVELS):
        least = int(priority)
        count += int(tasks)
        if count >= enough:
            break
    return _columns(tx.rows(_PENDING, least=least), tx.rows(_BELOW, least=least))


def alone(tx: Transaction, key: int) -> Waiting:
    """One waiting task, as if there were no other; none where it does not wait."""
    return _columns(tx.rows(_ONE, key=key), [])


def before(tx: Transaction, one: Waiting) -> tuple[int, int]:
    """How many waiting tasks have a higher priority than a task, and of the same are due or older.

    Of the same priority those count that have an earlier deadline, or the same one and were
    submitted earlier. Which tenant is next would take all tasks to be read.
    """
    deadline = float(one.deadline[0])
    at = {"priority": int(one.priority[0]), "deadline": deadline if deadline < np.inf else 1e300}
    earlier = at | {"submitted": float(one.submitted[0]), "key": int(one.key[0])}
    return tx.value(_HIGHER, priority=at["priority"]), tx.value(_EARLIER, **earlier)


def _columns(rows: list[Row], below: list[Row]) -> Waiting:
    columns = list(zip(*rows, strict=True)) if rows else [()] * 8
    whole = [np.array(columns[k], np.int64) for k in (0, 1, 2, 5, 7)]
    key, tenant, priority, slots, required = whole
    submitted = np.array(columns[3], np.float64)
    deadline, least_success = (np.array(columns[k], np.float64) for k in (4, 6))  # None is NaN
    return Waiting(
        key,
        tenant,
        priority,
        submitted,
        np.where(np.isnan(deadline), np.inf, deadline),
        slots,
        np.where(np.isnan(least_success), 0.0, least_success),
        required,
        below,
    )


def requirements(tx: Transaction) -> dict[int, dict[str, str]]:
    """Key of a requirement -> the labels."""
    return {int(key): json.loads(labels) for key, labels in tx.rows(_REQUIREMENTS)}


@dataclass(frozen=True, eq=False)
class Details:
    """What is read of the tasks that are listed, in the order of their keys given.

    Attributes:
        uid: (L,) names.
        feature_set: (L,) which of the feature sets.
        attempt: (L,) placements so far.
        version: (L,) version of the row.
        previous: (L,) key of the last cluster, or -1.
        features: The feature sets that occur.
        tried: Pairs of a position and the key of a cluster where the task failed.
    """

    uid: tuple[str, ...]
    feature_set: Longs
    attempt: Longs
    version: Longs
    previous: Longs
    features: tuple[FeatureSet, ...]
    tried: list[tuple[int, int]]


def details(tx: Transaction, keys: Longs) -> Details:
    """Read the rest of some tasks.

    Args:
        tx: The transaction.
        keys: (L,) their keys.
    """
    place = {int(key): k for k, key in enumerate(keys)}
    rows: list[Any] = [None] * len(keys)
    for row in _by_keys(tx, _LISTED, keys.tolist()):
        rows[place[int(row[0])]] = row
    failed = [int(row[0]) for row in rows if row[6]]
    tried = [(place[int(t)], int(c)) for t, c in _by_keys(tx, _FAILED, failed)]
    sets = sorted({int(row[2]) for row in rows})
    names = {int(key): tuple(json.loads(text)) for key, text in tx.rows(_FEATURE_SETS)}
    number = {key: k for k, key in enumerate(sets)}
    features = tuple(
        _features(names[key], [row[3] for row in rows if row[2] == key]) for key in sets
    )
    return Details(
        tuple(row[1] for row in rows),
        np.array([number[int(row[2])] for row in rows], np.int64),
        np.array([row[4] for row in rows], np.int64),
        np.array([row[5] for row in rows], np.int64),
        np.array([-1 if row[7] is None else row[7] for row in rows], np.int64),
        features,
        sorted(tried),
    )


def _by_keys(tx: Transaction, statement: Statement, keys: Sequence[int]) -> Iterable[Row]:
    """Rows of a statement that asks for a fixed number of keys at a time."""
    for begin in range(0, len(keys), _CHUNK):
        part = list(keys[begin : begin + _CHUNK])
        part += part[-1:] * (_CHUNK - len(part))
        yield from tx.rows(statement, **{f"k{i}": key for i, key in enumerate(part)})


def _features(names: tuple[str, ...], blobs: list[Any]) -> FeatureSet:
    values = np.frombuffer(b"".join(bytes(blob) for blob in blobs), "<f4")
    return FeatureSet(names, values.reshape(len(blobs), len(names)))


def counted(parts: Iterable[tuple[Longs, Longs, Longs, Longs, Longs]]) -> Rest:
    """Tasks that are counted and not listed, by what they have in common.

    Args:
        parts: Tenants, priorities, requirements, slots and counts, (n,) each.
    """
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    if not columns or not len(columns[0]):
        return Rest.none()
    # By sorting: ``np.unique`` of rows takes several times as long.
    order = np.lexsort(columns[3::-1])
    kinds, counts = np.column_stack(columns[:4])[order], columns[4][order]
    begins = np.flatnonzero(np.r_[True, (np.diff(kinds, axis=0) != 0).any(axis=1)])
    kinds = kinds[begins]
    tenant, priority, requires, slots = kinds.T
    return Rest(tenant, priority, requires, slots, np.add.reduceat(counts, begins))
