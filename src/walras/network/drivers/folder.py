"""The folder of a run and its small private files, which are written atomically."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from walras.errors import DataError
from walras.files import reason_of


def made(folder: Path, mode: int = 0o777) -> Path:
    """Make a folder and its parents if it does not exist; return it.

    Args:
        folder: Its path.
        mode: Mode of a new folder, less the umask.

    Raises:
        DataError: It cannot be made.
    """
    try:
        folder.mkdir(mode, parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            f"cannot be made: {error.strerror}",
            where=str(folder),
            allowed="a folder to write to",
            remedy="name another one",
        ) from error
    return folder


def write_whole(path: Path, content: bytes) -> None:
    """Write a private file atomically: after a crash it is the old one or the new one.

    Raises:
        DataError: It cannot be written; the old file stays.
    """
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        raise cannot_write(path, error) from error


def own_file(path: Path) -> None:
    """Make a private file if it does not exist.

    Raises:
        DataError: It cannot be made.
    """
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
    except OSError as error:
        raise cannot_write(path, error) from error


def read_json(path: Path) -> Any:
    """Read a JSON file of a deployment.

    Raises:
        DataError: It does not exist, or is damaged.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(
            f"cannot be read: {reason_of(error)}",
            where=str(path),
            allowed="the folder of a deployment",
            remedy="give the folder that walras network deploy printed, or deploy in another one",
        ) from error


def node_config_path(folder: Path, centre: int) -> Path:
    """Path of a centre's own configuration, which a replay reads."""
    return folder / f"centre-{centre:03d}.config.json"


def cannot_write(path: Path, error: OSError) -> DataError:
    """The error of a file that cannot be written."""
    return DataError(
        f"cannot be written: {error.strerror}",
        where=str(path),
        allowed="a disk with space, and a folder to write to",
        remedy="free some space, or name another folder",
    )


def _sync_folder(folder: Path) -> None:
    """Flush a folder to the disk, so that a new name survives a loss of power."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
