"""Bring a database to the schema of this version, or back; refuse one of a newer version.

Example:
    >>> import tempfile
    >>> from walras.exchange.store.migrate import HEAD, migrate, revision_of
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     url = f"sqlite:///{folder}/exchange.db"
    ...     before = revision_of(url)
    ...     migrate(url)
    ...     print(before, revision_of(url) == HEAD)
    None True
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from walras.exchange.errors import SchemaError, StoreError
from walras.exchange.store.database import unusable

if TYPE_CHECKING:
    from alembic.config import Config

_FOLDER = Path(__file__).with_name("migrations")
KNOWN = tuple(sorted(path.name[:4] for path in (_FOLDER / "versions").glob("[0-9]*.py")))
"""Revisions in order; read from the files, so that a start need not import Alembic."""
HEAD = KNOWN[-1]
"""The revision of this version of Walras."""

_LOCK = 7700  # PostgreSQL's advisory lock: one process migrates, the others wait
_REVISION = sa.text("SELECT version_num FROM alembic_version")


def migrate(url: str, to: str = "head") -> str:
    """Bring a database to a revision, all or nothing; where it is there already, do nothing.

    Args:
        url: ``sqlite:///PATH`` or ``postgresql://…``; a file of SQLite is created.
        to: A revision of :data:`KNOWN`, ``head``, or ``base`` (no table is left).

    Returns:
        The revision that the database has now.

    Raises:
        SchemaError: The database is of a newer Walras, or there is no such revision.
        StoreError: The database cannot be opened or written; it stayed as it was.
    """
    if to not in (*KNOWN, "head", "base"):
        raise SchemaError(
            f"is {to!r}",
            where="revision",
            allowed=f"head, base, {', '.join(KNOWN)}",
            remedy="choose one of these",
        )
    with connected(url) as connection:
        before = _checked(connection)
        wanted = {"head": HEAD, "base": None}.get(to, to)
        if before != wanted:
            _run(connection, before, wanted)
        return _current(connection) or "base"


def revision_of(url: str) -> str | None:
    """The revision of a database; None where it has no table yet.

    Raises:
        SchemaError: It is of a newer Walras.
        StoreError: It cannot be opened.
    """
    if url.startswith("sqlite") and not Path(url.partition(":///")[2]).exists():
        return None
    with connected(url) as connection:
        return _checked(connection)


def _run(connection: sa.Connection, before: str | None, wanted: str | None) -> None:
    # Alembic takes as long to import as all the rest.
    from alembic import command  # noqa: PLC0415 - a start on a current database does without

    made = configuration(connection)
    if before is None or (wanted is not None and wanted > before):
        command.upgrade(made, wanted or "head")
    else:
        command.downgrade(made, wanted or "base")
    if connection.dialect.name == "sqlite":
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
        if broken:
            raise StoreError(
                f"rows of {broken[0][0]} refer to missing rows of {broken[0][2]}",
                where="database",
                remedy="run walras db check; nothing was changed",
            )


def configuration(connection: sa.Connection) -> Config:
    """Alembic's settings for a connection that is open."""
    from alembic.config import Config  # noqa: PLC0415 - see _run

    made = Config()
    made.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    made.set_main_option("file_template", "%%(rev)s_%%(slug)s")
    made.attributes["connection"] = connection
    return made


def _checked(connection: sa.Connection) -> str | None:
    found = _current(connection)
    if found is not None and found not in KNOWN:
        raise SchemaError(
            f"has schema {found}, which is newer than this Walras",
            where="database",
            allowed=f"schema {HEAD} or older",
            remedy="install the newer Walras again, or restore a backup of before the upgrade",
        )
    return found


def _current(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(_REVISION).scalar()
    return None if found is None else str(found)


@contextmanager
def connected(url: str) -> Iterator[sa.Connection]:
    """One connection in one transaction, committed where nothing was raised."""
    kind = url.partition(":")[0].partition("+")[0]
    if kind not in ("sqlite", "postgresql"):
        raise StoreError(
            f"is {kind!r}",
            where="database",
            allowed="sqlite:///PATH or postgresql://USER@HOST/NAME",
            remedy="give one of these addresses",
        )
    try:
        engine = sa.create_engine(url, poolclass=sa.pool.NullPool)
    except (sa.exc.SQLAlchemyError, ImportError) as error:
        raise unusable(error, "database") from error
    if kind == "sqlite":
        sa.event.listen(engine, "connect", _open_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
    try:
        with engine.connect() as connection, connection.begin():
            if kind == "postgresql":
                connection.execute(sa.text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
            yield connection
    except (sa.exc.SQLAlchemyError, sqlite3.Error) as error:
        where = url.partition(":///")[2] if kind == "sqlite" else "database"
        raise unusable(getattr(error, "orig", None) or error, where) from error
    finally:
        engine.dispose()


def _open_sqlite(raw: Any, _: Any) -> None:
    raw.isolation_level = None  # its own transactions would commit before each change of a table
    raw.execute("PRAGMA busy_timeout=10000")
    raw.execute("PRAGMA synchronous=FULL")
    raw.execute("PRAGMA foreign_keys=OFF")  # tables are written anew


def _begin_sqlite(connection: sa.Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")
