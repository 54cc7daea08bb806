"""Two services write to one database of PostgreSQL at the same moment."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pytest
import sqlalchemy as sa
from tests.exchange.postgres import Server

from walras.exchange.service import clusters, outcomes, rounds, tasks, tokens
from walras.exchange.service.check import findings
from walras.exchange.service.messages import Grant, Running, Sync
from walras.exchange.service.sync import sync
from walras.exchange.service.timing import Timing
from walras.exchange.store.database import Database, open_database
from walras.exchange.store.migrate import migrate
from walras.exchange.store.statements import Statement, Transaction

pytestmark = pytest.mark.postgres

TIMING = Timing()
PENDING = Statement(sa.text("SELECT id, version, slots FROM task WHERE state = 'pending'"))
STATES = Statement(
    sa.text("SELECT t.state, p.state FROM task t JOIN placement p ON p.task = t.id ORDER BY p.id")
)
WAITING = Statement(
    sa.text("SELECT count(*) FROM pg_locks WHERE NOT granted"),
)


@pytest.fixture
def database(postgres: Server) -> Iterator[Database]:
    """A cluster with an agent, and a task that it was granted and runs until 87."""
    url = postgres.new()
    migrate(url)
    made = open_database(url)
    made.write(_begin)
    yield made
    made.close()


def _begin(tx: Transaction) -> None:
    tokens.add_tenant(tx, 0.0, "lab")
    clusters.put(tx, 0.0, "east", clusters.Offer(2))
    clusters.register(tx, 0.0, "one", "east", "local", True)
    tasks.submit(tx, 1.0, "lab", [tasks.NewTask("t", "n", ("true",))])
    seq = rounds.begin(tx, 2.0, "{}", 0)
    plan = [rounds.Placed(key, version, 1, slots) for key, version, slots in tx.rows(PENDING)]
    rounds.publish(tx, 2.0, seq, "published", plan)


def _say(tx: Transaction, now: float, seq: int, *runs: Grant) -> Any:
    listed = [Running(run.placement, run.token) for run in runs]
    return sync(tx, now, "one", Sync(1, seq, 2 - len(runs), listed), TIMING)


def _beside(
    database: Database,
    first: Callable[[Transaction], Any],
    second: Callable[[Transaction], Any],
) -> tuple[Any, Any]:
    """Two transactions: the first one commits when the second one has begun and may wait."""
    done, going = threading.Event(), threading.Event()

    def work(tx: Transaction) -> Any:
        value = first(tx)
        done.set()
        assert going.wait(20.0)
        end = time.monotonic() + 0.3  # the second one waits for a lock, or does without
        while time.monotonic() < end and not tx.value(WAITING):
            time.sleep(0.01)
        return value

    ours: Future[Any] = database.submit(work)
    assert done.wait(20.0)

    def other(tx: Transaction) -> Any:
        going.set()
        return second(tx)

    theirs = database.submit(other)
    return ours.result(30.0), theirs.result(30.0)


def _look(database: Database) -> tuple[list[tuple[Any, ...]], list[Any]]:
    return database.read(lambda tx: ([tuple(row) for row in tx.rows(STATES)], findings(tx)))


def test_a_run_that_was_given_up_meanwhile_is_not_renewed(database: Database) -> None:
    (run,) = database.write(lambda tx: _say(tx, 10.0, 1)).run
    database.write(lambda tx: _say(tx, 12.0, 2, run))
    expired, answer = _beside(
        database,
        lambda tx: outcomes.expire_leases(tx, 100.0, TIMING),
        lambda tx: _say(tx, 100.0, 3, run),
    )
    assert expired == 1
    assert answer.stop == [(run.placement, run.token, "stale")]
    assert _look(database) == ([("pending", "unreachable")], [])


def test_a_run_that_is_renewed_meanwhile_is_not_given_up(database: Database) -> None:
    (run,) = database.write(lambda tx: _say(tx, 10.0, 1)).run
    database.write(lambda tx: _say(tx, 12.0, 2, run))
    answer, expired = _beside(
        database,
        lambda tx: _say(tx, 100.0, 3, run),
        lambda tx: outcomes.expire_leases(tx, 100.0, TIMING),
    )
    assert answer.stop == []
    assert expired == 0
    assert _look(database) == ([("running", "running")], [])
