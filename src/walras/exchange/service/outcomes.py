"""How runs end: results of agents, runs that are lost, leases that run out."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from walras.exchange.service import events
from walras.exchange.service.messages import Finished
from walras.exchange.service.tasks import WITHDRAW_TASK
from walras.exchange.service.timing import Timing
from walras.exchange.states import COUNTED, ENDED_TASK, placement_state
from walras.exchange.store.schema import agent, meta, observation, placement, task, tenant
from walras.exchange.store.statements import Statement, Transaction, given, inserting_once

LATE, CLOCK_SET = 1, 2
"""Bits of ``placement.missed``: its lease ran out once; the service's clock was set anew."""

_PLACEMENT = Statement(
    sa.select(
        placement.c.state,
        placement.c.token,
        placement.c.agent,
        placement.c.cluster,
        placement.c.granted,
        placement.c.missed,
        placement.c.propensity,
        task.c.id,
        task.c.token,
        task.c.state,
        task.c.failures,
        task.c.max_attempts,
        task.c.cancel_at,
        task.c.uid,
        tenant.c.name,
        placement.c.outcome,
        task.c.auditable,
    )
    .join(task, task.c.id == placement.c.task)
    .join(tenant, tenant.c.id == task.c.tenant)
    .where(placement.c.id == given("id_"))
    .with_for_update(of=[placement, task])
)
_ENDED = Statement(
    sa.update(placement)
    .where(
        placement.c.id == given("id_"),
        placement.c.token == given("token_"),
        placement.c.state.in_(["leased", "running", "unreachable"]),
    )
    .values(
        state=given("state_"),
        outcome=given("outcome_"),
        ended=given("now"),
        seconds=given("seconds_"),
        exit_code=given("exit_code_"),
        log=given("log_"),
    )
)
_TASK_ENDED = Statement(
    sa.update(task)
    .where(
        task.c.id == given("id_"),
        task.c.token == given("token_"),
        task.c.state.in_(["pending", "placed", "leased", "running", "held"]),
    )
    .values(
        state=given("state_"),
        failures=given("failures_"),
        ended=given("ended_"),
        version=task.c.version + 1,
    )
)
_OBSERVE = inserting_once(observation, "placement")
_UNREACHABLE = Statement(
    sa.update(placement)
    .where(
        placement.c.id == given("id_"),
        placement.c.token == given("token_"),
        placement.c.state.in_(["leased", "running"]),
    )
    .values(
        state="unreachable",
        outcome="unreachable",
        ended=given("now"),
        missed=placement.c.missed.bitwise_or(LATE),
        lease_until=given("until"),
    )
)
_TASK_HELD = Statement(
    sa.update(task)
    .where(
        task.c.id == given("id_"),
        task.c.token == given("token_"),
        task.c.state.in_(["leased", "running"]),
    )
    .values(state="held", version=task.c.version + 1)
)
# Locked, so that no other service renews a run while it is given up; one that is renewed just now
# is left alone.
_LATE = Statement(
    sa.select(
        placement.c.id,
        placement.c.token,
        agent.c.fences,
        task.c.cancel_at,
        placement.c.started,
        task.c.time_limit,
    )
    .join(agent, agent.c.id == placement.c.agent)
    .join(task, task.c.id == placement.c.task)
    .where(
        placement.c.state.in_([sa.literal_column("'leased'"), sa.literal_column("'running'")]),
        placement.c.lease_until < given("now"),
    )
    .order_by(placement.c.id + 0)  # by the key alone SQLite would read the whole table in order
    .with_for_update(of=placement, skip_locked=True)
)
# Held runs that have begun and that their scheduler has ended by now, at their time limit.
_HELD_TOO_LONG = Statement(
    sa.select(placement.c.id, placement.c.token)
    .join(task, task.c.id == placement.c.task)
    .where(
        placement.c.state == sa.literal_column("'unreachable'"),
        task.c.state == sa.literal_column("'held'"),
        task.c.token == placement.c.token,
        placement.c.lease_until < given("now"),
    )
    .order_by(placement.c.id + 0)  # by the key alone SQLite would read the whole table in order
    .with_for_update(of=placement, skip_locked=True)
)
_EXTEND = Statement(
    sa.update(placement)
    .where(placement.c.state.in_([sa.literal_column("'leased'"), sa.literal_column("'running'")]))
    .values(lease_until=given("until"), missed=placement.c.missed.bitwise_or(CLOCK_SET))
)
_EXTEND_LOST = Statement(  # may report yet
    sa.update(placement)
    .where(placement.c.state == sa.literal_column("'unreachable'"), placement.c.missed < CLOCK_SET)
    .values(missed=placement.c.missed.bitwise_or(CLOCK_SET))
)
_EXTEND_HELD = Statement(
    sa.update(placement)
    .where(
        placement.c.state == sa.literal_column("'unreachable'"),
        placement.c.lease_until.is_not(None),
        placement.c.task.in_(
            sa.select(task.c.id).where(task.c.state == sa.literal_column("'held'"))
        ),
    )
    .values(
        lease_until=given("until")
        + sa.select(task.c.time_limit).where(task.c.id == placement.c.task).scalar_subquery()
    )
)
_EXTENDED = "leases_extended"
_NEW_FACT = inserting_once(meta, "name")
_SET_FACT = Statement(
    sa.update(meta).where(meta.c.name == given("name_")).values(value=given("value_"))
)
_FACT = Statement(sa.select(meta.c.value).where(meta.c.name == given("name")))


