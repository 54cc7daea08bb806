"""The home folder of a service: database, lock, the first admin's token."""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
from pathlib import Path
from typing import IO

from walras.exchange.errors import ConflictError, StoreError
from walras.exchange.service import tokens
from walras.exchange.store import backup as stored
from walras.exchange.store import migrate as revisions
from walras.exchange.store.database import Database
from walras.exchange.store.schema import meta
from walras.exchange.store.statements import Transaction, inserting_once

_ONCE = inserting_once(meta, "name")


def new_token() -> str:
    """A token of 256 random bits; its first characters say what it is."""
    return "wlr_" + secrets.token_urlsafe(32)


def new_uid(kind: str) -> str:
    """A name that nothing else has, such as ``t-9f…``."""
    return f"{kind}-{secrets.token_hex(10)}"


def prepare(home: Path) -> None:
    """Create the folder, or see that it can be written.

    Raises:
        StoreError: It cannot be.
    """
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        probe = home / f".probe-{os.getpid()}"
        try:
            probe.write_bytes(b"x")
        finally:
            probe.unlink(missing_ok=True)
    except OSError as error:
        raise _unusable(error, home) from error


def _unusable(error: OSError, home: Path) -> StoreError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return StoreError(
        f"cannot be written: {error.strerror or error}",
        where=str(home),
        allowed="a folder that this user can write, on a disk with space",
        remedy="free some space" if full else "choose another --home, or change its owner",
    )


def lock(path: Path) -> IO[bytes]:
    """The lock of a database of SQLite; it is free again when the process ends.

    Raises:
        ConflictError: Another process serves it.
        StoreError: The file cannot be written.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        file = os.fdopen(handle, "r+b")
    except OSError as error:
        raise _unusable(error, path) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise ConflictError(
            "another process serves it",
            where=str(path.with_suffix("")),
            allowed="one process a database of SQLite",
            remedy="stop the other one, or use PostgreSQL: --database URL",
        ) from error
    return file


def create_private(path: Path) -> None:
    """Create a file that only its owner can read, where there is none.

    Raises:
        StoreError: It cannot be created.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise _unusable(error, path) from error


def restore(source: Path, home: Path, *, replace: bool = False) -> Path | None:
    """Put a backup of SQLite into a home that no process serves.

    Args:
        source: A file of :func:`walras.exchange.store.backup.backup`.
        home: The folder; created where there is none.
        replace: Whether there may be a database already; it is kept beside the restored one.

    Returns:
        Where the former database is now, or None where there was none.

    Raises:
        ConflictError: A process serves the home.
        StoreError: The backup cannot be used, or the home's database may not be replaced.
    """
    folder = home.expanduser().absolute()
    prepare(folder)
    path = folder / "exchange.db"
    with lock(path.with_name(path.name + ".lock")):
        return stored.restore(source.expanduser().absolute(), path, replace=replace)


def migrate(url: str, to: str = "head") -> str:
    """Bring a database to a revision; one of SQLite only where no process serves it.

    Args:
        url: ``sqlite:///PATH`` or ``postgresql://…``.
        to: A revision, ``head`` or ``base``.

    Returns:
        The revision that the database has now.

    Raises:
        ConflictError: A process serves it, and the revision is another one.
        StoreError: The database cannot be opened or written, or there is no such revision.
    """
    if not url.startswith("sqlite"):
        return revisions.migrate(url, to)
    path = Path(url.partition(":///")[2])
    try:
        held = lock(path.with_name(path.name + ".lock"))
    except ConflictError:
        wanted = revisions.HEAD if to == "head" else to
        if revisions.revision_of(url) != wanted:
            raise
        return wanted
    with held:
        return revisions.migrate(url, to)


def begin(database: Database, home: Path, now: float) -> Path | None:
    """At the first start of a database, make the tenant ``default`` and an admin's token.

    The token is in the file before its hash is in the database: a start that is cut short between
    them is made good by the next one.

    Returns:
        The file of the token, or None where the database was begun before.

    Raises:
        StoreError: The file or the database cannot be written.
    """
    if database.read(tokens.any_token):
        return None
    path, token = home / "admin.token", new_token()
    _write_private(path, token + "\n")

    def first(tx: Transaction) -> bool:
        if not tx.run(_ONCE, name="begun", value=repr(now)):
            return False  # another process on the same database was faster
        tokens.add_tenant(tx, now, "default")
        tokens.create(
            tx, now, new_uid("k"), token, name="admin", scopes=("admin",), owner=None, expires=None
        )
        return True

    if database.write(first):
        return path
    path.unlink(missing_ok=True)
    return None


def rescue(database: Database, home: Path, now: float) -> Path:
    """A new token of an admin in ``admin.token``, for one that was lost; the file.

    Raises:
        StoreError: The file or the database cannot be written.
    """
    path, token = home / "admin.token", new_token()
    _write_private(path, token + "\n")
    database.write(
        lambda tx: tokens.create(
            tx, now, new_uid("k"), token, name="admin", scopes=("admin",), owner=None, expires=None
        )
    )
    return path


def _write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise _unusable(error, path) from error
