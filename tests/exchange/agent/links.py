"""A service in this process, as an agent sees it, for tests without a socket."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from walras.exchange.errors import UnreachableError
from walras.exchange.service import clusters, messages, outcomes, rounds, sync, tasks, tokens
from walras.exchange.service.timing import Timing
from walras.exchange.store.database import SQLite
from walras.exchange.store.schema import metadata
from walras.exchange.store.statements import Statement

QUICK = Timing(lease=3.0, grace=1.5, kill=1.0, drift=1e-3)
PENDING = Statement(sa.text("SELECT id, version, slots FROM task WHERE state = 'pending'"))


class Direct:
    """The service's transactions on a database of their own.

    Attributes:
        down: Whether it answers nothing.
    """

    def __init__(self, folder: Path, timing: Timing = QUICK, slots: int = 4) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        engine = sa.create_engine(f"sqlite:///{folder / 'exchange.db'}")
        metadata.create_all(engine)
        engine.dispose()
        self.database = SQLite(folder / "exchange.db")
        self.timing = timing
        self.down = False
        write = self.database.write
        write(lambda tx: tokens.add_tenant(tx, 0.0, "default"))
        write(lambda tx: clusters.put(tx, 0.0, "here", clusters.Offer(slots)))
        self.count = 0

    def register(self, agent: str, cluster: str, backend: str, fences: bool) -> tuple[int, float]:
        self._check()
        found: int = self.database.write(
            lambda tx: clusters.register(tx, time.time(), agent, cluster, backend, fences)
        )
        return found, self.timing.sync

    def sync(self, agent: str, message: messages.Sync) -> messages.Answer:
        self._check()
        now = time.time()
        found: messages.Answer = self.database.write(
            lambda tx: sync.sync(tx, now, agent, message, self.timing)
        )
        return found

    def _check(self) -> None:
        if self.down:
            raise UnreachableError("down")

    def submit(self, *command: str, **options: Any) -> str:
        """Submit a task and offer it to the cluster at once."""
        self.count += 1
        uid = f"t{self.count}"
        made = tasks.NewTask(uid, uid, command, **options)
        self.database.write(lambda tx: tasks.submit(tx, time.time(), "default", [made]))
        self.offer()
        return uid

    def offer(self) -> None:
        """A round that offers every pending task to the cluster."""

        def play(tx: Any) -> None:
            plan = [rounds.Placed(key, version, 1, n) for key, version, n in tx.rows(PENDING)]
            seq = rounds.begin(tx, time.time(), "{}", 0)
            rounds.publish(tx, time.time(), seq, "published", plan)

        self.database.write(play)

    def expire(self) -> int:
        """Give up what is late."""
        found: int = self.database.write(
            lambda tx: outcomes.expire_leases(tx, time.time(), self.timing)
        )
        return found

    def state(self, uid: str) -> str:
        """A task's state."""
        query = Statement(sa.text("SELECT state FROM task WHERE uid = :uid").bindparams(uid=uid))
        found: str = self.database.read(lambda tx: tx.value(query, uid=uid))
        return found

    def placements(self) -> list[tuple[Any, ...]]:
        """(state, outcome, exit code, log) of all placements, in order."""
        query = Statement(sa.text("SELECT state, outcome, exit_code, log FROM placement"))
        found: list[tuple[Any, ...]] = self.database.read(lambda tx: tx.rows(query))
        return found
