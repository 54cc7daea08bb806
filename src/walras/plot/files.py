"""Figures as files: what they may be called, told before the work, and how they are written."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from walras.errors import DataError, InputError

_SUFFIXES = (".png", ".svg", ".pdf")


def check_file(path: Path, where: str = "figure") -> None:
    """Refuse a file that no figure can be written to, before any work is done.

    Args:
        path: The file.
        where: The argument or option that names it.

    Raises:
        InputError: The file's suffix is none that is known, or its folder is not there.
    """
    if path.suffix.lower() not in _SUFFIXES or not path.parent.is_dir():
        raise InputError(
            f"cannot be written: {path}", where=where,
            allowed=f"a file ending in {', '.join(_SUFFIXES)} in a folder that exists",
            remedy="choose such a name",
        )  # fmt: skip


def save(figure: Figure, path: Path) -> None:
    """Write a figure to a file.

    Raises:
        InputError: As :func:`check_file`.
        DataError: The file cannot be written.
    """
    check_file(path)
    try:
        figure.savefig(path, dpi=150, facecolor="white")
    except OSError as error:
        raise DataError(
            f"cannot be written: {error.strerror}", where=str(path),
            allowed="a file in a folder you may write to", remedy="choose another name",
        ) from error  # fmt: skip
