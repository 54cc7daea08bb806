"""What ``python -m benchmarks`` and ``walras bench`` do: list, measure what is missing, render."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks import registry
from benchmarks.cell import Cell
from benchmarks.measure import measure_in_turns
from benchmarks.progress import Progress
from benchmarks.store import Store
from benchmarks.table import render
from walras.cli.common.errors import describe, exit_code
from walras.errors import InputError


@dataclass(frozen=True)
class Options:
    """The selection of cells and what to do with them.

    Attributes:
        only: Shell pattern, matched anywhere in a cell's name.
        quick: Measure the quick selection only.
        fresh: Measure again what has been measured.
        list_only: Say which cells there are and measure nothing.
    """

    only: str | None = None
    quick: bool = False
    fresh: bool = False
    list_only: bool = False


def run(options: Options, store: Store | None = None) -> int:
    """List or measure; returns the exit code: 0, 1 if a cell failed, 2 if none is selected."""
    store = store or Store()
    cells = registry.select(quick=options.quick, only=options.only)
    if not cells:
        error = InputError(
            f"no cell's name contains {options.only!r}",
            where="--only",
            allowed="a shell pattern that matches a cell",
            remedy="list them with --list",
        )
        print(describe(error), file=sys.stderr)
        return exit_code(error)
    if options.list_only:
        _list(cells, store)
        return 0
    return measure_all(cells, store, fresh=options.fresh)


def measure_all(cells: Sequence[Cell], store: Store, *, fresh: bool) -> int:
    """Measure the cells that are not finished; each group is written as soon as it is measured."""
    missing = [cell for cell in cells if fresh or not store.finished(cell)]
    print(
        f"{len(missing)} of {len(cells)} cells to measure, about "
        f"{sum(cell.estimate for cell in missing) / 60:.0f} minutes",
        flush=True,
    )
    progress, failed = Progress(missing), 0
    for group in groups(missing):
        progress.begin(group)
        for cell, record in zip(group, measure_in_turns(group), strict=True):
            store.write(cell, record)
            progress.end(cell, record)
            failed += record["status"] not in ("ran", "stopped", "not run")
    write_table(store)
    return int(failed > 0)


def groups(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Cells of one instance and objective, which are compared: their runs are made in turns."""
    found: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in cells:
        found.setdefault((cell.benchmark, cell.spec.name, cell.objective), []).append(cell)
    return list(found.values())


def write_table(store: Store) -> None:
    """Render ``table.md`` from every record there is."""
    page = render(registry.BENCHMARKS, store.records(registry.all_cells()))
    store.folder.mkdir(parents=True, exist_ok=True)
    (store.folder / "table.md").write_text(page, encoding="utf-8")


def _list(cells: Sequence[Cell], store: Store) -> None:
    for cell in cells:
        mark = "done" if store.finished(cell) else f"{cell.estimate:g} s"
        print(f"{mark:>8}  {cell.name}")
    total = sum(cell.estimate for cell in cells)
    left = sum(cell.estimate for cell in cells if not store.finished(cell))
    print(f"{len(cells)} cells, about {total / 60:.0f} minutes in all, {left / 60:.0f} to go")
