"""What predictors learn from and which of them is asked: rows of runs, models as bytes.

Rows that are quarantined teach nothing. A run that missed a sync teaches its outcome alone; a run
that failed teaches no time.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from walras.exchange.service import audit, events, predictors
from walras.exchange.service.promotion import Verdict
from walras.exchange.store.schema import (
    cluster,
    feature_set,
    observation,
    placement,
    predictor,
    task,
)
from walras.exchange.store.statements import Statement, Transaction, document, given, inserting
from walras.types import Floats, Longs

MOST = 100_000
"""Runs that a training reads, the newest ones."""

_COUNTS: tuple[sa.ColumnElement[str], ...] = (
    sa.literal_column("'used'"),
    sa.literal_column("'audited'"),
)
_WIDEST = Statement(
    sa.select(task.c.feature_set, sa.func.count())
    .join(observation, observation.c.task == task.c.id)
    .where(observation.c.weight.in_(_COUNTS))
    .group_by(task.c.feature_set)
    .order_by(sa.func.count().desc(), task.c.feature_set)
    .limit(1)
)
_SET_OF = Statement(sa.select(feature_set.c.id).where(feature_set.c.names == given("names")))
_NAMES = Statement(sa.select(feature_set.c.names).where(feature_set.c.id == given("id_")))
_RUNS = Statement(
    sa.select(
        observation.c.id, task.c.uid, observation.c.cluster, observation.c.outcome,
        observation.c.seconds, observation.c.propensity, placement.c.round, placement.c.slots,
        task.c.features,
    )
    .join(task, task.c.id == observation.c.task)
    .join(placement, placement.c.id == observation.c.placement)
    .where(
        observation.c.id > given("after"),
        observation.c.weight.in_(_COUNTS),
        task.c.feature_set == given("feature_set"),
    )
    .order_by(observation.c.id.desc())
    .limit(given("most"))
)  # fmt: skip
_CLUSTERS = Statement(sa.select(cluster.c.id, cluster.c.uid, cluster.c.slots))
_NEWEST = Statement(sa.select(sa.func.coalesce(sa.func.max(observation.c.id), 0)))
_FRESH = Statement(
    sa.select(sa.func.count()).where(
        observation.c.id > given("after"), observation.c.weight.in_(_COUNTS)
    )
)
_MODEL = [
    predictor.c.version, predictor.c.clusters, predictor.c.trained_to, predictor.c.scores,
    predictor.c.model, predictor.c.created,
]  # fmt: skip
_IN_STATE = Statement(
    sa.select(*_MODEL)
    .where(predictor.c.state == given("state"))
    .order_by(predictor.c.version.desc())
    .limit(1)
)
_TRAINED_TO = Statement(sa.select(sa.func.coalesce(sa.func.max(predictor.c.trained_to), 0)))
_VERSION = Statement(sa.select(sa.func.coalesce(sa.func.max(predictor.c.version), 0)))
_INSERT = inserting(predictor)
_SCORED = Statement(
    sa.update(predictor)
    .where(predictor.c.version == given("version_"), predictor.c.state == "shadow")
    .values(scores=given("scores_"))
)
_REJECT = Statement(
    sa.update(predictor)
    .where(predictor.c.version == given("version_"), predictor.c.state == "shadow")
    .values(state="rejected", decided=given("now"), model=sa.null())
)


@dataclass(frozen=True, eq=False)
class Rows:
    """R runs of tasks that have the same features, in the order in which they ended.

    Attributes:
        last: Number of the last one; 0 for none.
        names: (R,) uid of each task.
        feature_names: (d,) names of the features.
        features: (R, d) float32.
        clusters: (M,) uids.
        cluster: (R,) which of them.
        seconds: (R,) of runs that were completed; NaN where not known.
        success: (R,) 1 or 0.
        propensity: (R,) chance of the cluster where it was drawn, else 1.
        round: (R,) number of the round; -1 for none.
        size: (R,) slots that it took.
        slots: (M,) slots of each cluster.
    """

    last: int
    names: tuple[str, ...]
    feature_names: tuple[str, ...]
    features: npt.NDArray[np.float32]
    clusters: tuple[str, ...]
    cluster: Longs
    seconds: Floats
    success: Floats
    propensity: Floats
    round: Longs
    size: Floats
    slots: Floats

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class Model:
    """A predictor of the store.

    Attributes:
        version: Its number.
        clusters: Uids of the clusters that it was trained on.
        trained_to: The last run that it was trained on.
        scores: What is known of it.
        data: Its bytes, for :meth:`walras.predict.Predictor.from_bytes`.
        created: When it was trained.
    """

    version: int
    clusters: tuple[str, ...]
    trained_to: int
    scores: dict[str, Any]
    data: bytes
    created: float

    @property
    def name(self) -> str:
        """As rounds name it."""
        return f"v{self.version}"


def rows(
    tx: Transaction, after: int = 0, most: int = MOST, names: tuple[str, ...] | None = None
) -> Rows:
    """The newest runs after one, of tasks with some features.

    Args:
        tx: The transaction.
        after: Number of the run.
        most: Runs that are read.
        names: The features; those that most runs have if None.
    """
    if names is None:
        widest = tx.first(_WIDEST)
        of = None if widest is None else int(widest[0])
    else:
        of = tx.value(_SET_OF, names=document(list(names)))
    found = [] if of is None else tx.rows(_RUNS, after=after, feature_set=of, most=most)[::-1]
    words = () if of is None else tuple(json.loads(tx.value(_NAMES, id_=of)))
    clusters = tx.rows(_CLUSTERS)
    place = {int(row[0]): k for k, row in enumerate(clusters)}
    columns = list(zip(*found, strict=True)) if found else [()] * 9
    done = np.array([outcome == "completed" for outcome in columns[3]], np.bool_)
    seconds = np.array([np.nan if s is None else s for s in columns[4]], np.float64)
    flat = np.frombuffer(b"".join(bytes(blob) for blob in columns[8]), "<f4")
    return Rows(
        last=int(columns[0][-1]) if found else 0,
        names=tuple(columns[1]),
        feature_names=words,
        features=flat.reshape(len(found), len(words)),
        clusters=tuple(str(row[1]) for row in clusters),
        cluster=np.array([place[int(key)] for key in columns[2]], np.int64),
        seconds=np.where(done & (seconds > 0.0), seconds, np.nan),
        success=done.astype(np.float64),
        propensity=np.array([1.0 if p is None else p for p in columns[5]], np.float64),
        round=np.array([-1 if r is None else r for r in columns[6]], np.int64),
        size=np.array(columns[7], np.float64),
        slots=np.array([row[2] for row in clusters], np.float64),
    )


def fresh(tx: Transaction) -> int:
    """How many runs have ended since the last training."""
    return int(tx.value(_FRESH, after=int(tx.value(_TRAINED_TO))))


def in_state(tx: Transaction, state: str) -> Model | None:
    """The newest predictor in a state, or None."""
    row = tx.first(_IN_STATE, state=state)
    if row is None or row[4] is None:
        return None
    version, clusters, trained_to, scores, data, created = row
    return Model(
        int(version),
        tuple(json.loads(clusters)),
        int(trained_to),
        json.loads(scores),
        bytes(data),
        float(created),
    )


def predictor_of(tx: Transaction) -> Model | None:
    """The predictor that rounds ask; None as long as nothing was promoted: ask the prior then."""
    return in_state(tx, "active")


def store(
    tx: Transaction,
    now: float,
    data: bytes,
    clusters: tuple[str, ...],
    trained_to: int,
    scores: dict[str, Any],
) -> int:
    """Keep a predictor that was trained, as a shadow; its version. A former shadow is rejected."""
    former = in_state(tx, "shadow")
    if former is not None:
        reject(tx, now, former.version, Verdict("reject", "a newer one was trained"))
    version = int(tx.value(_VERSION)) + 1
    tx.run(
        _INSERT,
        version=version,
        state="shadow",
        sha256=hashlib.sha256(data).hexdigest(),
        clusters=document(list(clusters)),
        trained_to=trained_to,
        scores=document(scores),
        model=data,
        created=now,
        decided=None,
    )
    events.tell(tx, now, "predictor.shadow", str(version), scores, tenant=None)
    return version


def reject(tx: Transaction, now: float, version: int, verdict: Verdict) -> None:
    """Reject a shadow; its figures stay, its weights do not."""
    if tx.run(_REJECT, version_=version, now=now):
        audit.record(tx, now, "service", "predictor.reject", str(version), {"why": verdict.why})
        events.tell(tx, now, "predictor.rejected", str(version), {"why": verdict.why}, tenant=None)


def decide(tx: Transaction, now: float, shadow: Model, verdict: Verdict) -> None:
    """Keep what a look said of a shadow, and promote or reject it."""
    scores = shadow.scores | {"why": verdict.why, "look": verdict.scores}
    if not tx.run(_SCORED, version_=shadow.version, scores_=document(scores)):
        return  # it was promoted or rejected meanwhile
    if verdict.decision == "promote":
        predictors.promote(tx, now, shadow.version, "service")
    elif verdict.decision == "reject":
        reject(tx, now, shadow.version, verdict)
