"""Files and folders that options name: refused before the work that they are to hold."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from walras.cli.common.figures import need_figures
from walras.extras import need_pyarrow
from walras.files import PARQUET, check_result, check_target, make_folder

_PAGES = (".html", ".htm")


def check_report(path: Path | None, option: str = "--report") -> None:
    """Refuse an HTML page that cannot be drawn or written; its folder is made.

    Raises:
        EngineError: A package is missing.
        InputError: Its name ends otherwise.
        DataError: It cannot be written.
    """
    if path is not None:
        need_figures(option)
        with suppress(OSError):  # what comes next reports it
            path.parent.mkdir(parents=True, exist_ok=True)
        check_target(path, option, _PAGES, f"choose another {option} PATH")


def check_figure(path: Path | None, option: str = "--figure") -> None:
    """Refuse a figure that cannot be drawn or written; the errors are those of a report."""
    if path is not None:
        need_figures(option)
        # Imported here: plot is an optional extra.
        from walras.plot.files import check_file

        check_file(path, option)


def check_table(path: Path | None, option: str, endings: Collection[str]) -> None:
    """Refuse a table that cannot be written; the errors are those of a report."""
    if path is not None:
        check_target(path, option, endings)
        if path.suffix.lower() in PARQUET:
            need_pyarrow()


def check_save(path: Path | None, option: str = "--save") -> None:
    """Refuse a file for a result that cannot be written, or whose ending says another format.

    Raises:
        InputError: Its ending is another format's, such as .json.
        DataError: It cannot be written.
    """
    if path is not None:
        check_result(path, option)
        check_target(path, option)


def check_folder(path: Path | None) -> None:
    """Make a folder where it is missing, or refuse it.

    Raises:
        DataError: It cannot be made, or nothing can be written there.
    """
    if path is not None:
        make_folder(path)
