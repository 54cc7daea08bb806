"""A backup is taken while rows are written, is whole, and can be put back."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from tests.exchange.filled import fill
from tests.exchange.postgres import Server

from walras.exchange.errors import ConflictError, SchemaError, StoreError
from walras.exchange.runtime import home as homes
from walras.exchange.runtime.exchange import Exchange
from walras.exchange.service import events, restored
from walras.exchange.service.check import check
from walras.exchange.store import backup as module
from walras.exchange.store.backup import backup, restore
from walras.exchange.store.database import open_database
from walras.exchange.store.migrate import connected, migrate
from walras.exchange.store.schema import event


def _events(url: str) -> int:
    with connected(url) as connection:
        found = connection.execute(sa.select(sa.func.count()).select_from(event)).scalar()
    return int(found or 0)


def test_a_backup_of_sqlite_is_whole_and_is_restored(tmp_path: Path) -> None:
    path, copy = tmp_path / "exchange.db", tmp_path / "copy.db"
    url = f"sqlite:///{path}"
    migrate(url)
    fill(url)
    database = open_database(url)  # the service runs, and its log holds what it wrote last
    database.write(lambda tx: events.tell(tx, 5.0, "last", "before", tenant=None))
    count = _events(url)
    backup(url, copy)
    database.write(lambda tx: events.tell(tx, 6.0, "first", "after", tenant=None))
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert sorted(p.name for p in tmp_path.glob("copy*")) == ["copy.db"]
    assert _events(f"sqlite:///{copy}") == count
    assert check(f"sqlite:///{copy}") == []
    # The process dies: its log stays beside the database, and must not be played into the backup.
    log = tmp_path / "exchange.db-wal"
    assert log.stat().st_size > 0
    shutil.copy(log, tmp_path / "log")
    database.close()
    shutil.copy(tmp_path / "log", log)
    after = count + 1
    assert restore(copy, path) == tmp_path / "exchange.db.before"
    assert _events(url) == count
    assert check(url) == []
    # Nothing of the former one is lost, its log least of all; the next one has another name.
    assert _events(f"sqlite:///{tmp_path}/exchange.db.before") == after
    assert restore(copy, path) == tmp_path / "exchange.db.before-2"


@pytest.mark.parametrize("step", ["copyfile", "_mark", "_flush", "_keep", "link", "replace"])
def test_a_restore_that_is_cut_short_leaves_the_former_database_or_the_backup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path, copy = tmp_path / "exchange.db", tmp_path / "copy.db"
    url = f"sqlite:///{path}"
    migrate(url)
    fill(url)
    backup(url, copy)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("INSERT INTO event (at, kind, subject, data) VALUES (1, 'a', 'b', '')")
    before = _events(url)

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        of = {"copyfile": shutil, "link": os, "replace": Path}.get(step, module)
        patch.setattr(of, step, fails)
        with pytest.raises(StoreError, match="No space left"):
            restore(copy, path)
    assert _events(url) == before
    assert check(url) == []
    assert list(tmp_path.glob("*.part")) == []


def test_a_home_that_is_served_or_newer_or_there_is_not_replaced(tmp_path: Path) -> None:
    home, copy = tmp_path / "home", tmp_path / "copy.db"
    with Exchange.open(home) as exchange:
        backup(exchange.url, copy)
        with pytest.raises(ConflictError, match="another process serves it"):
            homes.restore(copy, home, replace=True)
    with pytest.raises(StoreError, match=r"is a database already; .* --replace"):
        homes.restore(copy, home)
    assert homes.restore(copy, tmp_path / "new") is None
    kept = homes.restore(copy, home, replace=True)
    assert kept is not None
    with Exchange.open(home) as exchange:  # the start makes good what has gone on since
        assert exchange.read(restored.offers_after) > exchange.now()
    with connected(f"sqlite:///{home}/exchange.db") as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaError, match="newer"):
        homes.restore(copy, home, replace=True)
    (home / "exchange.db").write_bytes(b"x" * 9000)  # damaged: the reason to restore
    homes.restore(copy, home, replace=True)
    assert check(f"sqlite:///{home}/exchange.db") == []


def test_a_file_that_was_only_copied_is_made_good_too(tmp_path: Path) -> None:
    with Exchange.open(tmp_path / "home"):
        pass
    homes.restore(tmp_path / "home" / "exchange.db", tmp_path / "new")
    with Exchange.open(tmp_path / "new") as exchange:
        assert exchange.read(restored.offers_after) > exchange.now()


def test_a_backup_never_overwrites_and_leaves_nothing_half_written(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/exchange.db"
    with pytest.raises(StoreError, match="has no table"):
        backup(url, tmp_path / "copy.db")
    migrate(url)
    (tmp_path / "copy.db").write_text("mine")
    with pytest.raises(StoreError, match=r"copy.db: exists; allowed: a new file"):
        backup(url, tmp_path / "copy.db")
    assert (tmp_path / "copy.db").read_text() == "mine"
    with pytest.raises(StoreError, match="cannot be written: No such file or directory"):
        backup(url, tmp_path / "nowhere" / "copy.db")
    (tmp_path / "exchange.db").write_bytes(b"x" * 4096)
    with pytest.raises(StoreError, match="not a database"):
        backup(url, tmp_path / "other.db")
    assert list(tmp_path.glob("other*")) == []


def test_what_is_no_backup_is_not_restored(tmp_path: Path) -> None:
    path = tmp_path / "exchange.db"
    migrate(f"sqlite:///{path}")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="does not exist"):
        restore(tmp_path / "none", path)
    (tmp_path / "text").write_text("no database at all, but long enough to look like one" * 5)
    with pytest.raises(StoreError, match="not a database"):
        restore(tmp_path / "text", path)
    newer = tmp_path / "newer.db"
    backup(f"sqlite:///{path}", newer)
    with connected(f"sqlite:///{newer}") as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaError, match="newer"):
        restore(newer, path)
    damaged = tmp_path / "damaged.db"
    backup(f"sqlite:///{path}", damaged)
    content = bytearray(damaged.read_bytes())
    content[4096 * 2 : 4096 * 6] = os.urandom(4096 * 4)
    damaged.write_bytes(content)
    with pytest.raises(StoreError, match=r"damaged|malformed"):
        restore(damaged, path)
    assert path.read_bytes() == before
    assert list(tmp_path.glob("*.part")) == []


@pytest.mark.postgres
def test_a_backup_of_postgresql_is_an_archive_that_pg_restore_reads(
    postgres: Server, tmp_path: Path
) -> None:
    url, other = postgres.new(), postgres.new()
    migrate(url)
    rows = fill(url)
    if shutil.which("pg_dump") is None:
        with pytest.raises(StoreError, match=r"pg_dump was not found.*install"):
            backup(url, tmp_path / "copy")
        return
    backup(url, tmp_path / "copy")
    assert stat.S_IMODE((tmp_path / "copy").stat().st_mode) == 0o600
    name = other.replace("postgresql://walras@/", "").partition("?")[0]
    subprocess.run(
        [
            "pg_restore",
            "-h",
            postgres.folder,
            "-U",
            "walras",
            "-d",
            name,
            "--no-owner",
            tmp_path / "copy",
        ],
        check=True,
        capture_output=True,
        timeout=60,
    )
    assert _events(other) == rows["event"]
    assert check(other) == []


@pytest.mark.postgres
def test_without_pg_dump_the_error_says_what_to_do(
    postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres.new()
    migrate(url)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(StoreError, match=r"pg_dump was not found.*install PostgreSQL's client"):
        backup(url, tmp_path / "copy")
    failing = tmp_path / "pg_dump"
    failing.write_text("#!/bin/sh\necho 'pg_dump: error: no connection' >&2\nexit 1\n")
    failing.chmod(0o755)
    with pytest.raises(StoreError, match="no connection"):
        backup(url, tmp_path / "copy")
    assert list(tmp_path.glob("copy*")) == []
