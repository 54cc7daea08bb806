"""Files that are whole or as they were: written beside their place, then moved there."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from walras.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


def reason_of(error: Exception) -> str:
    """Why a file cannot be used, in words: of the system's errors without number and path.

    Args:
        error: What reading or writing raised.

    Examples:
        >>> reason_of(FileNotFoundError(2, "No such file or directory", "runs.csv"))
        'No such file or directory'
    """
    return getattr(error, "strerror", None) or str(error)


@contextmanager
def replacing(path: str | Path, remedy: str = "choose another path") -> Iterator[Path]:
    """A new file to write to, which takes the place of ``path`` when the body ends well.

    It lies in the same folder and has the same ending, from which writers tell the format. Where
    the body or the disk fails, nothing is left of it. Devices and pipes are written to directly.

    Args:
        path: The file.
        remedy: What to do where it cannot be written.

    Raises:
        DataError: The file cannot be written: no such folder, no right to, no room.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> folder = Path(tempfile.mkdtemp())
        >>> with replacing(folder / "result.txt") as fresh:
        ...     _ = fresh.write_text("all of it")
        >>> [file.name for file in folder.iterdir()]
        ['result.txt']
    """
    path = Path(path)
    fresh = None
    try:
        place = path.resolve()  # a link stays one
        if place.exists() and not place.is_file():
            yield place
            return
        fresh = _beside(place)
        yield fresh
        with fresh.open("rb+") as written:
            os.fsync(written.fileno())
        os.replace(fresh, place)
    except OSError as error:
        raise DataError(
            f"cannot be written: {error.strerror or error}",
            where=str(path),
            allowed="a file in a folder you may write to, on a disk with room",
            remedy=remedy,
        ) from error
    finally:
        if fresh is not None:
            with suppress(OSError):
                fresh.unlink(missing_ok=True)


def write_text(path: str | Path, text: str, remedy: str = "choose another path") -> None:
    """Write a text file, UTF-8, whole or not at all.

    Raises:
        DataError: As :func:`replacing`.
    """
    with replacing(path, remedy) as fresh:
        fresh.write_text(text, encoding="utf-8")


def write_csv(path: str | Path, table: pd.DataFrame) -> None:
    """Write a table as CSV without its index, whole or not at all.

    Raises:
        DataError: As :func:`replacing`.
    """
    with replacing(path) as fresh:
        table.to_csv(fresh, index=False)


def _beside(path: Path) -> Path:
    """An empty file in the folder of a path, with the rights of the file there or of a new one."""
    fresh = path.with_name(f".{path.stem}.{secrets.token_hex(6)}{path.suffix}")
    os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    if path.exists():
        fresh.chmod(path.stat().st_mode & 0o777)
    return fresh
