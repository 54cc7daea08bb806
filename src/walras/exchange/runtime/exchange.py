"""One exchange in a process: its database, its clock, and the threads that let it go on.

Example:
    >>> import tempfile
    >>> from walras.exchange.runtime.exchange import Exchange
    >>> from walras.exchange.service import clusters
    >>> with tempfile.TemporaryDirectory() as folder, Exchange.open(folder) as exchange:
    ...     exchange.write(lambda tx, now: clusters.put(tx, now, "east", clusters.Offer(4)))
    (True, 1)
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import IO, Self, TypeVar

from walras.exchange.runtime import home as homes
from walras.exchange.runtime.clock import Clock
from walras.exchange.runtime.settings import Settings
from walras.exchange.service import jobs, outcomes, restored
from walras.exchange.store.database import Database, open_database
from walras.exchange.store.migrate import migrate
from walras.exchange.store.statements import Transaction

T = TypeVar("T")
log = logging.getLogger("walras.exchange")

_READERS = 8  # threads that read for the API


class Exchange:
    """An exchange that is open in this process; :meth:`open` makes one.

    Attributes:
        home: Its folder.
        url: Its database's address.
        database: Its database.
        settings: How it runs.
        clock: Its time.
        owner: This process, as the jobs name it.
        admin_token: File of the first admin's token, where this start wrote it.
        stopping: Set when it is about to stop; open streams end then.
    """

    def __init__(
        self, home: Path, url: str, database: Database, settings: Settings, clock: Clock
    ) -> None:
        self.home, self.url, self.database = home, url, database
        self.settings, self.clock = settings, clock
        self.owner = f"{socket.gethostname()}-{os.getpid()}-{os.urandom(4).hex()}"
        self.admin_token: Path | None = None
        self.stopping = threading.Event()
        self.locked: IO[bytes] | None = None
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="walras-reader")

    @classmethod
    def open(
        cls,
        home: str | Path,
        database: str | None = None,
        *,
        settings: Settings | None = None,
        clock: Clock | None = None,
    ) -> Exchange:
        """Open an exchange; at its first start it is created.

        Args:
            home: Its folder, created with mode 0700; ``admin.token`` is written there once.
            database: ``sqlite:///PATH`` or ``postgresql://…``; ``exchange.db`` in the folder
                where it is not given.
            settings: How it runs.
            clock: Its time; the machine's where it is not given.

        Returns:
            The exchange; close it, or use it in a ``with``.

        Raises:
            ConflictError: Another process serves the database, which is SQLite's.
            SchemaError: The database is of a newer Walras.
            StoreError: The folder or the database cannot be used.
        """
        folder = Path(home).expanduser().absolute()
        homes.prepare(folder)
        url = database or f"sqlite:///{folder / 'exchange.db'}"
        locked = None
        if url.startswith("sqlite"):
            path = Path(url.partition(":///")[2])
            locked = homes.lock(path.with_name(path.name + ".lock"))
        try:
            return cls._opened(folder, url, settings or Settings(), clock, locked)
        except BaseException:
            if locked is not None:
                locked.close()
            raise

    @classmethod
    def _opened(
        cls,
        folder: Path,
        url: str,
        settings: Settings,
        clock: Clock | None,
        locked: IO[bytes] | None,
    ) -> Exchange:
        if locked is not None:
            homes.create_private(Path(url.partition(":///")[2]))
        migrate(url)
        store = open_database(url)
        try:
            made = cls(folder, url, store, settings, clock or Clock(step=settings.timing.step))
            made.locked = locked
            made.clock.anchor(store)
            made.admin_token = homes.begin(store, folder, made.clock.now())
            made.write(made._begin)
        except BaseException:
            store.close()
            raise
        return made

    def _begin(self, tx: Transaction, now: float) -> None:
        """Nobody could sync while it was down: no silence is held against an agent."""
        if restored.make_good(tx, now, self.settings.timing):
            log.warning("a backup was put back: no task is offered until old runs have ended")
        outcomes.extend_leases(tx, now, self.settings.timing)
        if self.locked is not None:  # the only process: what was held has lost its owner
            jobs.free_all(tx)

    def now(self) -> float:
        """The service's time, seconds since 1970."""
        return self.clock.now()

    def submit(self, work: Callable[[Transaction, float], T]) -> Future[T]:
        """Write; the future ends when the change is durable.

        Args:
            work: A function of a transaction and the time; it must change nothing else.
        """
        return self.database.submit(lambda tx: work(tx, self.clock.now()))

    def write(self, work: Callable[[Transaction, float], T]) -> T:
        """Write and wait until the change is durable; see :meth:`submit`.

        Raises:
            StoreError: The database cannot be written; nothing of it was.
        """
        return self.submit(work).result()

    def read(self, work: Callable[[Transaction], T]) -> T:
        """The value of a function of one consistent view of the database.

        Raises:
            StoreError: The database cannot be read.
        """
        return self.database.read(work)

    def read_soon(self, work: Callable[[Transaction], T]) -> Future[T]:
        """Read in a thread of its own; see :meth:`read`."""
        return self._readers.submit(self.database.read, work)

    def close(self) -> None:
        """Finish what waits to be written, then close the database."""
        self.stopping.set()
        self._readers.shutdown()
        self.database.close()
        if self.locked is not None:
            self.locked.close()
            self.locked = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
