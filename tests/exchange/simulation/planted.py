"""Thirty-seven faults, each planted into the exchange; the simulation must find every one.

python -m tests.exchange.simulation.planted     # the schedules that each took
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from walras.exchange.agent.machine import Action, Machine, Start
from walras.exchange.service import audits, outcomes, rounds, sync, trust
from walras.exchange.service.clock import ServiceClock
from walras.exchange.service.timing import Timing
from walras.exchange.simulation import world
from walras.exchange.simulation.world import Memory, ViolationError, World
from walras.exchange.store.schema import agent, cluster, observation, placement, result_audit, task
from walras.exchange.store.statements import SQLITE, Statement, Transaction, given

Plant = Callable[[pytest.MonkeyPatch], None]
FAULTS: dict[str, Plant] = {}
# Schedules that found faults before come first: others take hundreds.
KNOWN = "0 3 10 16 35 36 47 49 77 92 94 136 142 150 184 185 187 211 235 332 372 467 569 681 985"


def fault(plant: Plant) -> Plant:
    """Register a fault by the words of its docstring."""
    FAULTS[(plant.__doc__ or "").strip().rstrip(".")] = plant
    return plant


def _changed(
    values: dict[str, Any], *where: Any, of: sa.Table = task, returning: Any = ()
) -> Statement:
    made = sa.update(of).where(*where).values(**values)
    return Statement(made.returning(*returning) if returning else made)


@fault
def no_self_fence(patch: pytest.MonkeyPatch) -> None:
    """A run does not end with its lease."""
    patch.setattr(World, "_fence", lambda self, host, until: float("inf"))


@fault
def no_sequence(patch: pytest.MonkeyPatch) -> None:
    """A sync that is replayed counts as new."""
    patch.setattr(
        sync,
        "_HEARD",
        _changed(
            {
                "incarnation": given("incarnation_"),
                "seq": given("seq_"),
                "seen": given("now"),
                "free": given("free_"),
            },
            agent.c.uid == given("uid_"),
            of=agent,
            returning=(agent.c.id, agent.c.cluster),
        ),
    )


@fault
def old_token(patch: pytest.MonkeyPatch) -> None:
    """A result of an older token ends the task."""
    patch.setattr(
        outcomes,
        "_TASK_ENDED",
        _changed(
            {
                "state": given("state_"),
                "failures": given("failures_"),
                "ended": given("ended_"),
                "version": task.c.version + 1,
            },
            task.c.id == given("id_"),
            task.c.state.in_(["pending", "placed", "leased", "running", "held"]),
        ),
    )
    query = outcomes._PLACEMENT.construct
    columns = list(query.selected_columns)  # type: ignore[union-attr]
    columns[8] = columns[1]  # the newest token is what the placement says
    patch.setattr(
        outcomes,
        "_PLACEMENT",
        Statement(query.with_only_columns(*columns)),  # type: ignore[union-attr]
    )


@fault
def no_extension(patch: pytest.MonkeyPatch) -> None:
    """Leases are not extended after a start of the service, and end at once."""
    patch.setattr(outcomes, "extend_leases", lambda tx, now, timing: 0)
    true = World._restart

    def restart(self: World) -> None:
        self.wall += 120.0  # the clock of the new process is ahead
        true(self)

    patch.setattr(World, "_restart", restart)


@fault
def no_grace(patch: pytest.MonkeyPatch) -> None:
    """The service gives a task away before its run has ended."""
    patch.setattr(Timing, "held", property(lambda self: 0.6 * self.lease))


@fault
def from_receipt(patch: pytest.MonkeyPatch) -> None:
    """The agent counts leases from the answer, and too long."""
    true = Machine.answered

    def answered(self: Machine, now: float, *rest: Any) -> list[Action]:
        self.sent = now + self.timing.lease
        return true(self, now, *rest)

    patch.setattr(Machine, "answered", answered)


@fault
def old_answers(patch: pytest.MonkeyPatch) -> None:
    """The agent obeys answers to older messages."""
    true = Machine.answered

    def answered(self: Machine, now: float, seq: int, *rest: Any) -> list[Action]:
        return true(self, now, self.seq, *rest)

    patch.setattr(Machine, "answered", answered)


@fault
def start_before_journal(patch: pytest.MonkeyPatch) -> None:
    """The agent starts a run before its journal is durable."""
    true = Machine._granted

    def granted(self: Machine, *given_: Any) -> list[Action]:
        return sorted(true(self, *given_), key=lambda a: not isinstance(a, Start))

    patch.setattr(Machine, "_granted", granted)


@fault
def grant_not_repeated(patch: pytest.MonkeyPatch) -> None:
    """A grant whose answer was lost keeps its lease and is never said again."""
    true = sync._review

    def review(tx: Any, now: float, found: Any, message: Any, until: float, answer: Any) -> int:
        held = len(answer.run)
        repeated = true(tx, now, found, message, until, answer)
        del answer.run[held:]
        return repeated

    patch.setattr(sync, "_review", review)


@fault
def answered_before_commit(patch: pytest.MonkeyPatch) -> None:
    """The service answers before it has committed."""
    serve = World.serve

    def early(self: World, work: Any) -> Any:
        if self.up and self.faulty(0.3):
            now = self.service_time()
            self.cursor.execute("BEGIN IMMEDIATE")
            try:
                return work(Transaction(self.cursor, SQLITE), now)
            finally:
                self.cursor.execute("ROLLBACK")  # killed before the commit
        return serve(self, work)

    patch.setattr(World, "serve", early)


@fault
def capacity_unchecked(patch: pytest.MonkeyPatch) -> None:
    """Agents say that all slots are free, and the service believes it."""
    patch.setattr(Machine, "free", property(lambda self: self.slots))
    patch.setattr(
        sync,
        "_BUSY",
        Statement(sa.select(sa.literal_column("0")).where(given("cluster_") == given("cluster_"))),
    )


@fault
def placed_twice(patch: pytest.MonkeyPatch) -> None:
    """A plan places tasks whatever has happened to them since its snapshot."""
    patch.setattr(
        rounds,
        "_PLACE",
        Statement(
            sa.update(task)
            .where(task.c.id == given("id_"), given("version_") == given("version_"))
            .values(state="placed", attempt=task.c.attempt + 1, version=task.c.version + 1)
            .returning(task.c.attempt)
        ),
    )


@fault
def same_token(patch: pytest.MonkeyPatch) -> None:
    """A grant does not raise the token."""
    patch.setattr(
        sync,
        "_TASK_LEASED",
        _changed(
            {"state": "leased", "version": task.c.version + 1},
            task.c.id == given("id_"),
            task.c.state == "placed",
            task.c.token == given("token_"),
        ),
    )


@fault
def held_is_lost(patch: pytest.MonkeyPatch) -> None:
    """A run that cannot end itself is given to another as if it had."""
    patch.setattr(
        outcomes,
        "_hold",
        lambda tx, now, key, token, until: outcomes.lost(tx, now, key, token, "unreachable"),
    )


@fault
def limit_from_silence(patch: pytest.MonkeyPatch) -> None:
    """The time limit of a held run counts though it may still wait in a queue."""
    true = outcomes._over_at
    patch.setattr(
        outcomes,
        "_over_at",
        lambda tx, now, started, *rest: true(tx, now, now if started is None else started, *rest),
    )


@fault
def waits_unsaid(patch: pytest.MonkeyPatch) -> None:
    """An agent says of a run that waits in a queue that it has begun."""
    true = Machine.looked
    patch.setattr(Machine, "looked", lambda self, now, waiting: true(self, now, ()))


@fault
def not_adopted(patch: pytest.MonkeyPatch) -> None:
    """A new life of the agent forgets the runs that are alive."""
    true = Machine.begin.__func__  # type: ignore[attr-defined]

    def begin(cls: type[Machine], records: Any, alive: Any, *rest: Any) -> Any:
        return true(cls, records, [], *rest)

    patch.setattr(Machine, "begin", classmethod(begin))


@fault
def withdrawn_while_leased(patch: pytest.MonkeyPatch) -> None:
    """An offer is withdrawn though it was granted in the meantime."""
    patch.setattr(
        rounds,
        "_STALE_OFFERS",
        Statement(
            sa.select(placement.c.id, placement.c.task).where(
                placement.c.state.in_(["offered", "leased"]),
                placement.c.offered < given("old") + 110.0,
                given("silent") == given("silent"),
            )
        ),
    )
    patch.setattr(
        rounds,
        "_WITHDRAW",
        _changed(
            {"state": "withdrawn", "ended": given("now")},
            placement.c.id == given("id_"),
            of=placement,
        ),
    )
    patch.setattr(
        rounds,
        "_UNPLACE",
        _changed({"state": "pending", "version": task.c.version + 1}, task.c.id == given("id_")),
    )


@fault
def wall_clock(patch: pytest.MonkeyPatch) -> None:
    """The service believes its wall clock when it jumps."""
    patch.setattr(ServiceClock, "read", lambda self, wall, monotonic: (wall, False))


@fault
def renewed_unlisted(patch: pytest.MonkeyPatch) -> None:
    """Every sync renews all leases of the agent, also of runs that it does not list."""
    patch.setattr(outcomes, "lost", lambda tx, now, key, token, outcome: None)
    patch.setattr(outcomes, "expire_leases", lambda tx, now, timing: 0)


@fault
def ack_dropped(patch: pytest.MonkeyPatch) -> None:
    """The agent does not forget what was acknowledged."""
    true = Machine.answered

    def answered(self: Machine, now: float, seq: int, listed: Any, answer: Any) -> list[Action]:
        return true(self, now, seq, listed, replace(answer, ack=[]))

    patch.setattr(Machine, "answered", answered)


@fault
def half_published(patch: pytest.MonkeyPatch) -> None:
    """A plan is published in two transactions, and the service is killed between them."""
    true = rounds.publish

    def publish(tx: Any, now: float, seq: int, state: str, plan: Any, **columns: Any) -> Any:
        many = tx.many
        tx.many = lambda statement, rows: many(statement, rows[: len(rows) // 2])
        return true(tx, now, seq, state, plan, **columns)

    patch.setattr(rounds, "publish", publish)


@fault
def ended_is_granted(patch: pytest.MonkeyPatch) -> None:
    """A grant does not look at the task's state."""
    patch.setattr(
        sync,
        "_TASK_LEASED",
        _changed(
            {"state": "leased", "token": task.c.token + 1, "version": task.c.version + 1},
            task.c.id == given("id_"),
            task.c.token == given("token_"),
        ),
    )
    none = sa.update(placement).where(placement.c.id == -1, given("id_") == given("now"))
    patch.setattr(outcomes, "WITHDRAW_TASK", Statement(none.values(ended=0.0)))


