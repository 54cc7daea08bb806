"""The folder a run writes to, and its small files: whole or not at all, and its owner's alone."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from walras.errors import DataError


def made(folder: Path, mode: int = 0o777) -> Path:
    """Make a folder, and those above it, unless it is there; returns it.

    Args:
        folder: Its path.
        mode: Of a new one, less the umask.

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
    """Write a file that only its owner may read; after a crash it is the old one or the new one.

    Raises:
        DataError: It cannot be written; the old one stands.
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
    """Make a file that only its owner may read, unless it is there.

    Raises:
        DataError: It cannot be made.
    """
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
    except OSError as error:
        raise cannot_write(path, error) from error


def read_json(path: Path) -> Any:
    """What a file of a deployment holds.

    Raises:
        DataError: It is not there, or damaged.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(
            f"cannot be read: {error}",
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
    """Make a new name in a folder survive a loss of power."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
