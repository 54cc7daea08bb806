"""``walras bench``: measure Walras against its peers, from a source tree."""

from __future__ import annotations

import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from walras.cli.common.streams import results_descriptor
from walras.errors import DataError


class Selection(StrEnum):
    """Which cells are measured."""

    QUICK = "quick"
    FULL = "full"


def bench(
    only: Annotated[
        str | None, typer.Option(help="Only cells whose name contains this shell pattern.")
    ] = None,
    cells: Annotated[
        Selection, typer.Option(help="quick ends in about five minutes.")
    ] = Selection.QUICK,
    fresh: Annotated[
        bool, typer.Option(help="Measure finished cells again instead of resuming.")
    ] = False,
    show_list: Annotated[
        bool, typer.Option("--list", help="List the cells and measure nothing.")
    ] = False,
) -> None:
    """Measure against peers on this computer.

    Needs a source tree: the benchmarks and their peers are not part of the installed package.
    Results go to benchmarks/results, one JSON-lines file a benchmark, and into table.md there.

    Examples:

      walras bench --list

      walras bench --only max-min--gavel
    """
    arguments = ["--cells", cells.value]
    arguments += ["--only", only] if only else []
    arguments += ["--fresh"] if fresh else []
    arguments += ["--list"] if show_list else []
    command = [sys.executable, "-m", "benchmarks", *arguments]
    done = subprocess.run(command, cwd=source_tree(), check=False, stdout=results_descriptor())
    raise typer.Exit(done.returncode)


def source_tree() -> Path:
    """The folder of the source tree that the package was imported from.

    Raises:
        DataError: The package was not imported from a source tree.
    """
    root = Path(__file__).resolve().parents[3]  # src/walras/cli/bench.py
    if not (root / "benchmarks" / "__main__.py").is_file():
        raise DataError(
            "the benchmarks are not part of the installed package",
            where=str(root / "benchmarks"),
            allowed="an installation from a source tree",
            remedy="clone the repository and run ./dev bench there",
        )
    return root
