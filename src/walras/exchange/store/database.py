"""One database behind two functions: ``write`` is durable when it returns, ``read`` is consistent.

SQLite has one writer thread with group commit: it takes all functions that wait, gives each a
savepoint, commits once and then answers. PostgreSQL gives each function a transaction of its own
and runs it again when the database asks for that.
"""

from __future__ import annotations

import queue
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import sqlalchemy as sa
from sqlalchemy.engine.interfaces import Dialect

from walras.exchange.errors import StoreError
from walras.exchange.store.statements import POSTGRESQL, SQLITE, Transaction

T = TypeVar("T")
Work = Callable[[Transaction], T]
"""A function of a transaction; it must change nothing else, as it may run again."""

_GROUP = 256  # functions that one commit takes
_BUSY_MS = 10_000
_WAL_BYTES = 16 * 2**20  # of the log at which it is copied into the database
_WAL_PAUSE = 0.5  # seconds until it is tried again where a reader was in the way
_TRIES = 8  # of a transaction that PostgreSQL rolled back
_AGAIN = ("40001", "40P01", "23505", "25P03")
"""Serialization failure, deadlock, unique violation (another transaction made the row meanwhile,
and a second look finds it), a transaction ended since it stood still."""
_IDLE = 10.0  # seconds after which PostgreSQL ends a transaction whose service stands still
_THREADS = 8


class Database:
    """What both databases do; :func:`open_database` makes one."""

    dialect: Dialect

    def submit(self, work: Work[T]) -> Future[T]:
        """Write; the future ends when the change is durable."""
        raise NotImplementedError

    def write(self, work: Work[T]) -> T:
        """Write and wait until the change is durable.

        Raises:
            StoreError: The database cannot be written; nothing of it was.
        """
        return self.submit(work).result()

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """One consistent view of the database; changes nothing."""
        raise NotImplementedError

    def read(self, work: Work[T]) -> T:
        """The value of a function of one consistent view.

        Raises:
            StoreError: The database cannot be read.
        """
        with self.reading() as tx:
            return work(tx)

    def stats(self) -> dict[str, float]:
        """Numbers for the metrics: functions that wait, commits, bytes of the log."""
        return {}

    def close(self) -> None:
        """Finish what waits, then close."""


def open_database(url: str) -> Database:
    """Open ``sqlite:///PATH`` or ``postgresql://…``.

    Raises:
        StoreError: The address is of another database, or it cannot be opened.
    """
    kind = url.partition(":")[0].partition("+")[0]
    if kind == "sqlite":
        return SQLite(Path(url.partition(":///")[2]))
    if kind == "postgresql":
        return PostgreSQL(url)
    raise StoreError(
        f"is {kind!r}",
        where="database",
        allowed="sqlite:///PATH or postgresql://USER@HOST/NAME",
        remedy="give one of these addresses",
    )


def unusable(error: BaseException, where: str) -> StoreError:
    """The error of a database that cannot be used, from what its driver said."""
    words = str(error).strip().splitlines() or [type(error).__name__]
    remedy = "see that the file, its folder and the disk can be written"
    if "connection" in words[0]:
        remedy = "see that its server runs, and that the address, user and password are right"
    elif "full" in words[0]:
        remedy = "free some space on the disk; nothing was half written"
    elif getattr(error, "sqlite_errorname", "").startswith("SQLITE_IOERR"):
        remedy = (
            "free some space, raise the limit on a file's size (ulimit -f), or mend the disk;"
            " nothing was half written"
        )
    elif "malformed" in words[0] or "not a database" in words[0]:
        remedy = "it is damaged: put a backup in its place, walras db restore FILE --replace"
    elif any(said in words[0] for said in ("no such table", "no such column", "does not exist")):
        remedy = "run walras db migrate"
    return StoreError(words[0], where=where, allowed="a database that answers", remedy=remedy)


