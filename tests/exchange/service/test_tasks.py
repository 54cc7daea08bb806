"""Tasks are submitted, cancelled, released and expired."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from tests.exchange.service.east import agent, expire, given, say, states

from walras.exchange.errors import ConflictError, NotFoundError
from walras.exchange.service import tasks
from walras.exchange.service.messages import Running
from walras.exchange.store.database import Database
from walras.exchange.store.statements import Statement


def test_a_task_that_waits_or_is_offered_ends_at_once_when_it_is_cancelled(
    database: Database,
) -> None:
    offers = Statement(sa.text("SELECT state FROM placement"))
    given(database)
    assert database.write(lambda tx: tasks.cancel(tx, 3.0, "t-0", "lab")) == "cancelled"
    assert database.read(lambda tx: tx.rows(offers)) == [("withdrawn",)]
    assert database.write(lambda tx: tasks.cancel(tx, 4.0, "t-0", "lab")) == "cancelled", "again"


def test_a_task_that_has_ended_is_not_cancelled(database: Database) -> None:
    made = [tasks.NewTask("t-0", "n", ("true",), deadline=50.0)]
    database.write(lambda tx: tasks.submit(tx, 1.0, "lab", made))
    database.write(lambda tx: tasks.expire(tx, 51.0))
    with pytest.raises(ConflictError, match="task t-0: is expired"):
        database.write(lambda tx: tasks.cancel(tx, 52.0, "t-0", None))


def test_a_held_task_that_was_cancelled_is_released_as_cancelled(database: Database) -> None:
    agent(database, fences=False)
    given(database)
    (grant,) = say(database, 10.0, 1).run
    say(database, 11.0, 2, running=[Running(grant.placement, grant.token)])
    expire(database, 1000.0)
    assert database.write(lambda tx: tasks.cancel(tx, 1001.0, "t-0", "lab")) == "held"
    assert database.write(lambda tx: tasks.release(tx, 1002.0, "t-0")) == "cancelled"
    with pytest.raises(NotFoundError, match="no task 't-9'"):
        database.write(lambda tx: tasks.release(tx, 1003.0, "t-9"))


def test_tasks_that_ask_for_the_same_share_their_rows(database: Database) -> None:
    counts = Statement(
        sa.text("SELECT (SELECT count(*) FROM feature_set), (SELECT count(*) FROM requirement)")
    )
    made = [
        tasks.NewTask(f"t-{k}", f"n-{k}", ("true",), dict.fromkeys(names, 1.0), requires=labels)
        for k, (names, labels) in enumerate([("ab", {"g": "x"}), ("ba", {"g": "x"}), ("a", {})])
    ]
    assert database.write(lambda tx: tasks.submit(tx, 1.0, "lab", made)) == ["t-0", "t-1", "t-2"]
    assert database.read(lambda tx: tx.first(counts)) == (2, 2)


def test_a_name_that_is_given_twice_in_a_batch_is_refused(database: Database) -> None:
    made = [tasks.NewTask(f"t-{k}", "same", ("true",)) for k in range(2)]
    with pytest.raises(ConflictError, match="'same' is taken twice") as raised:
        database.write(lambda tx: tasks.submit(tx, 1.0, "lab", made))
    assert raised.value.pointer == "/tasks/1/name"
    assert states(database) == []


def test_an_operator_releases_a_held_task(database: Database) -> None:
    agent(database, fences=False)
    given(database)
    say(database, 10.0, 1)
    with pytest.raises(ConflictError, match="is leased"):
        database.write(lambda tx: tasks.release(tx, 11.0, "t-0"))
    expire(database, 1000.0)
    assert database.write(lambda tx: tasks.release(tx, 1001.0, "t-0")) == "pending"


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
