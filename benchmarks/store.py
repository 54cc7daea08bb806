"""Records on disk: one JSON-lines file a benchmark, one line a cell, so that a run can go on."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.cell import Cell

if sys.platform != "win32":  # there, two runs must not write at the same time
    import fcntl

Record = dict[str, Any]

RESULTS = Path(__file__).parent / "results"
FINISHED = ("ran", "stopped")


def read_lines(path: Path) -> list[Record]:
    """The objects of a JSON-lines file, none if there is no file."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Write a JSON-lines file whole or not at all."""
    draft = path.with_suffix(".part")
    text = "".join(json.dumps(line, allow_nan=False, ensure_ascii=False) + "\n" for line in lines)
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, path)


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Make the folder, and keep other processes from writing in it meanwhile."""
    folder.mkdir(parents=True, exist_ok=True)
    if sys.platform == "win32":
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@dataclass(frozen=True)
class Store:
    """A folder of records."""

    folder: Path = RESULTS

    def path(self, benchmark: str) -> Path:
        """File of a benchmark."""
        return self.folder / f"{benchmark}.jsonl"

    def read(self, cell: Cell) -> Record | None:
        """Record of a cell, None if it has not been measured."""
        return self._benchmark(cell.benchmark).get(cell.name)

    def finished(self, cell: Cell) -> bool:
        """Whether the cell was measured to its end; one that failed is tried again."""
        record = self.read(cell)
        return record is not None and record["status"] in FINISHED

    def write(self, cell: Cell, record: Record) -> None:
        """Write a record at once or not at all; the other records of the benchmark stay."""
        with only_writer(self.folder):
            kept = self._benchmark(cell.benchmark) | {cell.name: record}
            write_lines(self.path(cell.benchmark), (kept[name] for name in sorted(kept)))

    def records(self, cells: Iterable[Cell]) -> dict[str, Record]:
        """Records of all measured cells, by the cell's name."""
        asked = list(cells)
        files = {name: self._benchmark(name) for name in {cell.benchmark for cell in asked}}
        found = ((cell.name, files[cell.benchmark].get(cell.name)) for cell in asked)
        return {name: record for name, record in found if record is not None}

    def _benchmark(self, benchmark: str) -> dict[str, Record]:
        return {line["cell"]["name"]: line for line in read_lines(self.path(benchmark))}