@fault
def slow_kill(patch: pytest.MonkeyPatch) -> None:
    """A run takes longer to die than the service waits."""
    patch.setattr(world, "Timing", lambda **given_: Timing(kill=400.0, **given_))


# ---- audits -----------------------------------------------------------------------------------


def _ended(at: int, column: sa.ColumnElement[Any]) -> Statement:
    """What audits that have ended are judged by, with another column."""
    query = audits._ENDED.construct
    columns = list(query.selected_columns)  # type: ignore[union-attr]
    columns[at] = column
    return Statement(query.with_only_columns(*columns))  # type: ignore[union-attr]


@fault
def audits_itself(patch: pytest.MonkeyPatch) -> None:
    """A provider audits its own results."""
    true = audits._able
    patch.setattr(
        audits,
        "_able",
        lambda tx, since, required, slots, _: true(tx, since, required, slots, set()),
    )


@fault
def one_convicts(patch: pytest.MonkeyPatch) -> None:
    """The word of any auditor convicts, as if its cluster were trusted."""
    patch.setattr(audits, "_ENDED", _ended(17, sa.literal_column("1")))


@fault
def forgery_fails(patch: pytest.MonkeyPatch) -> None:
    """The task of a forgery fails afterwards."""
    true = trust.contradict
    of = sa.select(observation.c.task).where(observation.c.id == given("number"))
    fail = _changed({"state": "failed"}, task.c.id == of.scalar_subquery())

    def contradict(tx: Any, now: float, number: int, *rest: Any) -> int:
        tx.run(fail, number=number)
        return true(tx, now, number, *rest)

    patch.setattr(trust, "contradict", contradict)


