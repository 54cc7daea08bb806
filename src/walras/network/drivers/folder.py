"""The folder a run writes to."""

from __future__ import annotations

from pathlib import Path

from walras.errors import DataError


def made(folder: Path) -> Path:
    """Make a folder, and those above it, unless it is there; returns it.

    Raises:
        DataError: It cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            f"cannot be made: {error.strerror}", where=str(folder), allowed="a folder to write to",
            remedy="name another one",
        ) from error  # fmt: skip
    return folder