def finish(tx: Transaction, now: float, agent_key: int, result: Finished) -> str:
    """Store a result once: ``stored``, or ``stale`` where a newer run was granted.

    A result that comes after its lease ran out still counts, until a newer run is granted.
    """
    row = tx.first(_PLACEMENT, id_=result.placement)
    if row is None:
        return "stale"
    state, token, by, newest, task_state, failures, most, cancel_at, known = (
        row[k] for k in (0, 1, 2, 8, 9, 10, 11, 12, 15)
    )
    if token != result.token or by != agent_key:
        return "stale"
    if known == result.outcome:
        return "stored"  # the acknowledgement was lost
    if state not in ("leased", "running", "unreachable") or task_state in ENDED_TASK:
        return "stale"  # the service gave it up, or its task was cancelled meanwhile
    if token != newest:
        return "stale"
    changed = tx.run(
        _ENDED,
        id_=result.placement,
        token_=token,
        state_=placement_state(result.outcome),
        outcome_=result.outcome,
        now=now,
        seconds_=result.seconds,
        exit_code_=result.exit_code,
        log_=result.log,
    )
    failed = result.outcome in COUNTED and result.outcome != "completed"
    after = int(failures) + failed
    ended = _state_after(result.outcome, after, int(most), cancel_at is not None)
    moved = _move(tx, now, row, ended, after)
    if not (changed and moved):  # guarded above; a fault of ours, undone with its transaction
        raise RuntimeError(f"placement {result.placement} and its task disagree")
    if result.outcome in COUNTED:
        _observe(tx, now, result, row)
    return "stored"


def _state_after(outcome: str, failures: int, most: int, cancelled: bool) -> str:
    """The state of a task whose run ended so."""
    if outcome == "completed":
        return "succeeded"
    if cancelled:
        return "cancelled"
    return "failed" if failures >= most and outcome in COUNTED else "pending"


def _move(tx: Transaction, now: float, row: tuple[Any, ...], state: str, failures: int) -> int:
    task_key, token, was, uid, owner = row[7], row[8], row[9], row[13], row[14]
    moved = tx.run(
        _TASK_ENDED,
        id_=task_key,
        token_=token,
        state_=state,
        failures_=failures,
        ended_=None if state == "pending" else now,
    )
    if was == "placed":  # it was given up, and offered again before it reported
        tx.run(WITHDRAW_TASK, id_=task_key, now=now)
    events.tell(tx, now, f"task.{state}", uid, tenant=owner)
    return moved


