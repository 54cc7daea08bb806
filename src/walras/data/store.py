"""Find data sets on disk and check their files against the registry's checksums."""

from __future__ import annotations

import enum
import gzip
import hashlib
import io
import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from walras.data.dataset import DataFile, DataSet
from walras.errors import DataError
from walras.types import Floats

ENVIRONMENT_VARIABLE = "WALRAS_DATA"
MOST_UNPACKED = 2**28  # bytes; the largest registered file has 47 million
_PART = 2**20
_SHA256_DIGITS = 64


class FileState(enum.StrEnum):
    """What a check of one file found.

    Example:
        >>> from walras.data import FileState
        >>> [state.value for state in FileState]
        ['ok', 'changed', 'missing', 'unreadable']
    """

    OK = "ok"
    CHANGED = "changed"
    MISSING = "missing"
    UNREADABLE = "unreadable"


def cache_folder() -> Path:
    """The user's cache for downloaded data sets, as the operating system wants it."""
    return platformdirs.user_cache_path("walras") / "data"


def search_path() -> tuple[Path, ...]:
    """The folders searched, in order: ``$WALRAS_DATA`` when set, then the user's cache.

    Returns:
        The folders.

    Example:
        >>> from walras.data import search_path
        >>> len(search_path()) >= 1
        True
    """
    folder = os.environ.get(ENVIRONMENT_VARIABLE, "")
    return (Path(folder), cache_folder()) if folder else (cache_folder(),)


def locate(data_set: DataSet[Any]) -> Path | None:
    """The first folder of the search path that holds every file of a data set, or None."""
    for folder in search_path():
        candidate = folder / data_set.name
        if all((candidate / file.name).is_file() for file in data_set.files):
            return candidate
    return None


def content_checksum(file: DataFile, raw: bytes) -> str:
    """SHA-256 of a file's content; uncompressed when its name ends in .gz.

    Raises:
        ValueError: It unpacks to more than ``MOST_UNPACKED`` bytes.
        OSError: It is no gzip file.
        EOFError: It ends too early.
        zlib.error: It is damaged.
    """
    digest = hashlib.sha256()
    for part in _content(raw, packed=file.name.endswith(".gz")):
        digest.update(part)
    return digest.hexdigest()


def source_checksum(raw: bytes, like: str) -> str:
    """Checksum of a source, of the kind of ``like``: SHA-256, or git's id of a file."""
    if len(like) == _SHA256_DIGITS:
        return hashlib.sha256(raw).hexdigest()
    return hashlib.sha1(b"blob %d\0" % len(raw) + raw, usedforsecurity=False).hexdigest()


def unpacked(path: Path) -> bytes:
    """Content of a file that is packed with gzip.

    Raises:
        ValueError: It unpacks to more than ``MOST_UNPACKED`` bytes, or is damaged.
        OSError: It cannot be read, or is no gzip file.
        EOFError: It ends too early.
    """
    try:
        return b"".join(_content(path.read_bytes(), packed=True))
    except zlib.error as error:
        raise ValueError(str(error)) from error


def _content(raw: bytes, *, packed: bool) -> Iterator[bytes]:
    if not packed:
        yield raw
        return
    total = 0
    with gzip.GzipFile(fileobj=io.BytesIO(raw)) as stream:
        while part := stream.read(_PART):
            total += len(part)
            if total > MOST_UNPACKED:
                raise ValueError(f"it unpacks to more than {MOST_UNPACKED >> 20} MiB")
            yield part


def check(data_set: DataSet[Any], folder: Path) -> Mapping[str, FileState]:
    """Compare each file of a data set in a folder with its checksum.

    Args:
        data_set: The registry's row.
        folder: Where the files are expected.

    Returns:
        The state of each file, by name.
    """
    return {file.name: _state(file, folder / file.name) for file in data_set.files}


def _state(file: DataFile, path: Path) -> FileState:
    try:
        checksum = content_checksum(file, path.read_bytes())
    except FileNotFoundError:
        return FileState.MISSING
    except (OSError, EOFError, ValueError, zlib.error):
        return FileState.UNREADABLE
    return FileState.OK if checksum == file.sha256 else FileState.CHANGED


def unreadable(name: str, path: Path, reason: object) -> DataError:
    """The error for a file that is there but is not what its name says."""
    return DataError(
        f"the file cannot be read as data set '{name}': {reason}",
        where=str(path),
        allowed="the file as published (walras data verify compares checksums)",
        remedy=f"walras data fetch {name} --force, or replace the file",
    )


def read_amounts(name: str, path: Path, shape: tuple[int, ...]) -> Floats:
    """A NumPy file of numbers that are finite and >= 0.

    Args:
        name: The data set's name.
        path: The file.
        shape: The shape it must have.

    Raises:
        DataError: The file cannot be read, has another shape, or holds another number.
    """
    try:
        found = np.asarray(np.load(path, allow_pickle=False), dtype=np.float64)
    except (OSError, EOFError, ValueError) as error:
        raise unreadable(name, path, error) from error
    if found.shape != shape or not np.all(np.isfinite(found) & (found >= 0.0)):
        reason = f"shape {found.shape} is not {shape}, or an entry is negative or not finite"
        raise unreadable(name, path, reason)
    return found
