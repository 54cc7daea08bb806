"""Figures as files: their names, checked before the work, and how they are written."""

from __future__ import annotations

import io
from pathlib import Path

from matplotlib.figure import Figure

from walras.files import check_target, replacing
from walras.text import visible

_SUFFIXES = (".png", ".svg", ".pdf")


def check_file(path: Path, where: str = "figure") -> None:
    """Refuse a file that no figure can be written to, before any work is done.

    Args:
        path: The file.
        where: The argument or option that names it.

    Raises:
        InputError: The file's suffix is none that is known.
        DataError: It cannot be written: its folder is not there, or not yours.
    """
    check_target(path, where, _SUFFIXES, "choose another name")


def save(figure: Figure, path: Path, *, tight: bool = False) -> None:
    """Write a figure to a file, whole or not at all.

    Args:
        figure: The figure.
        path: The file.
        tight: Cut the margins off.

    Raises:
        InputError: As :func:`check_file`.
        DataError: The file cannot be written.
    """
    check_file(path)
    content, box = io.BytesIO(), "tight" if tight else None
    kind = path.suffix[1:].lower() or "png"
    figure.savefig(content, format=kind, dpi=150, facecolor="white", bbox_inches=box)
    with replacing(path, "choose another name") as fresh:
        if kind == "svg":  # names at ticks may hold what XML may not
            fresh.write_text(visible(content.getvalue().decode()), "utf-8")
        else:
            fresh.write_bytes(content.getvalue())
