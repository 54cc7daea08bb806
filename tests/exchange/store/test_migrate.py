"""Revisions up and down with data, on both databases; the migrated schema is that of schema.py."""

from __future__ import annotations

import re
import runpy
import sqlite3
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from tests.exchange.filled import fill

from walras.exchange.errors import SchemaError, StoreError
from walras.exchange.service.check import check
from walras.exchange.store import migrate as module
from walras.exchange.store.database import open_database
from walras.exchange.store.migrate import (
    HEAD,
    KNOWN,
    configuration,
    connected,
    migrate,
    revision_of,
)
from walras.exchange.store.schema import metadata


def _schema(connection: sa.Connection) -> list[str]:
    """What the database says of its tables and indices, without Alembic's own table."""
    if connection.dialect.name == "sqlite":
        query = "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE '%alembic%'"
        rows = connection.exec_driver_sql(query).fetchall()
        # The order of a table's constraints means nothing.
        parts = [
            (name, part) for name, sql in rows for part in re.split(r",\s|\s\(|\)$", sql or "")
        ]
        return sorted(f"{name}: {' '.join(part.split())}" for name, part in parts)
    found = connection.exec_driver_sql(
        "SELECT tablename || indexname || indexdef FROM pg_indexes WHERE schemaname = 'public' "
        "AND tablename <> 'alembic_version' UNION ALL "
        "SELECT table_name || column_name || data_type || is_nullable || "
        "coalesce(column_default, '') FROM information_schema.columns "
        "WHERE table_schema = 'public' "
        "AND table_name <> 'alembic_version' UNION ALL "
        "SELECT conrelid::regclass || conname || pg_get_constraintdef(oid) FROM pg_constraint "
        "WHERE connamespace = 'public'::regnamespace AND conname <> 'alembic_version_pkc'"
    )
    return sorted(str(row[0]) for row in found)


def test_the_migrated_schema_is_that_of_the_tables(new_url: Callable[[], str]) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    migrated, made = new_url(), new_url()
    assert migrate(migrated) == HEAD
    with connected(migrated) as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
        found = _schema(connection)
    with connected(made) as connection:
        metadata.create_all(connection)
        wanted = _schema(connection)
    assert found == wanted
    assert len(found) > 20


def test_every_revision_goes_up_and_down_with_data(url: str) -> None:
    migrate(url)
    before = fill(url)
    for step in reversed(KNOWN[:-1]):
        assert migrate(url, step) == step
    for step in KNOWN[1:]:
        assert migrate(url, step) == step
    with connected(url) as connection:
        tables = metadata.sorted_tables
        after = {
            t.name: connection.execute(sa.select(sa.func.count()).select_from(t)).scalar()
            for t in tables
        }
    assert after == before | {"result_audit": 0, "session": 0}  # revision 0001 has no such tables
    assert min(before.values()) > 0
    assert check(url) == []
    assert migrate(url, "base") == "base"
    assert revision_of(url) is None
    assert migrate(url) == HEAD


def test_a_database_of_a_newer_walras_is_refused_with_one_clear_error(url: str) -> None:
    migrate(url)
    with connected(url) as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaError, match=r"has schema 9999, which is newer .* remedy: install"):
        migrate(url)
    with pytest.raises(SchemaError, match="9999"):
        revision_of(url)
    with pytest.raises(SchemaError, match="9999"):
        check(url)


def test_a_revision_that_fails_leaves_nothing_behind(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(connection: sa.Connection, *_: object) -> None:
        connection.execute(sa.text("CREATE TABLE half (id INTEGER)"))
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(module, "_run", broken)
        with pytest.raises(StoreError, match=r"disk is full.*free some space"):
            migrate(url)
    with connected(url) as connection:
        assert sa.inspect(connection).get_table_names() == []


def test_processes_that_start_at_once_migrate_once(url: str) -> None:
    answers: list[str] = []
    threads = [threading.Thread(target=lambda: answers.append(migrate(url))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert answers == [HEAD] * 4


@pytest.mark.parametrize(
    ("url", "to", "words"),
    [
        ("mysql://host/name", "head", "is 'mysql'; allowed: sqlite:///PATH or postgresql://"),
        ("sqlite:////nowhere/at/all.db", "head", "unable to open database file"),
        ("sqlite://", "sideways", "revision: is 'sideways'; allowed: head, base, 0001"),
        ("postgresql://walras@127.0.0.1:1/none", "head", "connection failed|refused"),
    ],
)
def test_what_cannot_be_migrated_says_why(url: str, to: str, words: str) -> None:
    with pytest.raises(StoreError, match=words):
        migrate(url, to)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_text("not a database, though it is long enough to be read as one" * 9)
    with pytest.raises(StoreError, match="not a database"):
        migrate(f"sqlite:///{tmp_path}/x.db")


def test_a_database_that_has_its_schema_starts_without_alembic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path}/x.db"
    migrate(url)
    monkeypatch.setitem(sys.modules, "alembic", None)
    assert migrate(url) == HEAD
    open_database(url).close()


def test_a_new_revision_is_written_from_the_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "migrations"
    (folder / "versions").mkdir(parents=True)
    for path in module._FOLDER.rglob("*.*"):
        if "__" not in str(path):
            place = folder / path.relative_to(module._FOLDER)
            place.write_text(path.read_text())
    monkeypatch.setattr(module, "_FOLDER", folder)
    monkeypatch.setattr(sys, "argv", ["migrations", "nothing", "new"])
    runpy.run_module("walras.exchange.store.migrations.__main__", run_name="__main__")
    capsys.readouterr()
    (made,) = (folder / "versions").glob("*nothing_new.py")
    assert f'down_revision = "{HEAD}"' in made.read_text().replace("'", '"')
    with connected(f"sqlite:///{tmp_path}/x.db") as connection:
        assert configuration(connection).get_main_option("script_location") == str(folder)
