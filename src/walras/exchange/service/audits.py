"""Audits: a result's work is run again at another provider, as a task of its own.

It is the task of a tenant that no token and no request can name: nobody pays for it, it uses
nobody's quota, and the audited task's outcome stays as it is. To an agent it is a task as any
other. One audit that disagrees proves nothing, since its own provider may lie: another provider is
asked, and a result that both contradict is a forgery. A trusted cluster's word is enough.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from walras.exchange.errors import ConflictError
from walras.exchange.service import audit, events, queries, tasks, trust
from walras.exchange.service.outcomes import CLOCK_SET
from walras.exchange.service.snapshot_clusters import labels_of
from walras.exchange.service.timing import Timing
from walras.exchange.states import ENDED_TASK
from walras.exchange.store.schema import (
    cluster,
    meta,
    observation,
    placement,
    requirement,
    result_audit,
    task,
    tenant,
)
from walras.exchange.store.statements import (
    Row,
    Statement,
    Transaction,
    document,
    given,
    in_states,
    inserting,
    inserting_once,
)

OWNER = "(audits)"
"""The tenant of audits; no name of a request has such letters."""
ACTOR = "service"

_DAY = 86400.0  # seconds in which an audit must have been placed
_SECRET = "audit_secret"

_META = inserting_once(meta, "name")
_META_VALUE = Statement(sa.select(meta.c.value).where(meta.c.name == given("name")))
_TENANT = inserting_once(tenant, "name")
_TENANT_KEY = Statement(sa.select(tenant.c.id).where(tenant.c.name == given("name")))
_REQUIREMENT = inserting_once(requirement, "labels")
_REQUIREMENT_KEY = Statement(
    sa.select(requirement.c.id).where(requirement.c.labels == given("labels"))
)
_DUE = Statement(
    sa.select(
        observation.c.id,
        observation.c.review,
        observation.c.task,
        cluster.c.provider,
        cluster.c.trusted,
    )
    .join(cluster, cluster.c.id == observation.c.cluster)
    .where(sa.literal_column("observation.review > 0"))
    .order_by(observation.c.id)
    .limit(given("most"))
)
_REVIEWED = Statement(
    sa.update(observation).where(observation.c.id == given("id_")).values(review=0)
)
_CLUSTERS = Statement(
    sa.select(
        cluster.c.uid,
        cluster.c.provider,
        cluster.c.labels,
        cluster.c.slots,
        cluster.c.trusted,
        sa.func.coalesce(cluster.c.seen >= given("since"), sa.false()),
    )
    .where(cluster.c.state == "up")
    .order_by(cluster.c.id)
)
_WORK = Statement(
    sa.select(
        task.c.spec, task.c.feature_set, task.c.features, task.c.slots, task.c.priority,
        task.c.max_attempts, task.c.time_limit, requirement.c.labels,
    )
    .join(requirement, requirement.c.id == task.c.requirement)
    .where(task.c.id == given("id_"))
)  # fmt: skip
_NEW_TASK = inserting(task, task.c.id)
_NEW_AUDIT = inserting(result_audit)
_CLAIMED = placement.alias("claimed")
_AGAIN = placement.alias("again")
_SEEN = observation.alias("seen")
_ENDED = Statement(
    sa.select(
        result_audit.c.id, result_audit.c.observation, result_audit.c.provider,
        result_audit.c.auditor, result_audit.c.cause, task.c.state,
        observation.c.outcome, observation.c.seconds_measured, observation.c.weight,
        observation.c.task, _CLAIMED.c.exit_code, _CLAIMED.c.predicted, _CLAIMED.c.receipt,
        _SEEN.c.outcome, _SEEN.c.seconds_measured, _AGAIN.c.exit_code, _AGAIN.c.predicted,
        cluster.c.trusted, _CLAIMED.c.missed, _SEEN.c.seconds_reported,
    )
    .join(task, task.c.id == result_audit.c.task)
    .join(observation, observation.c.id == result_audit.c.observation)
    .join(_CLAIMED, _CLAIMED.c.id == observation.c.placement)
    # By its token: a run that was given up may report after its task was offered again.
    .outerjoin(_AGAIN, sa.and_(_AGAIN.c.task == task.c.id, _AGAIN.c.token == task.c.token))
    .outerjoin(_SEEN, _SEEN.c.placement == _AGAIN.c.id)
    .outerjoin(cluster, cluster.c.id == _AGAIN.c.cluster)
    .where(in_states(result_audit.c.state, "asked"), task.c.state.in_(ENDED_TASK))
    .order_by(result_audit.c.id)
    .limit(given("most"))
)  # fmt: skip
_DECIDE = Statement(
    sa.update(result_audit)
    .where(result_audit.c.id == given("id_"), result_audit.c.state == "asked")
    .values(state=given("state_"), why=given("why_"), decided=given("now"))
)
_OF_RESULT = Statement(
    sa.select(result_audit.c.auditor, result_audit.c.state)
    .where(result_audit.c.observation == given("observation_"))
    .order_by(result_audit.c.id)
)
_RESULT = Statement(
    sa.select(
        observation.c.id,
        observation.c.rejected,
        task.c.state,
        task.c.auditable,
        tenant.c.name,
    )
    .join(task, task.c.id == observation.c.task)
    .join(tenant, tenant.c.id == task.c.tenant)
    .where(observation.c.task == given("task_"), observation.c.outcome == "completed")
)
_REJECT = Statement(
    sa.update(observation)
    .where(observation.c.id == given("id_"), observation.c.rejected.is_(None))
    .values(rejected=given("now"), reason=given("reason_"), review=given("review_"))
)


@dataclass(frozen=True)
class Due:
    """A result of which it is not decided yet whether it is audited.

    Attributes:
        observation: Its number.
        task: Key of its task.
        provider: Whose it is.
        rejected: Whether its consumer rejected it: it is audited in any case.
        trusted: Whether its cluster is the operator's own.
    """

    observation: int
    task: int
    provider: str
    rejected: bool
    trusted: bool


@dataclass(frozen=True)
class _Work:
    """An audit to ask for."""

    observation: int
    task: int
    provider: str
    cause: str
    chance: float
    former: tuple[str, ...] = ()


def secret(tx: Transaction, fresh: str) -> str:
    """What audits are drawn with: what the store keeps, at first the one given."""
    tx.run(_META, name=_SECRET, value=fresh)
    return str(tx.value(_META_VALUE, name=_SECRET))


def due(tx: Transaction, most: int = 100) -> list[Due]:
    """Results of which it is not decided yet whether they are audited, the oldest first."""
    return [
        Due(int(key), int(of), str(provider), int(review) == 2, bool(trusted))
        for key, review, of, provider, trusted in tx.rows(_DUE, most=most)
    ]


def review(tx: Transaction, now: float, word: str, timing: Timing, most: int = 100) -> int:
    """Decide which results are audited, and ask for their audits; how many were looked at.

    Args:
        tx: The transaction.
        now: The service's time.
        word: What :func:`secret` gave.
        timing: How long a silent cluster is taken to be up.
        most: How many results are looked at.
    """
    found = due(tx, most)
    chances: dict[str, float] = {}
    for one in found:
        tx.run(_REVIEWED, id_=one.observation)
        if one.trusted:
            continue
        if one.provider not in chances:
            chances[one.provider] = trust.audit_chance(trust.valid_in_a_row(tx, one.provider))
        chance = 1.0 if one.rejected else chances[one.provider]
        if trust.drawn(word, "audit", one.observation) < chance:
            cause = "rejected" if one.rejected else "drawn"
            work = _Work(one.observation, one.task, one.provider, cause, chance)
            _ask(tx, now, word, timing, work)
    return len(found)


def _ask(tx: Transaction, now: float, word: str, timing: Timing, work: _Work) -> bool:
    """Ask for an audit; whether there is somebody who can run it."""
    spec, feature_set, features, slots, priority, attempts, limit, labels = tx.rows(
        _WORK, id_=work.task
    )[0]
    required = json.loads(labels)
    able = _able(tx, now - timing.held, required, int(slots), {work.provider, *work.former})
    auditor: str | None = None
    key, why = None, "no other provider has a cluster for it"
    if able:
        place = trust.drawn(word, "auditor", work.observation, len(work.former))
        auditor = able[int(place * len(able))]
        made = {
            "uid": "t-" + trust.digest(word, "task", work.observation, len(work.former))[:20],
            "tenant": _owner(tx, now),
            "name": f"audit-{work.observation}-{len(work.former)}",
            "spec": spec,
            "requirement": _requirement(tx, required | {"provider": auditor}),
            "feature_set": feature_set,
            "features": bytes(features),
            "slots": slots,
            "priority": priority,
            "max_attempts": attempts,
            "time_limit": limit,
        }
        key = int(tx.value(_NEW_TASK, **_task(made, now)))
    tx.run(
        _NEW_AUDIT,
        observation=work.observation,
        task=key,
        provider=work.provider,
        auditor=auditor,
        cause=work.cause,
        chance=work.chance,
        state="unanswered" if auditor is None else "asked",
        why=why if auditor is None else None,
        asked=now,
        decided=now if auditor is None else None,
    )
    return auditor is not None


def _able(
    tx: Transaction, since: float, required: dict[str, str], slots: int, not_these: set[str]
) -> list[str]:
    """Providers that could run it, in order; those with a trusted cluster alone, where one is.

    Those that are silent are asked where no other one is heard: after a start of the service or a
    jump of its clock all are, and they come back. The audit waits for them.
    """
    heard: dict[str, bool] = {}
    silent: dict[str, bool] = {}
    for uid, provider, labels, has, trusted, hears in tx.rows(_CLUSTERS, since=since):
        own = labels_of(uid, provider, labels)
        fits = required.items() <= own.items() and int(has) >= slots
        if fits and provider not in not_these:
            found = heard if hears else silent
            found[provider] = found.get(provider, False) or bool(trusted)
    asked = heard or silent
    return sorted([provider for provider, trusted in asked.items() if trusted] or asked)


def _owner(tx: Transaction, now: float) -> int:
    tx.run(_TENANT, name=OWNER, weight=1.0, quota_slots=None, used=0.0, used_at=now, created=now)
    return int(tx.value(_TENANT_KEY, name=OWNER))


def _requirement(tx: Transaction, labels: dict[str, str]) -> int:
    words = document(labels)
    tx.run(_REQUIREMENT, labels=words)
    return int(tx.value(_REQUIREMENT_KEY, labels=words))


def _task(made: dict[str, Any], now: float) -> dict[str, Any]:
    return made | {
        "submitted": now,
        "deadline": now + _DAY,
        "min_success": None,
        **tasks.NEVER_TRIED,
        "auditable": 0,
    }


def judge(tx: Transaction, now: float, word: str, timing: Timing, most: int = 100) -> int:
    """Compare results with their audits that have ended; how many.

    Args:
        tx: The transaction.
        now: The service's time.
        word: What :func:`secret` gave.
        timing: How long a silent cluster is taken to be up.
        most: How many are looked at.
    """
    rows = tx.rows(_ENDED, most=most)
    for row in rows:
        state, why = _verdict(row)
        tx.run(_DECIDE, id_=row[0], state_=state, why_=why or None, now=now)
        number, provider, cause, weight, of, trusted = (row[k] for k in (1, 2, 4, 8, 9, 17))
        if state == "agreed":
            trust.confirm(tx, number)
        elif weight != "quarantined":  # that was caught before
            before = tx.rows(_OF_RESULT, observation_=number)
            others = sum(s == "disagreed" for _, s in before)
            if state == "disagreed" and (trusted or others > 1):
                trust.contradict(tx, now, number, ACTOR, why)
            elif cause == "second" or (
                state == "disagreed"
                and not _ask(
                    tx,
                    now,
                    word,
                    timing,
                    _Work(number, of, provider, "second", 1.0, tuple(str(a) for a, _ in before)),
                )
            ):
                trust.dispute(tx, number)
    return len(rows)


def _verdict(row: Row) -> tuple[str, str]:
    """The state of an audit that has ended, and why."""
    if row[5] not in ("succeeded", "failed") or row[13] is None:
        return "unanswered", f"its task is {row[5]}"
    receipt = json.loads(row[12] or "{}")
    low = receipt.get("seconds_interval", [None])[0]
    claimed = trust.Ran(row[6], row[10], None if row[18] & CLOCK_SET else row[7], row[11], low)
    # An audit's run may wait in a queue, or report late: only what it took accuses the other one.
    took = row[14] if row[19] is None else min(row[14], row[19])
    why = trust.disagreement(claimed, trust.Ran(row[13], row[15], took, row[16]))
    return ("disagreed" if why else "agreed"), why


def reject(
    tx: Transaction,
    now: float,
    uid: str,
    owner: str | None,
    reason: str,
    *,
    actor: str,
    final: bool = False,
) -> str:
    """A consumer rejects a result; whether it is ``disputed``, or ``quarantined`` at once.

    The result counts no more: it is not learned from, and it is no confirmed work. Where the task
    may be audited, it is. A consumer's word alone costs the provider no more than that; the word
    of an operator is final.

    Args:
        tx: The transaction.
        now: The service's time.
        uid: The task.
        owner: The tenant that asks; None for an operator.
        reason: Why.
        actor: Who asks, for the audit log.
        final: Whether it is an operator.

    Raises:
        NotFoundError: There is no such task, or it is another tenant's.
        ConflictError: It has not succeeded, or its result was rejected before.
    """
    row = tx.first(_RESULT, task_=queries.find(tx, uid, owner))
    if row is None or row[2] != "succeeded":
        state = queries.detail(tx, uid, owner)["state"]
        raise ConflictError(
            f"is {state}",
            where=f"task {uid}",
            allowed="a task that has succeeded",
            remedy="cancel a task that runs: walras task cancel",
        )
    number, _, _, auditable, tenant_name = row
    again = 2 if auditable and not tx.rows(_OF_RESULT, observation_=number) else 0
    if not tx.run(_REJECT, id_=number, now=now, reason_=reason, review_=again):
        raise ConflictError(
            "was rejected before",
            where=f"task {uid}",
            allowed="one rejection a task",
            remedy="walras task receipt shows it",
        )
    trust.dispute(tx, number)
    audit.record(tx, now, actor, "task.reject", uid, {"reason": reason})
    events.tell(tx, now, "task.rejected", uid, {"reason": reason}, tenant=tenant_name)
    if final:
        trust.contradict(tx, now, number, actor, reason)
    return "quarantined" if final else "disputed"


# ---- what is read of them ---------------------------------------------------------------------

_RERUN = task.alias("rerun")
_LISTED = Statement(
    sa.select(
        result_audit.c.id,
        task.c.uid,
        cluster.c.uid,
        result_audit.c.provider,
        _RERUN.c.uid,
        result_audit.c.auditor,
        result_audit.c.cause,
        result_audit.c.chance,
        result_audit.c.state,
        result_audit.c.why,
        result_audit.c.asked,
        result_audit.c.decided,
        observation.c.weight,
    )
    .join(observation, observation.c.id == result_audit.c.observation)
    .join(task, task.c.id == observation.c.task)
    .join(cluster, cluster.c.id == observation.c.cluster)
    .outerjoin(_RERUN, _RERUN.c.id == result_audit.c.task)
    .where(result_audit.c.id < given("before"))
    .order_by(result_audit.c.id.desc())
    .limit(given("most"))
)
_NAMES = (
    "id", "task", "cluster", "provider", "audit_task", "auditor", "cause", "chance", "state",
    "why", "asked", "decided", "weight",
)  # fmt: skip
_MARKS = Statement(
    sa.select(
        placement.c.attempt,
        observation.c.id,
        observation.c.weight,
        observation.c.rejected,
        observation.c.reason,
    )
    .join(observation, observation.c.placement == placement.c.id)
    .where(placement.c.task == given("task_"))
)
_AUDIT_OF = Statement(
    sa.select(task.c.uid)
    .join(observation, observation.c.task == task.c.id)
    .join(result_audit, result_audit.c.observation == observation.c.id)
    .where(result_audit.c.task == given("task_"))
)


def page(
    tx: Transaction, limit: int, before: int | None
) -> tuple[list[dict[str, Any]], str | None]:
    """Audits, the newest first, and the cursor of the page that follows."""
    rows: Sequence[Row] = tx.rows(
        _LISTED, before=2**62 if before is None else before, most=limit + 1
    )
    shown = [dict(zip(_NAMES, row, strict=True)) for row in rows[:limit]]
    return shown, str(shown[-1]["id"]) if len(rows) > limit else None


def marks(tx: Transaction, uid: str, owner: str | None, attempt: int) -> dict[str, Any]:
    """What a receipt says of a result: whether it is believed, rejected, audited, or an audit.

    Raises:
        NotFoundError: There is no such task, or it is another tenant's.
    """
    key = queries.find(tx, uid, owner)
    made: dict[str, Any] = {"result": None, "rejected": None, "reason": None, "audits": []}
    made["audit_of"] = tx.value(_AUDIT_OF, task_=key)
    for number, observed, weight, rejected, reason in tx.rows(_MARKS, task_=key):
        if number == attempt:
            states = [str(state) for _, state in tx.rows(_OF_RESULT, observation_=observed)]
            details = {"result": weight, "rejected": rejected, "reason": reason, "audits": states}
            made |= details
    return made
