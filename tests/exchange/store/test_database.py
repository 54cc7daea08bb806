"""A write is durable when it returns; a read is consistent; what fails is undone and told."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
import sqlalchemy as sa
from tests.exchange.postgres import Server

from walras.exchange.errors import NotFoundError, StoreError
from walras.exchange.store.database import Database, PostgreSQL, SQLite, open_database, unusable
from walras.exchange.store.migrate import migrate
from walras.exchange.store.schema import meta
from walras.exchange.store.statements import Statement, Transaction, inserting

_INSERT = inserting(meta)
_NAMES = Statement(sa.select(meta.c.name).order_by(meta.c.name))


def _put(name: str) -> Callable[[Transaction], int]:
    return lambda tx: tx.run(_INSERT, name=name, value="{}")


def _names(database: Database) -> list[str]:
    return [row[0] for row in database.read(lambda tx: tx.rows(_NAMES))]


def test_what_raises_is_undone_and_its_error_goes_to_who_asked(empty: Database) -> None:
    def half(tx: Transaction) -> None:
        _put("half")(tx)
        raise NotFoundError("not here", where="x")

    assert empty.write(_put("a")) == 1
    with pytest.raises(NotFoundError, match="not here"):
        empty.write(half)
    with pytest.raises(StoreError):
        empty.write(_put("a"))  # of the same key
    empty.write(_put("b"))
    assert _names(empty) == ["a", "b"]
    assert empty.stats()["writes"] >= 2


def test_a_view_does_not_change_while_others_write(empty: Database) -> None:
    with empty.reading() as tx:
        before = tx.rows(_NAMES)
        empty.write(_put("a"))
        assert tx.rows(_NAMES) == before == []
    assert _names(empty) == ["a"]


def test_a_view_changes_nothing(empty: Database) -> None:
    with suppress(StoreError):  # PostgreSQL refuses; SQLite rolls back
        empty.read(_put("a"))
    assert _names(empty) == []


@pytest.mark.postgres
def test_a_service_that_stands_still_keeps_no_row_locked(postgres: Server) -> None:
    url = postgres.new()
    migrate(url)
    still, other = PostgreSQL(url, idle=0.5), PostgreSQL(url)
    inside, go_on = threading.Event(), threading.Event()
    runs: list[int] = []

    def stands_still(tx: Transaction) -> None:
        runs.append(1)
        _put("row")(tx)
        inside.set()
        assert go_on.wait(60.0)
        tx.rows(_NAMES)

    with closing(still), closing(other):
        waits = still.submit(stands_still)
        assert inside.wait(60.0)
        assert other.submit(_put("row")).result(60.0) == 1  # after half a second, not for ever
        go_on.set()
        with pytest.raises(StoreError):
            waits.result(60.0)
        assert _names(other) == ["row"]
        still.write(_put("next"))  # on another connection
    assert len(runs) > 1  # it was tried again, and found the other's row


def test_functions_that_wait_are_committed_together(tmp_path: Path) -> None:
    database = _made(tmp_path)
    gate = threading.Event()
    began = threading.Event()

    def slow(tx: Transaction) -> None:
        began.set()
        gate.wait(20.0)

    def fails(tx: Transaction) -> None:
        _put("no")(tx)
        raise ValueError("mine alone")

    try:
        first = database.submit(slow)
        assert began.wait(20.0)
        others = [database.submit(work) for work in (_put("a"), fails, _put("b"))]
        gone = database.submit(_put("gone"))
        assert gone.cancel()
        assert database.stats()["waiting"] == 4
        gate.set()
        first.result(20.0)
        assert (others[0].result(20.0), others[2].result(20.0)) == (1, 1)
        with pytest.raises(ValueError, match="mine alone"):
            others[1].result(20.0)
        assert database.stats()["commits"] == 2
        assert _names(database) == ["a", "b"]
    finally:
        gate.set()
        database.close()


def test_of_a_commit_that_fails_each_hears_an_error_of_its_own(tmp_path: Path) -> None:
    database = _made(tmp_path)
    began, gate = threading.Event(), threading.Event()

    def slow(tx: Transaction) -> None:
        began.set()
        gate.wait(20.0)

    def breaks(tx: Transaction) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    with closing(database):
        first = database.submit(slow)
        assert began.wait(20.0)
        together = [database.submit(work) for work in (_put("a"), breaks, _put("b"))]
        gate.set()
        first.result(20.0)
        errors = [future.exception(20.0) for future in together]
        assert all(isinstance(error, StoreError) for error in errors)
        assert len(set(map(id, errors))) == 3  # threads that raise one would mix their traces
        assert _names(database) == []


def _made(folder: Path) -> SQLite:
    path = folder / "x.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT)")
    return SQLite(path)


def test_what_is_closed_says_so_and_closes_again(tmp_path: Path) -> None:
    database = _made(tmp_path)
    waits = database.submit(_put("a"))
    database.close()
    database.close()
    assert waits.result(0) == 1, "what waited was finished"
    for use in (lambda: database.write(_put("b")), lambda: _read_elsewhere(database)):
        with pytest.raises(StoreError, match="the database is closed"):
            use()


def _read_elsewhere(database: Database) -> None:
    """Reads on a thread that has no connection yet."""
    raised: list[BaseException] = []

    def read() -> None:
        try:
            _names(database)
        except StoreError as error:
            raised.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    thread.join(20.0)
    raise raised[0]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("mysql://host/x", "is 'mysql'; allowed: sqlite:///PATH or postgresql://"),
        ("sqlite:////nowhere/at/all.db", "unable to open database file"),
    ],
)
def test_an_address_that_cannot_be_opened_says_why(url: str, words: str) -> None:
    with pytest.raises(StoreError, match=words):
        open_database(url)


@pytest.mark.parametrize(
    ("said", "words", "remedy"),
    [
        ("database or disk is full\nmore", "x: database or disk is full", "free some space"),
        ("no such table: task", "no such table", "walras db migrate"),
        ('relation "task" does not exist', "does not exist", "walras db migrate"),
        ("connection failed: to server at port 1", "connection failed", "its server runs"),
        ("", "RuntimeError", "can be written"),
    ],
)
def test_a_drivers_words_become_an_error_with_a_remedy(said: str, words: str, remedy: str) -> None:
    error = unusable(RuntimeError(said), "x")
    assert words in str(error)
    assert "more" not in str(error)
    assert remedy in str(error)