@fault
def asked_later(patch: pytest.MonkeyPatch) -> None:
    """Results are marked as reviewed, and their audits are asked for in a second transaction."""
    true = audits.review
    again = _changed({"review": given("review_")}, observation.c.id == given("id_"), of=observation)

    def audit(self: World) -> None:
        def mark(tx: Transaction, now: float) -> list[audits.Due]:
            due = audits.due(tx)
            for one in due:
                tx.run(audits._REVIEWED, id_=one.observation)
            return due

        due = self.serve(mark) or []

        def review(tx: Transaction, *rest: Any) -> int:
            for one in due:
                tx.run(again, id_=one.observation, review_=1 + one.rejected)
            return true(tx, *rest)

        patch.setattr(audits, "review", review)
        turn(self)

    turn = World._audit
    patch.setattr(World, "_audit", audit)


@fault
def newest_attempt(patch: pytest.MonkeyPatch) -> None:
    """An audit is judged by its newest placement, though an earlier one reported."""
    last = sa.select(sa.func.max(placement.c.attempt)).where(placement.c.task == task.c.id)
    newest = audits._AGAIN.c.attempt == last.scalar_subquery()
    patch.setattr(audits, "_ENDED", _ended(13, sa.case((newest, audits._SEEN.c.outcome))))


