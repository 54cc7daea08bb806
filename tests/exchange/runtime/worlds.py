"""A clock that tests move, and an exchange with something in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from tests.exchange.greedy import Greedy

from walras.exchange.runtime.clock import Clock
from walras.exchange.runtime.exchange import Exchange
from walras.exchange.runtime.service import Service
from walras.exchange.runtime.settings import Settings
from walras.exchange.service import clusters, tasks
from walras.exchange.service.messages import Answer, Sync
from walras.exchange.service.sync import sync
from walras.exchange.store.statements import Statement, Transaction

STATES = Statement(sa.text("SELECT uid, state FROM task ORDER BY id"))
LEASES = Statement(sa.text("SELECT lease_until FROM placement WHERE lease_until IS NOT NULL"))


@dataclass
class Hands:
    """Two clocks.

    Attributes:
        wall: The wall clock's time.
        steady: The monotonic clock's.
    """

    wall: float = 1e9
    steady: float = 50.0

    def on(self, seconds: float) -> None:
        """Let time pass."""
        self.wall += seconds
        self.steady += seconds

    def clock(self) -> Clock:
        """A clock that shows them."""
        return Clock(lambda: self.wall, lambda: self.steady)


class World:
    """An exchange on SQLite whose time tests move; agent a1 serves cluster c1 of four slots."""

    def __init__(self, home: Path, **settings: Any) -> None:
        self.home, self.settings = home, settings
        self.hands = Hands()
        self.seq = 0
        self.names = 0
        self.open()
        self.exchange.write(_begin)
        self.sync()

    def open(self) -> None:
        """Open it, or open it again."""
        self.exchange = Exchange.open(
            self.home, settings=Settings(**self.settings), clock=self.hands.clock()
        )
        self.service = Service.of(self.exchange, Greedy(self.exchange.settings.timing))
        self.background = self.service.background

    def close(self) -> None:
        """Close it."""
        self.service.stop()
        self.exchange.close()

    def task(self, **more: Any) -> str:
        """The uid of a new task."""
        self.names += 1
        made = tasks.NewTask(f"t{self.names}", f"n{self.names}", ("true",), **more)
        self.exchange.write(lambda tx, now: tasks.submit(tx, now, "default", [made]))
        return made.uid

    def sync(self, **more: Any) -> Answer:
        """What a1 hears."""
        self.seq += 1
        message = Sync(1, self.seq, **({"free": 4} | more))
        timing = self.exchange.settings.timing
        return self.exchange.write(lambda tx, now: sync(tx, now, "a1", message, timing))

    def running(self) -> str:
        """The uid of a task that is leased to a1."""
        uid = self.task()
        self.hands.on(self.exchange.settings.interval)
        assert self.background.work("round")
        assert [grant.task for grant in self.sync().run] == [uid]
        return uid

    def states(self) -> dict[str, str]:
        """Task -> state."""
        return {str(uid): str(state) for uid, state in self.exchange.read(_states)}

    def leases(self) -> list[float]:
        """When leases end."""
        return [float(row[0]) for row in self.exchange.read(lambda tx: tx.rows(LEASES))]


def _states(tx: Transaction) -> list[tuple[Any, ...]]:
    return tx.rows(STATES)


def _begin(tx: Transaction, now: float) -> None:
    clusters.put(tx, now, "c1", clusters.Offer(4))
    clusters.register(tx, now, "a1", "c1", "local", True)
