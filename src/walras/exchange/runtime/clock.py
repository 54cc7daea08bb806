"""The service's time for all its threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import sqlalchemy as sa

from walras.exchange.service.clock import ServiceClock
from walras.exchange.store.database import Database
from walras.exchange.store.statements import Statement, Transaction

_DATABASE_TIME = Statement(sa.text("SELECT extract(epoch FROM clock_timestamp())::float8"))


def monotonic() -> float:
    """Seconds that also pass while the machine sleeps, where it can tell them."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


class Clock:
    """One time for all threads, which never jumps without being noticed.

    The wall clock is the machine's on SQLite; on PostgreSQL it is the database's, so that all
    processes that serve one exchange agree.

    Args:
        wall: Gives the wall clock's time; the machine's where it is not given.
        steady: Gives the monotonic clock's time.
        step: Disagreement of the two that counts as a jump, seconds.
    """

    def __init__(
        self,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = monotonic,
        step: float = 1.0,
    ) -> None:
        self._wall, self._steady = wall, steady
        self._lock = threading.Lock()
        self._clock = ServiceClock(wall(), steady(), step)

    def now(self) -> float:
        """The service's time, seconds since 1970."""
        with self._lock:
            return self._clock.wall + (self._steady() - self._clock.monotonic)

    def read(self, tx: Transaction | None = None) -> tuple[float, bool]:
        """The time, and whether the wall clock has jumped: then every lease must be extended.

        Args:
            tx: A transaction on the database; PostgreSQL is asked for its time.
        """
        asked = tx is not None and tx.dialect.name == "postgresql"
        wall = float(tx.value(_DATABASE_TIME)) if asked and tx is not None else self._wall()
        with self._lock:
            return self._clock.read(wall, self._steady())

    def anchor(self, database: Database) -> None:
        """Take the database's time, where it has one, before anything else is done."""
        database.read(self.read)
