"""A tenant, ``lab``, and a cluster of two slots, ``east``: what happens to them, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from walras.exchange.service import clusters, outcomes, rounds, tasks, tokens
from walras.exchange.service.messages import Answer, Sync
from walras.exchange.service.sync import sync
from walras.exchange.service.timing import Timing
from walras.exchange.store.database import Database, open_database
from walras.exchange.store.migrate import migrate
from walras.exchange.store.statements import Statement, Transaction

TIMING = Timing()
_STATES = Statement(sa.text("SELECT t.state, t.failures, t.token FROM task t ORDER BY t.id"))
_SEEN = Statement(sa.text("SELECT outcome, seconds, seconds_measured FROM observation ORDER BY id"))
_PENDING = Statement(sa.text("SELECT id, version, slots FROM task WHERE state = 'pending'"))


@contextmanager
def opened(url: str) -> Iterator[Database]:
    """A new database with the tenant and the cluster."""
    migrate(url)
    made = open_database(url)
    try:
        made.write(lambda tx: tokens.add_tenant(tx, 0.0, "lab"))
        made.write(lambda tx: clusters.put(tx, 0.0, "east", clusters.Offer(2)))
        yield made
    finally:
        made.close()


def given(database: Database, count: int = 1, **asked: Any) -> None:
    """Tasks that are placed on the cluster."""
    made = [tasks.NewTask(f"t-{k}", f"n-{k}", ("true",), **asked) for k in range(count)]
    database.write(lambda tx: tasks.submit(tx, 1.0, "lab", made))
    place(database)


def place(database: Database) -> None:
    """A round that places every task that waits."""

    def play(tx: Transaction) -> None:
        seq = rounds.begin(tx, 2.0, "{}", 0)
        plan = [rounds.Placed(key, version, 1, slots) for key, version, slots in tx.rows(_PENDING)]
        rounds.publish(tx, 2.0, seq, "published", plan)

    database.write(play)


def agent(database: Database, fences: bool = True) -> None:
    """The agent ``one`` of the cluster."""
    backend = "local" if fences else "slurm"
    database.write(lambda tx: clusters.register(tx, 0.0, "one", "east", backend, fences))


def say(database: Database, now: float, seq: int, free: int = 2, **said: Any) -> Answer:
    """What the service answers to a message of the agent."""
    message = Sync(said.pop("life", 1), seq, free, **said)
    return database.write(lambda tx: sync(tx, now, "one", message, TIMING))


def expire(database: Database, now: float) -> int:
    """Give up the leases that have run out."""
    return database.write(lambda tx: outcomes.expire_leases(tx, now, TIMING))


def states(database: Database) -> list[tuple[Any, ...]]:
    """State, failures and token of each task."""
    return [tuple(row) for row in database.read(lambda tx: tx.rows(_STATES))]


def seen(database: Database) -> list[tuple[Any, ...]]:
    """Outcome, seconds that are used and seconds that were measured, of each observation."""
    return [tuple(row) for row in database.read(lambda tx: tx.rows(_SEEN))]
