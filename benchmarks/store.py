"""Results on disk: one JSON file a cell, so that a run can be taken up where it ended."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.cell import Cell

RESULTS = Path(__file__).parent / "results"
FINISHED = ("ran", "stopped")


@dataclass(frozen=True)
class Store:
    """A folder of records."""

    folder: Path = RESULTS

    def path(self, cell: Cell) -> Path:
        """File of a cell."""
        return self.folder / f"{cell.name}.json"

    def read(self, cell: Cell) -> dict[str, Any] | None:
        """Record of a cell, None if it has not been measured."""
        path = self.path(cell)
        if not path.exists():
            return None
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return record

    def finished(self, cell: Cell) -> bool:
        """Whether the cell was measured to its end; one that failed is tried again."""
        record = self.read(cell)
        return record is not None and record["status"] in FINISHED

    def write(self, cell: Cell, record: dict[str, Any]) -> None:
        """Write a record at once or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        draft = self.path(cell).with_suffix(".part")
        draft.write_text(json.dumps(record, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        os.replace(draft, self.path(cell))

    def records(self, cells: Iterable[Cell]) -> dict[str, dict[str, Any]]:
        """Records of all measured cells, by the cell's name."""
        found = ((cell.name, self.read(cell)) for cell in cells)
        return {name: record for name, record in found if record is not None}
