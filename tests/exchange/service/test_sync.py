"""A message of an agent and its answer: grants, renewals, ends; in one transaction."""

from __future__ import annotations

import pytest
from tests.exchange.service.east import TIMING, agent, given, place, say, seen, states

from walras.exchange.errors import NotFoundError, StaleError
from walras.exchange.service import clusters, events, tasks
from walras.exchange.service.messages import Finished, Running, Sync
from walras.exchange.service.sync import sync
from walras.exchange.store.database import Database


def test_a_message_that_is_not_newer_is_refused_with_what_is_known(database: Database) -> None:
    agent(database)
    say(database, 1.0, 7, life=2)
    for life, seq in ((2, 7), (2, 6), (1, 9)):
        with pytest.raises(StaleError, match="is not new") as raised:
            say(database, 2.0, seq, life=life)
        assert (raised.value.incarnation, raised.value.seq) == (2, 7)
    assert say(database, 3.0, 1, life=3).run == [], "a new life counts from one"
    with pytest.raises(NotFoundError, match="no agent 'two'"):
        database.write(lambda tx: sync(tx, 4.0, "two", Sync(1, 1, 1), TIMING))


def test_a_run_that_is_not_known_is_stopped(database: Database) -> None:
    agent(database)
    given(database)
    (grant,) = say(database, 10.0, 1).run
    wrong = Running(grant.placement, grant.token + 1)
    answer = say(database, 11.0, 2, running=[wrong, Running(99, 1)])
    assert sorted(answer.stop) == [
        (grant.placement, grant.token + 1, "stale"),
        (99, 1, "stale"),
    ]
    assert answer.lease_seconds == TIMING.lease


def test_a_former_lifes_grant_that_the_new_life_does_not_list_is_lost(database: Database) -> None:
    agent(database)
    given(database, 2)
    first, _ = say(database, 10.0, 1).run
    kept = Running(first.placement, first.token)
    assert say(database, 11.0, 1, life=2, running=[kept]).run == []
    assert [row[0] for row in states(database)] == ["running", "pending"]


def test_an_agent_without_free_slots_is_granted_nothing(database: Database) -> None:
    agent(database)
    given(database)
    assert say(database, 10.0, 1, free=0).run == []
    assert [g.task for g in say(database, 11.0, 2, free=1).run] == ["t-0"]


def test_a_cluster_that_drains_is_granted_nothing_and_one_that_is_cordoned_its_offers(
    database: Database,
) -> None:
    agent(database)
    given(database)
    database.write(lambda tx: clusters.set_state(tx, 9.0, "east", "draining"))
    assert say(database, 10.0, 1).run == [], "before its offer is taken back"
    database.write(lambda tx: clusters.set_state(tx, 11.0, "east", "cordoned"))
    assert [g.task for g in say(database, 12.0, 2).run] == ["t-0"]


def test_a_grant_that_is_repeated_is_told_once(database: Database) -> None:
    agent(database)
    given(database, 2)
    say(database, 10.0, 1, free=1)
    assert len(say(database, 11.0, 2).run) == 2
    found = database.read(lambda tx: events.after(tx, 0))
    assert [one[5] for one in found if one[3] == "task.granted"] == ['{"n":1}'] * 2


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
    assert seen(database) == [("completed", 4.9, 9.0)]


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
    place(database)
    assert [g.task for g in say(database, 10.0, 1, free=1).run] == [], "the large one goes first"
    assert [g.task for g in say(database, 11.0, 2, free=9).run] == ["t-0"]
    database.write(lambda tx: clusters.register(tx, 0.0, "two", "east", "local", True))
    other = database.write(lambda tx: sync(tx, 12.0, "two", Sync(1, 1, 9), TIMING))
    assert other.run == [], "another agent of the cluster counts the same slots"
