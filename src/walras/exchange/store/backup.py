"""Back a database up while the service runs, and put a backup of SQLite back.

Example:
    >>> import tempfile
    >>> from pathlib import Path
    >>> from walras.exchange.store.backup import backup
    >>> from walras.exchange.store.migrate import HEAD, migrate, revision_of
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     url = f"sqlite:///{folder}/exchange.db"
    ...     _ = migrate(url)
    ...     backup(url, Path(folder) / "monday.db")
    ...     revision_of(f"sqlite:///{folder}/monday.db") == HEAD
    True
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from pathlib import Path

import sqlalchemy as sa

from walras.exchange.errors import SchemaError, StoreError
from walras.exchange.store.database import unusable
from walras.exchange.store.migrate import connected, revision_of
from walras.exchange.store.schema import BACKED_UP, meta

_SECONDS = 3600.0  # that pg_dump may take
# A start on the copy makes good what has gone on since: see walras.exchange.service.restored.
_MARK = "INSERT OR IGNORE INTO meta (name, value) VALUES ('restored', '1')"


def backup(url: str, target: Path) -> None:
    """Write a consistent copy of a database to a file that only its owner can read.

    The service may run meanwhile. SQLite's copy is a database of its own; PostgreSQL's is an
    archive of ``pg_dump`` for ``pg_restore``.

    Args:
        url: ``sqlite:///PATH`` or ``postgresql://…``.
        target: The file to write; it must not exist.

    Raises:
        StoreError: The file exists or cannot be written, the database cannot be read, or there is
            no ``pg_dump``; no file is left.
    """
    if target.exists():
        raise StoreError(
            "exists", where=str(target), allowed="a new file", remedy="choose another name"
        )
    if revision_of(url) is None:
        raise StoreError("has no table", where="database", remedy="see that the address is right")
    part = target.with_name(target.name + ".part")
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise _unwritable(error, target) from error
    try:
        if url.startswith("sqlite"):
            _copy_sqlite(Path(url.partition(":///")[2]), part)
        else:
            _dump(url, part)
        _flush(part)
        part.rename(target)
        _flush(target.parent)
    except OSError as error:
        raise _unwritable(error, target) from error
    finally:
        part.unlink(missing_ok=True)


def note(url: str, now: float) -> None:
    """Keep in a database when it was backed up last, for the page of its status.

    Args:
        url: ``sqlite:///PATH`` or ``postgresql://…``.
        now: The time, seconds since 1970.

    Raises:
        StoreError: The database cannot be written.
    """
    with connected(url) as connection:
        connection.execute(sa.delete(meta).where(meta.c.name == BACKED_UP))
        connection.execute(sa.insert(meta).values(name=BACKED_UP, value=repr(now)))


def restore(source: Path, path: Path, *, replace: bool = True) -> Path | None:
    """Put a backup of SQLite in a database's place; the service must not run.

    Whenever it is cut short, the database is the former one or the backup, whole. The former one is
    kept beside it, with ``.before`` at the end of its name.

    Args:
        source: A file that :func:`backup` wrote.
        path: The database's file.
        replace: Whether there may be a database already.

    Returns:
        Where the former database is now, or None where there was none.

    Raises:
        StoreError: The backup is damaged or of a newer Walras, or there is a database that may not
            be replaced; the database stayed as it was.
        SchemaError: The database that is there is of a newer Walras.
    """
    if not source.exists():
        raise StoreError(
            "does not exist", where=str(source), remedy="name a file of walras db backup"
        )
    if revision_of(f"sqlite:///{source}") is None:
        raise StoreError(
            "has no table", where=str(source), remedy="name a file of walras db backup"
        )
    _verify(source)
    if path.exists():
        _allow(path, replace)
    part, kept = path.with_name(path.name + ".part"), None
    try:
        shutil.copyfile(source, part)
        part.chmod(0o600)
        _mark(part)
        _flush(part)
        if path.exists():
            kept = _keep(path)
        part.replace(path)
        _flush(path.parent)
    except OSError as error:
        raise _unwritable(error, path) from error
    finally:
        part.unlink(missing_ok=True)
    return kept


def _allow(path: Path, replace: bool) -> None:
    """Refuse a database that may not be replaced; one that cannot be read may be."""
    try:
        found = revision_of(f"sqlite:///{path}")
    except SchemaError:
        raise
    except StoreError:
        found = "damaged"
    if found is not None and not replace:
        raise StoreError(
            "is a database already",
            where=str(path),
            allowed="a new home",
            remedy="restore to another --home, or say --replace: the former one is kept beside it",
        )


def _keep(path: Path) -> Path:
    """Give a database a second name, with all that its log holds; where it is now.

    A log that is left beside the backup would be played into it (sqlite.org, *How To Corrupt An
    SQLite Database File*). Where the database is whole its log is copied into it first, so that it
    can do without at every moment; the log of a damaged one goes with it.
    """
    kept = path.with_name(f"{path.name}.before")
    number = 2
    while kept.exists():
        kept, number = path.with_name(f"{path.name}.before-{number}"), number + 1
    try:
        old = sqlite3.connect(path, isolation_level=None)
        try:
            old.execute("PRAGMA busy_timeout=10000")
            old.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            old.close()
    except sqlite3.Error:
        pass
    os.link(path, kept)
    for end in ("-wal", "-shm"):
        log = path.with_name(path.name + end)
        if log.exists():
            log.rename(kept.with_name(kept.name + end))
    _flush(path.parent)
    return kept


def _mark(part: Path) -> None:
    """Let the next start make good what has gone on since, also of a file that was only copied."""
    try:
        copy = sqlite3.connect(part, isolation_level=None)
        try:
            copy.execute("PRAGMA journal_mode=DELETE")
            copy.execute(_MARK)
        finally:
            copy.close()
    except sqlite3.Error as error:
        raise unusable(error, str(part)) from error


def _copy_sqlite(path: Path, part: Path) -> None:
    try:
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            connection.execute("PRAGMA busy_timeout=10000")
            connection.execute("VACUUM INTO ?", (str(part),))
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise unusable(error, str(path)) from error
    _mark(part)
    _verify(part)


def _verify(path: Path) -> None:
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        try:
            found = connection.execute("PRAGMA integrity_check").fetchone()[0]
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise unusable(error, str(path)) from error
    if found != "ok":
        raise StoreError(f"is damaged: {found}", where=str(path), remedy="use another backup")


def _dump(url: str, part: Path) -> None:
    program = shutil.which("pg_dump")
    if program is None:
        raise StoreError(
            "pg_dump was not found",
            where="backup",
            allowed="PostgreSQL's own programs, of the server's version or newer",
            remedy="install PostgreSQL's client programs, or run pg_dump where they are",
        )
    address = sa.make_url(url).set(drivername="postgresql")
    environment = dict(os.environ)
    if address.password is not None:  # not on the command line, which every user can read
        environment["PGPASSWORD"] = str(address.password)
    name = address._replace(password=None).render_as_string()
    command = [program, "--format=custom", "--no-password", f"--file={part}", f"--dbname={name}"]
    try:
        run = subprocess.run(
            command, capture_output=True, text=True, timeout=_SECONDS, env=environment, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise StoreError(
            f"pg_dump took longer than {_SECONDS:.0f} s", where="backup", remedy="run it by hand"
        ) from error
    if run.returncode != 0:
        words = run.stderr.strip().splitlines() or [f"it ended with {run.returncode}"]
        raise StoreError(
            f"pg_dump: {words[-1]}", where="backup", remedy="see that the database answers"
        )


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _unwritable(error: OSError, target: Path) -> StoreError:
    return StoreError(
        f"cannot be written: {error.strerror}",
        where=str(target),
        allowed="a file in a folder that can be written, on a disk with space",
        remedy="choose another place; nothing was left there",
    )