@fault
def wait_accuses(patch: pytest.MonkeyPatch) -> None:
    """The time that an audit waits in a queue counts as its work."""
    patch.setattr(audits, "_ENDED", _ended(19, audits._SEEN.c.seconds_measured))


@fault
def jump_accuses(patch: pytest.MonkeyPatch) -> None:
    """A run over which the clock was set back took no time."""
    patch.setattr(audits, "CLOCK_SET", 0)


@fault
def silent_not_asked(patch: pytest.MonkeyPatch) -> None:
    """Right after a start nobody is heard, and nobody is asked for an audit."""
    query = audits._CLUSTERS.construct
    heard = query.where(cluster.c.seen >= given("since"))  # type: ignore[union-attr]
    patch.setattr(audits, "_CLUSTERS", Statement(heard))


@fault
def asked_again(patch: pytest.MonkeyPatch) -> None:
    """An audit that disagrees stays open, and each look asks for another one."""
    patch.setattr(
        audits,
        "_DECIDE",
        _changed(
            {"state": given("state_"), "why": given("why_"), "decided": given("now")},
            result_audit.c.id == given("id_"),
            given("state_") != sa.literal_column("'disagreed'"),
            of=result_audit,
        ),
    )


@fault
def audits_audited(patch: pytest.MonkeyPatch) -> None:
    """The results of audits are audited."""
    true = audits._task
    patch.setattr(audits, "_task", lambda made, now: true(made, now) | {"auditable": 1})


@fault
def silence_accuses(patch: pytest.MonkeyPatch) -> None:
    """An audit that never ran counts against the result."""
    true = audits._verdict

    def verdict(row: Any) -> tuple[str, str]:
        state, why = true(row)
        return ("disagreed" if state == "unanswered" else state), why

    patch.setattr(audits, "_verdict", verdict)


@fault
def audit_overrules(patch: pytest.MonkeyPatch) -> None:
    """An audit that agrees undoes the consumer's rejection."""
    confirm = _changed({"weight": "audited"}, observation.c.id == given("id_"), of=observation)
    patch.setattr(trust, "_CONFIRM", confirm)


@fault
def half_convicted(patch: pytest.MonkeyPatch) -> None:
    """A convicted provider keeps the results that audits had confirmed."""
    query = trust._QUARANTINE.construct
    kept = query.where(observation.c.weight != "audited")  # type: ignore[union-attr]
    patch.setattr(trust, "_QUARANTINE", Statement(kept))


@contextmanager
def planted(name: str) -> Iterator[None]:
    """The exchange with one fault."""
    patch = pytest.MonkeyPatch()
    try:
        FAULTS[name](patch)
        yield
    finally:
        patch.undo()


def found_by(name: str, most: int) -> str:
    """What the simulation says of a fault."""
    with closing(Memory()) as memory, planted(name):
        for seed in (*map(int, KNOWN.split()), *range(most)):
            try:
                World(seed, memory).run()
            except ViolationError as error:
                return str(error)
    return ""


if __name__ == "__main__":
    for words in sys.argv[1:] or FAULTS:
        began = time.perf_counter()
        found = found_by(words, 2000)
        sys.stdout.write(f"{words}: {found or 'NOT FOUND'} ({time.perf_counter() - began:.1f} s)\n")
        sys.stdout.flush()
