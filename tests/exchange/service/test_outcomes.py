"""The transactions of tasks, rounds and runs, one by one, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from walras.exchange.errors import ConflictError, NotFoundError
from walras.exchange.service import clusters, outcomes, rounds, tasks, tokens
from walras.exchange.service.messages import Finished, Running, Sync
from walras.exchange.service.sync import sync
from walras.exchange.service.timing import Timing
from walras.exchange.store.database import Database, open_database
from walras.exchange.store.migrate import migrate
from walras.exchange.store.statements import Statement

TIMING = Timing()
STATES = Statement(sa.text("SELECT t.state, t.failures, t.token FROM task t ORDER BY t.id"))
SEEN = Statement(sa.text("SELECT outcome, seconds, seconds_measured FROM observation ORDER BY id"))


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    migrate(url)
    made = open_database(url)
    made.write(lambda tx: tokens.add_tenant(tx, 0.0, "lab"))
    made.write(lambda tx: clusters.put(tx, 0.0, "east", clusters.Offer(2)))
    yield made
    made.close()


def given(database: Database, count: int = 1, **asked: Any) -> None:
    """Tasks that are placed on the cluster."""
    made = [tasks.NewTask(f"t-{k}", f"n-{k}", ("true",), **asked) for k in range(count)]
    database.write(lambda tx: tasks.submit(tx, 1.0, "lab", made))
    place(database, range(count))


def place(database: Database, numbers: Any) -> None:
    keys = Statement(sa.text("SELECT id, version, slots FROM task WHERE state = 'pending'"))

    def play(tx: Any) -> None:
        seq = rounds.begin(tx, 2.0, "{}", 0)
        plan = [rounds.Placed(key, version, 1, slots) for key, version, slots in tx.rows(keys)]
        rounds.publish(tx, 2.0, seq, "published", plan)

    database.write(play)


def agent(database: Database, fences: bool = True) -> None:
    backend = "local" if fences else "slurm"
    database.write(lambda tx: clusters.register(tx, 0.0, "one", "east", backend, fences))


def say(database: Database, now: float, seq: int, free: int = 2, **said: Any) -> Any:
    message = Sync(said.pop("life", 1), seq, free, **said)
    return database.write(lambda tx: sync(tx, now, "one", message, TIMING))


def states(database: Database) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in database.read(lambda tx: tx.rows(STATES))]


def test_a_run_is_granted_renewed_and_counted_once(database: Database) -> None:
    agent(database)
    given(database)
    (grant,) = say(database, 10.0, 1).run
    assert say(database, 11.0, 2).run == [grant], "the answer was lost: the same grant"
    run = Running(grant.placement, grant.token)
    assert say(database, 12.0, 3, running=[run]).run == []
    assert states(database) == [("running", 0, 1)]
    done = Finished(grant.placement, grant.token, "completed", 4.9, 0, "hello")
    for seq in (4, 5):
        answer = say(database, 15.0 + seq, seq, finished=[done])
        assert answer.ack == [(grant.placement, grant.token, "stored")]
    assert states(database) == [("succeeded", 0, 1)]
    assert database.read(lambda tx: tx.rows(SEEN)) == [("completed", 4.9, 9.0)]


@pytest.mark.parametrize(
    ("reported", "used"), [(1.0, 85.0), (95.0, 95.0), (1000.0, 100.0), (None, 100.0)]
)
def test_reported_seconds_are_believed_within_bounds(
    database: Database, reported: float | None, used: float
) -> None:
    """[0.9 D - 5, D] of the D = 100 s from grant to result."""
    agent(database)
    given(database)
    (grant,) = say(database, 10.0, 1).run
    run = Running(grant.placement, grant.token)
    for seq, now in enumerate((40.0, 70.0, 100.0), 2):
        say(database, now, seq, running=[run])
    say(database, 110.0, 9, finished=[Finished(grant.placement, grant.token, "failed", reported)])
    assert database.read(lambda tx: tx.rows(SEEN)) == [("failed", used, 100.0)]


def test_failures_count_until_the_last_attempt_and_lost_runs_do_not(database: Database) -> None:
    agent(database)
    given(database, max_attempts=2)
    (grant,) = say(database, 10.0, 1).run
    say(database, 11.0, 2, finished=[Finished(grant.placement, grant.token, "timeout")])
    assert states(database) == [("pending", 1, 1)]
    place(database, [0])
    (grant,) = say(database, 12.0, 3).run
    say(database, 13.0, 1, life=2)  # a new life that lists nothing
    assert states(database) == [("pending", 1, 2)]
    place(database, [0])
    (grant,) = say(database, 14.0, 2, life=2).run
    say(database, 15.0, 3, life=2, finished=[Finished(grant.placement, grant.token, "node_fail")])
    assert states(database) == [("failed", 2, 3)]


def test_a_lease_that_runs_out_gives_the_task_away_and_a_late_result_still_counts(
    database: Database,
) -> None:
    agent(database)
    given(database)
    (grant,) = say(database, 10.0, 1).run
    before, after = 10.0 + TIMING.held, 10.1 + TIMING.held
    assert database.write(lambda tx: outcomes.expire_leases(tx, before, TIMING)) == 0
    assert database.write(lambda tx: outcomes.expire_leases(tx, after, TIMING)) == 1
    assert states(database) == [("pending", 0, 1)]
    place(database, [0])  # offered again, not granted yet
    done = Finished(grant.placement, grant.token, "completed", 5.0)
    answer = say(database, 200.0, 2, free=0, finished=[done])
    assert answer.ack == [(grant.placement, grant.token, "stored")]
    assert states(database) == [("succeeded", 0, 1)]
    assert say(database, 201.0, 3).run == [], "the offer was withdrawn"
    assert database.read(lambda tx: tx.rows(SEEN))[0][1] is None, "it missed a sync: no time"


def test_an_agent_has_one_backend(database: Database) -> None:
    """Runs that cannot end themselves would be taken for such that can."""
    agent(database, fences=False)
    agent(database, fences=False)
    with pytest.raises(ConflictError, match="has the backend 'slurm', not 'local'"):
        agent(database, fences=True)


def expire(database: Database, now: float) -> int:
    return database.write(lambda tx: outcomes.expire_leases(tx, now, TIMING))


def test_a_run_that_cannot_end_itself_is_held_until_its_time_limit_from_its_start(
    database: Database,
) -> None:
    agent(database, fences=False)
    given(database, time_limit=500.0)
    (grant,) = say(database, 10.0, 1).run
    run = Running(grant.placement, grant.token)
    say(database, 20.0, 2, running=[run])
    say(database, 60.0, 3, running=[run])
    expire(database, 61.0 + TIMING.held)
    assert states(database) == [("held", 0, 1)]
    end = 20.0 + 500.0 + TIMING.overtime
    expire(database, end - 0.1)
    assert states(database) == [("held", 0, 1)]
    say(database, end, 4, running=[run])
    assert states(database) == [("running", 0, 1)], "its agent is back"
    expire(database, end + 0.1 + TIMING.held)
    assert states(database) == [("pending", 0, 1)], "its limit has passed since its start"


@pytest.mark.parametrize("last", ["nothing", "waits", "goes back"])
def test_a_run_that_may_wait_in_a_queue_is_held_without_end(database: Database, last: str) -> None:
    """Its scheduler starts it at any time; its limit counts from then."""
    agent(database, fences=False)
    given(database, time_limit=50.0)
    (grant,) = say(database, 10.0, 1).run
    waits, runs = (Running(grant.placement, grant.token, at) for at in (None, 11.0))
    if last == "goes back":
        say(database, 11.0, 2, running=[runs])
        assert states(database) == [("running", 0, 1)]
    if last != "nothing":
        say(database, 12.0, 3, running=[waits])
    assert states(database) == [("leased", 0, 1)]
    expire(database, 1000.0)
    assert states(database) == [("held", 0, 1)]
    database.write(lambda tx: outcomes.extend_leases(tx, 1e6, TIMING))
    assert expire(database, 1e9) == 0
    assert states(database) == [("held", 0, 1)]
    say(database, 1e9, 4, running=[waits])
    assert states(database) == [("leased", 0, 1)], "its agent is back, and it still waits"
    expire(database, 1e9 + 100.0)
    done = Finished(grant.placement, grant.token, "completed", 3.0)
    answer = say(database, 2e9, 5, finished=[done])
    assert answer.ack == [(grant.placement, grant.token, "stored")]
    assert states(database) == [("succeeded", 0, 1)]


@pytest.mark.parametrize("jumped", [1e6, 3.0])
def test_a_start_that_another_clock_told_ends_no_held_run(
    database: Database, jumped: float
) -> None:
    agent(database, fences=False)
    given(database, time_limit=500.0)
    (grant,) = say(database, 10.0, 1).run
    say(database, 60.0, 2, running=[Running(grant.placement, grant.token)])
    database.write(lambda tx: outcomes.extend_leases(tx, jumped, TIMING))
    late = jumped + 1.0 + TIMING.held
    expire(database, late)
    expire(database, late + 1.0)
    assert states(database) == [("held", 0, 1)]
    database.write(lambda tx: outcomes.extend_leases(tx, 2e6, TIMING))
    end = 2e6 + 500.0 + TIMING.overtime
    expire(database, end - 0.1)
    assert states(database) == [("held", 0, 1)], "nor does the end that was set on it"
    expire(database, end + 0.1)
    assert states(database) == [("pending", 0, 1)]


def test_a_held_run_without_a_limit_waits_for_its_agent_or_an_operator(database: Database) -> None:
    agent(database, fences=False)
    given(database)
    (grant,) = say(database, 10.0, 1).run
    say(database, 11.0, 2, running=[Running(grant.placement, grant.token)])
    expire(database, 1000.0)
    assert expire(database, 1e9) == 0
    assert states(database) == [("held", 0, 1)]


def test_an_operator_releases_a_held_task(database: Database) -> None:
    agent(database, fences=False)
    given(database)
    say(database, 10.0, 1)
    with pytest.raises(ConflictError, match="is leased"):
        database.write(lambda tx: tasks.release(tx, 11.0, "t-0"))
    database.write(lambda tx: outcomes.expire_leases(tx, 1000.0, TIMING))
    assert database.write(lambda tx: tasks.release(tx, 1001.0, "t-0")) == "pending"


def test_a_cancelled_task_stops_at_the_next_sync(database: Database) -> None:
    agent(database)
    given(database, 2)
    first, second = say(database, 10.0, 1).run
    run = Running(first.placement, first.token)
    say(database, 11.0, 2, running=[run, Running(second.placement, second.token)])
    assert database.write(lambda tx: tasks.cancel(tx, 12.0, "t-0", "lab")) == "running"
    answer = say(database, 13.0, 3, running=[run, Running(second.placement, second.token)])
    assert answer.stop == [(first.placement, first.token, "cancelled")]
    say(
        database, 14.0, 4, running=[Running(second.placement, second.token)],
        finished=[Finished(first.placement, first.token, "cancelled")],
    )  # fmt: skip
    assert [row[0] for row in states(database)] == ["cancelled", "running"]
    with pytest.raises(NotFoundError):
        database.write(lambda tx: tasks.cancel(tx, 15.0, "t-1", "another"))


def test_slots_are_not_exceeded_and_a_large_task_keeps_its_turn(database: Database) -> None:
    agent(database)
    given(database, 1, priority=5, slots=2)
    made = [tasks.NewTask(f"s-{k}", f"s-{k}", ("true",)) for k in range(2)]
    database.write(lambda tx: tasks.submit(tx, 1.0, "lab", made))
    place(database, range(2))
    assert [g.task for g in say(database, 10.0, 1, free=1).run] == [], "the large one goes first"
    assert [g.task for g in say(database, 11.0, 2, free=9).run] == ["t-0"]
    database.write(lambda tx: clusters.register(tx, 0.0, "two", "east", "local", True))
    other = database.write(lambda tx: sync(tx, 12.0, "two", Sync(1, 1, 9), TIMING))
    assert other.run == [], "another agent of the cluster counts the same slots"


def test_a_plan_leaves_out_what_changed_since(database: Database) -> None:
    made = [tasks.NewTask(f"t-{k}", f"n-{k}", ("true",)) for k in range(2)]
    database.write(lambda tx: tasks.submit(tx, 1.0, "lab", made))
    keys = database.read(lambda tx: tx.rows(Statement(sa.text("SELECT id FROM task ORDER BY id"))))
    database.write(lambda tx: tasks.cancel(tx, 2.0, "t-0", None))
    plan = [rounds.Placed(key, 0, 1, 1) for (key,) in keys]
    seq = database.write(lambda tx: rounds.begin(tx, 3.0, "{}", 0))
    placed = database.write(lambda tx: rounds.publish(tx, 3.0, seq, "published", plan))
    assert placed == [keys[1][0]]
    with pytest.raises(RuntimeError, match="has ended before"):
        database.write(lambda tx: rounds.publish(tx, 4.0, seq, "published", []))


def test_names_are_one_a_tenant_and_a_batch_is_all_or_nothing(database: Database) -> None:
    given(database)
    made = [tasks.NewTask("x-1", "fresh", ("true",)), tasks.NewTask("x-2", "n-0", ("true",))]
    with pytest.raises(ConflictError, match="is taken by task t-0") as raised:
        database.write(lambda tx: tasks.submit(tx, 1.0, "lab", made))
    assert raised.value.pointer == "/tasks/1/name"
    assert len(states(database)) == 1
    with pytest.raises(NotFoundError, match="no tenant"):
        database.write(lambda tx: tasks.submit(tx, 1.0, "nobody", made))


def test_tasks_end_at_their_deadline_while_they_wait(database: Database) -> None:
    made = [tasks.NewTask("t-0", "n", ("true",), deadline=50.0)]
    database.write(lambda tx: tasks.submit(tx, 1.0, "lab", made))
    assert database.write(lambda tx: tasks.expire(tx, 49.0)) == 0
    assert database.write(lambda tx: tasks.expire(tx, 51.0)) == 1
    assert states(database)[0][0] == "expired"


def test_offers_that_nobody_takes_are_withdrawn(database: Database) -> None:
    agent(database)
    say(database, 1.0, 1)
    given(database)
    assert database.write(lambda tx: rounds.withdraw(tx, 3.0, TIMING)) == 0
    database.write(lambda tx: clusters.set_state(tx, 4.0, "east", "draining"))
    assert database.write(lambda tx: rounds.withdraw(tx, 5.0, TIMING)) == 1
    assert states(database)[0][0] == "pending"
