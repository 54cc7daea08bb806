"""Files that are whole or as they were: written beside their place, then moved there; TOML."""

from __future__ import annotations

import errno
import os
import secrets
import tomllib
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from walras.errors import DataError, InputError

if TYPE_CHECKING:
    import pandas as pd

PARQUET = (".parquet", ".pq")
"""Endings of Parquet files."""


_OTHERS = (
    *(".csv", ".gif", ".gz", ".htm", ".html", ".jpg", ".json", ".md", ".npy", ".parquet", ".pdf"),
    *(".pickle", ".pkl", ".png", ".pq", ".svg", ".toml", ".tsv", ".txt", ".xlsx", ".xml", ".yaml"),
)
"""Endings of other formats than that of results."""


def check_result(path: str | Path, where: str) -> None:
    """Refuse a file for a result whose ending says another format than its own.

    Args:
        path: The file.
        where: The argument or option that names it.

    Raises:
        InputError: So it is.

    Examples:
        >>> import walras
        >>> try:
        ...     check_result("run.json", "path")
        ... except walras.InputError as error:
        ...     print(error.where, error.what, error.allowed, sep="; ")
        path; is run.json, and a result is no JSON; a name ending in .npz, which walras.load reads
    """
    path = Path(path)
    if path.suffix.lower() in _OTHERS:
        raise InputError(
            f"is {path}, and a result is no {path.suffix[1:].upper()}",
            where=where,
            allowed="a name ending in .npz, which walras.load reads",
            remedy=f"write {path.with_suffix('.npz')}",
        )


def reason_of(error: Exception) -> str:
    """Why a file cannot be used, in words: of the system's errors without number and path.

    Args:
        error: What reading or writing raised.

    Examples:
        >>> reason_of(FileNotFoundError(2, "No such file or directory", "runs.csv"))
        'No such file or directory'
    """
    return getattr(error, "strerror", None) or str(error)


def read_toml(path: str | Path, remedy: str) -> dict[str, Any]:
    """The tables of a TOML file.

    Args:
        path: The file.
        remedy: What to do where it cannot be read.

    Raises:
        DataError: The file does not exist, or is not TOML.

    Examples:
        >>> from walras.files import read_toml
        >>> read_toml("none.toml", "write it first")
        Traceback (most recent call last):
          ...
        walras.errors.DataError: none.toml: cannot be read: No such file or directory; \
allowed: a TOML file; remedy: write it first
    """
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(
            f"cannot be read: {reason_of(error)}",
            where=str(path),
            allowed="a TOML file",
            remedy=remedy,
        ) from error


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
        place = _place(path)
        if place.exists() and not place.is_file():
            yield place
            return
        fresh = _beside(place)
        yield fresh
        with fresh.open("rb+") as written:
            os.fsync(written.fileno())
        os.replace(fresh, place)
    except OSError as error:
        raise _cannot_write(path, error, remedy) from error
    finally:
        if fresh is not None:
            with suppress(OSError):
                fresh.unlink(missing_ok=True)


def check_target(
    path: str | Path, where: str, endings: Collection[str] = (), remedy: str = "choose another path"
) -> None:
    """Refuse a file that cannot be written, before the work that it is to hold.

    Args:
        path: The file.
        where: The argument or option that names it.
        endings: What its name may end in; anything if none are given. A device or pipe needs
            no ending.
        remedy: What to do where it cannot be written.

    Raises:
        InputError: Its name ends otherwise.
        DataError: As :func:`replacing`.

    Examples:
        >>> import walras
        >>> try:
        ...     check_target("runs.txt", "ledger", (".csv", ".parquet"))
        ... except walras.InputError as error:
        ...     print(error.where, error.what, error.allowed, sep="; ")
        ledger; is runs.txt; a name ending in .csv, .parquet
    """
    path = Path(path)
    try:
        place = _place(path)
        device = place.exists() and not place.is_file() and not place.is_dir()
        nameless = device and not path.suffix
        if endings and path.suffix.lower() not in endings and not nameless:
            raise InputError(
                f"is {path}",
                where=where,
                allowed=f"a name ending in {', '.join(endings)}",
                remedy="choose such a name",
            )
        if device:
            return
        if place.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        _beside(place).unlink()
    except OSError as error:
        raise _cannot_write(path, error, remedy) from error


def make_folder(path: str | Path) -> Path:
    """A folder to write to, made where it is missing.

    Args:
        path: The folder.

    Raises:
        DataError: It cannot be made, or nothing can be written there.
    """
    place = Path(path)
    try:
        place.mkdir(parents=True, exist_ok=True)
        _beside(place / "file").unlink()
    except OSError as error:
        raise DataError(
            f"cannot be made or written to: {reason_of(error)}",
            where=f"folder {place}",
            allowed="a folder that you may write to",
            remedy="choose another one",
        ) from error
    return place


def _place(path: Path) -> Path:
    """Where links lead: they stay links.

    Raises:
        OSError: They lead in a circle, or a folder on the way is none.
    """
    with suppress(FileNotFoundError):
        path.stat()
    return path.resolve()


def _cannot_write(path: Path, error: OSError, remedy: str) -> DataError:
    return DataError(
        f"cannot be written: {error.strerror or error}",
        where=str(path),
        allowed="a file in a folder you may write to, on a disk with room",
        remedy=remedy,
    )


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
