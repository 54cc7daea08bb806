"""The agent protocol: one level-triggered message, answered in one transaction.

An agent lists what runs and what has ended; the service renews the leases of what is listed and
current, says what to stop, repeats grants that are not listed yet, takes back what a former life of
the agent held, and grants offers up to the free slots. See
``docs/explanation/exchange.md``, one message.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import sqlalchemy as sa

from walras.exchange.errors import NotFoundError, StaleError
from walras.exchange.service import events, outcomes
from walras.exchange.service.messages import Answer, Grant, Sync
from walras.exchange.service.timing import Timing
from walras.exchange.store.schema import agent, cluster, placement, task
from walras.exchange.store.statements import Statement, Transaction, given


@dataclass(frozen=True)
class _Agent:
    key: int
    cluster: int
    incarnation: int


_AGENT = Statement(sa.select(agent.c.incarnation, agent.c.seq).where(agent.c.uid == given("uid")))
_HEARD = Statement(
    sa.update(agent)
    .where(
        agent.c.uid == given("uid_"),
        sa.or_(
            agent.c.incarnation < given("incarnation_"),
            sa.and_(agent.c.incarnation == given("incarnation_"), agent.c.seq < given("seq_")),
        ),
    )
    .values(
        incarnation=given("incarnation_"), seq=given("seq_"), seen=given("now"), free=given("free_")
    )
    .returning(agent.c.id, agent.c.cluster)
)
_CLUSTER_HEARD = Statement(
    sa.update(cluster).where(cluster.c.id == given("id_")).values(seen=given("now"))
)
# Placements of the agent that may be alive: leased, running, and held ones whose lease ran out.
# Locked, so that no other service gives a run up while it is renewed.
_MINE = Statement(
    sa.select(
        placement.c.id,
        placement.c.token,
        placement.c.incarnation,
        placement.c.state,
        placement.c.slots,
        placement.c.started,
        task.c.id,
        task.c.uid,
        task.c.token,
        task.c.state,
        task.c.cancel_at,
        task.c.spec,
        task.c.time_limit,
    )
    .join(task, task.c.id == placement.c.task)
    .where(
        placement.c.agent == given("agent_"),
        sa.or_(
            placement.c.state.in_([sa.literal_column("'leased'"), sa.literal_column("'running'")]),
            sa.and_(
                placement.c.state == sa.literal_column("'unreachable'"), task.c.state == "held"
            ),
        ),
    )
    .order_by(placement.c.id)
    .with_for_update(of=[placement, task])
)
_RENEW = Statement(
    sa.update(placement)
    .where(placement.c.id == given("id_"), placement.c.token == given("token_"))
    .values(
        state=given("state_"),
        lease_until=given("until"),
        incarnation=given("incarnation_"),
        started=given("started_"),
        outcome=sa.null(),  # of one that was held
        ended=sa.null(),
    )
)
_TASK_FOLLOWS = Statement(
    sa.update(task)
    .where(
        task.c.id == given("id_"),
        task.c.token == given("token_"),
        task.c.state.in_(["leased", "running", "held"]),
        task.c.state != given("state_"),
    )
    .values(state=given("state_"), version=task.c.version + 1)
)
_OFFERS = Statement(
    sa.select(
        placement.c.id, placement.c.slots, task.c.id, task.c.uid, task.c.token, task.c.spec,
        task.c.time_limit,
    )
    .join(task, task.c.id == placement.c.task)
    .where(
        placement.c.cluster == given("cluster_"),
        placement.c.state == sa.literal_column("'offered'"),
    )
    .order_by(task.c.priority.desc(), placement.c.id)
    .limit(given("most"))
    .with_for_update(skip_locked=True, of=placement)
)  # fmt: skip
_CAPACITY = Statement(
    sa.select(cluster.c.slots, cluster.c.state).where(cluster.c.id == given("cluster_"))
)
_LOCK_CLUSTER = Statement(
    sa.select(cluster.c.id).where(cluster.c.id == given("cluster_")).with_for_update()
)
_BUSY = Statement(
    sa.select(sa.func.coalesce(sa.func.sum(placement.c.slots), 0))
    .join(task, task.c.id == placement.c.task)
    .where(
        placement.c.cluster == given("cluster_"),
        sa.or_(
            placement.c.state.in_([sa.literal_column("'leased'"), sa.literal_column("'running'")]),
            sa.and_(
                placement.c.state == sa.literal_column("'unreachable'"),
                task.c.state == "held",
                task.c.token == placement.c.token,
            ),
        ),
    )
)
_TASK_LEASED = Statement(
    sa.update(task)
    .where(task.c.id == given("id_"), task.c.state == "placed", task.c.token == given("token_"))
    .values(state="leased", token=task.c.token + 1, version=task.c.version + 1)
)
_LEASED = Statement(
    sa.update(placement)
    .where(placement.c.id == given("id_"), placement.c.state == "offered")
    .values(
        state="leased",
        token=given("token_"),
        agent=given("agent_"),
        incarnation=given("incarnation_"),
        granted=given("now"),
        lease_until=given("until"),
    )
)


def sync(tx: Transaction, now: float, uid: str, message: Sync, timing: Timing) -> Answer:
    """Take an agent's message and answer it.

    Args:
        tx: The transaction.
        now: The service's time at receipt.
        uid: The agent.
        message: What it says.
        timing: How long leases last.

    Raises:
        NotFoundError: There is no such agent.
        StaleError: The message is not newer than the last one.
    """
    found = _agent_of(tx, now, uid, message)
    until = now + timing.held
    answer = Answer(lease_seconds=timing.lease)
    for result in message.finished:
        word = outcomes.finish(tx, now, found.key, result)
        answer.ack.append((result.placement, result.token, word))
    repeated = _review(tx, now, found, message, until, answer)
    _grant(tx, now, found, message.free - repeated, until, answer)
    return answer


def _agent_of(tx: Transaction, now: float, uid: str, message: Sync) -> _Agent:
    heard = tx.first(
        _HEARD,
        uid_=uid,
        incarnation_=message.incarnation,
        seq_=message.seq,
        now=now,
        free_=message.free,
    )
    if heard is None:
        row = tx.first(_AGENT, uid=uid)
        if row is None:
            raise NotFoundError(
                f"there is no agent '{uid}'", where="agent", remedy="register it: POST /v1/agents"
            )
        raise StaleError(
            f"({message.incarnation}, {message.seq}) is not new",
            incarnation=int(row[0]),
            seq=int(row[1]),
        )
    key, of = heard
    tx.run(_CLUSTER_HEARD, id_=of, now=now)
    return _Agent(int(key), int(of), message.incarnation)


def _review(
    tx: Transaction, now: float, found: _Agent, message: Sync, until: float, answer: Answer
) -> int:
    """Go through what the agent holds; the slots of the grants that are repeated."""
    listed = {(r.placement, r.token): r for r in message.running}
    current: set[tuple[int, int]] = set()
    repeated = 0
    for row in tx.rows(_MINE, agent_=found.key):
        key, token, incarnation, state, slots, began, task_key, task_uid, newest, *rest = row
        was, cancel_at, spec, time_limit = rest
        run = listed.get((key, token))
        if token != newest:  # held, then released and granted again
            continue
        if run is not None:
            follows = "leased" if run.started is None else "running"
            began = None if run.started is None else now if began is None else began
            _renew(tx, found, key, token, follows, until, began)
            if was != follows:
                tx.run(_TASK_FOLLOWS, id_=task_key, token_=token, state_=follows)
            current.add((key, token))
            if cancel_at is not None:
                answer.stop.append((key, token, "cancelled"))
        elif cancel_at is None and state == "leased" and incarnation == found.incarnation:
            # The answer that granted it was lost: the same grant again.
            _renew(tx, found, key, token, "leased", until, None)
            repeated += slots
            grant = Grant(key, token, task_uid, slots, time_limit, json.loads(spec))
            answer.run.append(grant)
        else:
            # Never started, or lost by a former life of the agent, which lists all it has.
            outcomes.lost(tx, now, key, token, "cancelled" if cancel_at else "unreachable")
    for key, token in listed.keys() - current:
        answer.stop.append((key, token, "stale"))
    return repeated


def _renew(
    tx: Transaction,
    found: _Agent,
    key: int,
    token: int,
    state: str,
    until: float,
    started: float | None,
) -> None:
    tx.run(
        _RENEW,
        id_=key,
        token_=token,
        state_=state,
        until=until,
        incarnation_=found.incarnation,
        started_=started,
    )


def _grant(
    tx: Transaction, now: float, found: _Agent, free: int, until: float, answer: Answer
) -> None:
    """Grant offers in order of priority and age; one that does not fit keeps its turn."""
    if free <= 0:
        return
    if tx.dialect.name == "postgresql":  # two agents of a cluster count its slots in turns
        tx.rows(_LOCK_CLUSTER, cluster_=found.cluster)
    offers = tx.rows(_OFFERS, cluster_=found.cluster, most=free)
    if not offers:
        return
    ((capacity, state),) = tx.rows(_CAPACITY, cluster_=found.cluster)
    if state == "draining":  # its offers are about to be taken back
        return
    free = min(free, int(capacity) - int(tx.value(_BUSY, cluster_=found.cluster)))
    before = len(answer.run)
    for key, slots, task_key, uid, token, spec, time_limit in offers:
        if slots > free:
            break
        if not tx.run(_TASK_LEASED, id_=task_key, token_=token):
            continue
        tx.run(
            _LEASED,
            id_=key,
            token_=token + 1,
            agent_=found.key,
            incarnation_=found.incarnation,
            now=now,
            until=until,
        )
        answer.run.append(Grant(key, token + 1, uid, slots, time_limit, json.loads(spec)))
        free -= slots
    new = len(answer.run) - before
    if new:
        events.tell(tx, now, "task.granted", str(found.cluster), {"n": new}, tenant=None)