def _observe(tx: Transaction, now: float, result: Finished, row: tuple[Any, ...]) -> None:
    """Keep what a run tells of its task on its cluster.

    Seconds used are the reported ones clipped to [0.9 D - 5 s, D]; D is the time from grant to
    result on the service's clock. A run that missed a sync counts for success alone. So does one
    over which the clock was set anew, unless D and the reported seconds agree: then it had not
    jumped. Its confirmed work is the lesser of the two, so that a jump gives nobody a larger share.
    """
    of, granted, propensity, task_key = row[3], row[4], row[6], row[7]
    measured = max(now - float(granted), 0.0)
    reported = measured if result.seconds is None else result.seconds
    used = min(max(reported, 0.9 * measured - 5.0, 0.0), measured)
    jumped = row[5] & CLOCK_SET and (result.seconds is None or used != result.seconds)
    if jumped:
        measured = min(measured, max(reported, 0.0))
    missed = row[5] & LATE or row[0] == "unreachable" or jumped
    tx.run(
        _OBSERVE,
        placement=result.placement,
        task=task_key,
        cluster=of,
        outcome=result.outcome,
        at=now,
        seconds_reported=result.seconds,
        seconds_measured=measured,
        seconds=None if missed or used <= 0.0 else used,
        weight="used",
        propensity=propensity,
        review=int(row[16] and result.outcome == "completed"),
        rejected=None,
        reason=None,
    )


def lost(tx: Transaction, now: float, key: int, token: int, outcome: str) -> None:
    """End a run that its agent does not have: it does not count against the task."""
    row = tx.first(_PLACEMENT, id_=key)
    if row is None:  # a placement is never deleted
        return
    tx.run(
        _ENDED,
        id_=key,
        token_=token,
        state_=outcome,
        outcome_=outcome,
        now=now,
        seconds_=None,
        exit_code_=None,
        log_=None,
    )
    if row[8] == token:
        _move(tx, now, row, "cancelled" if row[12] is not None else "pending", int(row[10]))


def expire_leases(tx: Transaction, now: float, timing: Timing) -> int:
    """Give up runs whose lease ran out; their number.

    A run that ends itself has done so by now, and its task waits again. One that cannot (Slurm,
    Kubernetes) is held until its agent returns, an operator says so, or its time limit has passed.
    The limit counts from its start: a run that may still wait in a queue is held without end.
    """
    late = tx.rows(_LATE, now=now)
    for key, token, fences, cancel_at, started, limit in late:
        if fences:
            lost(tx, now, key, token, "cancelled" if cancel_at else "unreachable")
        else:
            _hold(tx, now, key, token, _over_at(tx, now, started, limit, timing))
    over = tx.rows(_HELD_TOO_LONG, now=now)
    for key, token in over:
        lost(tx, now, key, token, "unreachable")
    return len(late) + len(over)


def _over_at(
    tx: Transaction, now: float, started: float | None, limit: float | None, timing: Timing
) -> float | None:
    """When the scheduler has surely ended a run; None where it may wait or has no limit."""
    if started is None or limit is None:
        return None
    since = float(tx.value(_FACT, name=_EXTENDED) or 0.0)
    # A start by another clock, before a jump, is no time of this clock.
    return min(max(started, since), now) + limit + timing.overtime


def _hold(tx: Transaction, now: float, key: int, token: int, until: float | None) -> None:
    row = tx.first(_PLACEMENT, id_=key)
    if row is not None and tx.run(_UNREACHABLE, id_=key, token_=token, now=now, until=until):
        tx.run(_TASK_HELD, id_=row[7], token_=token)
        events.tell(tx, now, "task.held", row[13], tenant=row[14])


def extend_leases(tx: Transaction, now: float, timing: Timing) -> int:
    """Give every lease its full length from now: after a start of the service or a clock's jump.

    Nobody could sync meanwhile, so that no silence is held against an agent; and ends of leases
    that were set on another clock mean nothing. So it is with the limits of runs that are held.
    """
    if not tx.run(_NEW_FACT, name=_EXTENDED, value=repr(now)):
        tx.run(_SET_FACT, name_=_EXTENDED, value_=repr(now))
    tx.run(_EXTEND_HELD, until=now + timing.overtime)
    tx.run(_EXTEND_LOST)
    return tx.run(_EXTEND, until=now + timing.held)
