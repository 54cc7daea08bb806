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

from walras.exchange.errors import StoreError
from walras.exchange.store.database import unusable
from walras.exchange.store.migrate import revision_of

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


def restore(source: Path, path: Path) -> None:
    """Put a backup of SQLite in a database's place; the service must not run.

    The database that was there is kept beside it, with ``.before`` at the end of its name.

    Args:
        source: A file that :func:`backup` wrote.
        path: The database's file.

    Raises:
        StoreError: The backup is damaged or of a newer Walras; the database stayed as it was.
    """
    if not source.exists():
        raise StoreError(
            "does not exist", where=str(source), remedy="name a file of walras db backup"
        )
    revision_of(f"sqlite:///{source}")
    _verify(source)
    part = path.with_name(path.name + ".part")
    try:
        shutil.copyfile(source, part)
        part.chmod(0o600)
        _flush(part)
        # A log that was left beside the new file would be played into it.
        for end in ("", "-wal", "-shm"):
            old = path.with_name(path.name + end)
            if old.exists():
                old.rename(path.with_name(f"{path.name}.before{end}"))
        part.rename(path)
        _flush(path.parent)
    except OSError as error:
        raise _unwritable(error, path) from error
    finally:
        part.unlink(missing_ok=True)


def _copy_sqlite(path: Path, part: Path) -> None:
    try:
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            connection.execute("PRAGMA busy_timeout=10000")
            connection.execute("VACUUM INTO ?", (str(part),))
        finally:
            connection.close()
        copy = sqlite3.connect(part, isolation_level=None)
        try:
            copy.execute(_MARK)
        finally:
            copy.close()
    except sqlite3.Error as error:
        raise unusable(error, str(path)) from error
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