class SQLite(Database):
    """SQLite in WAL mode: one writer thread, readers on connections of their own."""

    dialect = SQLITE

    def __init__(self, path: Path) -> None:
        self.path = path
        self._waiting: queue.SimpleQueue[tuple[Work[Any], Future[Any]] | None] = queue.SimpleQueue()
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._closed = False
        self.commits = 0
        self.done = 0
        self._copy_at = 0.0
        self._writer = self._connected()
        self._thread = threading.Thread(target=self._serve, name="walras-writer", daemon=True)
        self._thread.start()

    def _connected(self) -> sqlite3.Connection:
        made = None
        try:
            made = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
            made.execute("PRAGMA journal_mode=WAL")
            made.execute("PRAGMA synchronous=FULL")
            made.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
            made.execute("PRAGMA foreign_keys=ON")
            made.execute("PRAGMA wal_autocheckpoint=0")
        except sqlite3.Error as error:
            if made is not None:
                made.close()
            raise unusable(error, str(self.path)) from error
        return made

    def _reader(self) -> sqlite3.Connection:
        """The thread's own connection."""
        found: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            found = self._connected()
            with self._lock:  # either close() finds it, or it finds the database closed
                if self._closed:
                    found.close()
                    raise self._is_closed()
                self._readers.append(found)
            self._local.connection = found
        return found

    def _is_closed(self) -> StoreError:
        return unusable(RuntimeError("the database is closed"), str(self.path))

    def submit(self, work: Work[T]) -> Future[T]:
        """See :meth:`Database.submit`."""
        future: Future[T] = Future()
        if self._closed:
            future.set_exception(self._is_closed())
        else:
            self._waiting.put((work, future))
        return future

    def _serve(self) -> None:
        last = False
        while not last:
            first = self._waiting.get()
            group = [] if first is None else [first]
            last = first is None
            while not last and len(group) < _GROUP:
                try:
                    found = self._waiting.get_nowait()
                except queue.Empty:
                    break
                last = found is None
                if found is not None:
                    group.append(found)
            if group:
                self._commit(group)
        self._writer.close()

    def _commit(self, group: list[tuple[Work[Any], Future[Any]]]) -> None:
        """Run a group of functions, commit once, then answer all."""
        # Who asked may have given up; from here on it cannot, so that each answer is taken.
        group = [item for item in group if item[1].set_running_or_notify_cancel()]
        cursor = self._writer.cursor()
        answers: list[tuple[Future[Any], Any, BaseException | None]] = []
        try:
            cursor.execute("BEGIN IMMEDIATE")
            for work, future in group:
                answers.append((future, *self._attempt(work, cursor)))
            cursor.execute("COMMIT")
        except sqlite3.Error as error:
            if self._writer.in_transaction:
                cursor.execute("ROLLBACK")
            for _, future in group:  # each its own: threads that raise one would mix their traces
                future.set_exception(unusable(error, str(self.path)))
            return
        self.commits += 1
        self.done += len(group)
        for future, value, raised in answers:
            if raised is None:
                future.set_result(value)
            else:
                future.set_exception(raised)
        self._checkpoint(cursor)

    def _attempt(self, work: Work[Any], cursor: Any) -> tuple[Any, BaseException | None]:
        """The value of a function, or what it raised after its changes were undone."""
        cursor.execute("SAVEPOINT work")
        try:
            value = work(Transaction(cursor, SQLITE))
        except sqlite3.IntegrityError as error:
            cursor.execute("ROLLBACK TO work")
            cursor.execute("RELEASE work")
            return None, unusable(error, str(self.path))
        except sqlite3.Error:
            raise  # the disk or the file: nothing of the group can be kept
        except BaseException as error:  # noqa: BLE001 - it belongs to who asked
            cursor.execute("ROLLBACK TO work")
            cursor.execute("RELEASE work")
            return None, error
        cursor.execute("RELEASE work")
        return value, None

    def _checkpoint(self, cursor: Any) -> None:
        """Copy the log into the database; a reader in the way is not waited for."""
        if self.wal_bytes() <= _WAL_BYTES or time.monotonic() < self._copy_at:
            return
        cursor.execute("PRAGMA busy_timeout=0")
        try:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            busy = cursor.fetchall()[0][0]
        except sqlite3.Error:  # the changes are durable in the log; the disk may be full
            busy = 1
        cursor.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
        self._copy_at = time.monotonic() + (_WAL_PAUSE if busy else 0.0)

    def wal_bytes(self) -> int:
        """Bytes of the write-ahead log."""
        try:
            return self.path.with_name(self.path.name + "-wal").stat().st_size
        except OSError:
            return 0

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """One view on the thread's own connection."""
        connection = self._reader()
        try:
            cursor = connection.cursor()
            cursor.execute("BEGIN")
            yield Transaction(cursor, SQLITE)
        except sqlite3.Error as error:
            raise unusable(error, str(self.path)) from error
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    def stats(self) -> dict[str, float]:
        """See :meth:`Database.stats`."""
        return {
            "waiting": self._waiting.qsize(),
            "commits": self.commits,
            "writes": self.done,
            "wal_bytes": self.wal_bytes(),
        }

    def close(self) -> None:
        """See :meth:`Database.close`."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._waiting.put(None)
        self._thread.join()
        for connection in self._readers:
            connection.close()


def _ends_idle(seconds: float) -> Callable[[Any, object], None]:
    """For each new connection: a service that stands still must not keep its rows locked."""

    def set_up(connection: Any, _record: object) -> None:
        milliseconds = round(1000 * seconds)
        connection.execute(f"SET idle_in_transaction_session_timeout = {milliseconds}")
        connection.commit()

    return set_up


class PostgreSQL(Database):
    """PostgreSQL through psycopg: a transaction a function, run again after a deadlock."""

    dialect = POSTGRESQL

    def __init__(self, url: str, idle: float = _IDLE) -> None:
        self.url = url
        try:
            self._engine = sa.create_engine(url, pool_size=_THREADS + 4, pool_pre_ping=True)
            sa.event.listen(self._engine, "connect", _ends_idle(idle))
            with self._engine.connect():
                pass
        except (sa.exc.SQLAlchemyError, ImportError) as error:
            raise unusable(error, "database") from error
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="walras-writer")
        self.done = 0

    def submit(self, work: Work[T]) -> Future[T]:
        """See :meth:`Database.submit`."""
        return self._pool.submit(self._write, work)

    def _write(self, work: Work[T]) -> T:
        for tries in range(_TRIES):
            try:
                with self._transaction() as tx:
                    value = work(tx)
            except Exception as error:
                again = getattr(error, "sqlstate", None) in _AGAIN and tries < _TRIES - 1
                if again:
                    time.sleep(0.005 * 2**tries * random.random())
                    continue
                if self._of_database(error):
                    # Where the connection was lost in the commit, nobody knows whether it was made.
                    raise unusable(error, "database") from error
                raise
            self.done += 1
            return value
        raise AssertionError("unreachable")  # pragma: no cover

    def _of_database(self, error: Exception) -> bool:
        """Whether the server or the way to it is the cause."""
        import psycopg  # noqa: PLC0415 - an extra, which is there where this class is used

        return isinstance(error, psycopg.Error | sa.exc.SQLAlchemyError)

    @contextmanager
    def _transaction(self, first: str = "") -> Iterator[Transaction]:
        connection = self._engine.raw_connection()
        try:
            cursor = connection.cursor()
            if first:
                cursor.execute(first)
            yield Transaction(cast(Any, cursor), POSTGRESQL)
            connection.commit()
        finally:
            if cast(Any, connection.dbapi_connection).closed:  # nothing is left to roll back
                connection.invalidate()
            connection.close()  # rolls back what was not committed

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """One snapshot of the database."""
        first = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
        try:
            with self._transaction(first) as tx:
                yield tx
        except Exception as error:
            if self._of_database(error):
                raise unusable(error, "database") from error
            raise

    def stats(self) -> dict[str, float]:
        """See :meth:`Database.stats`."""
        return {"writes": self.done}

    def close(self) -> None:
        """See :meth:`Database.close`."""
        self._pool.shutdown()
        self._engine.dispose()
