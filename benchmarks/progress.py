"""Progress of a run: lines with the time left, or JSON lines where no terminal listens."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from typing import Any

from benchmarks.cell import Cell


class Progress:
    """Tells what is running and how long the rest is expected to take.

    Args:
        cells: The cells that will be measured, in order.
    """

    def __init__(self, cells: Sequence[Cell]) -> None:
        self._estimates = [cell.estimate for cell in cells]
        self._done = 0
        self._start = time.monotonic()

    @property
    def seconds_left(self) -> float:
        """Estimates of the cells to come, scaled by how well the past ones held."""
        past, elapsed = sum(self._estimates[: self._done]), time.monotonic() - self._start
        pace = elapsed / past if past else 1.0
        return pace * sum(self._estimates[self._done :])

    def begin(self, cells: Sequence[Cell]) -> None:
        """Cells start that are measured in turns."""
        if sys.stdout.isatty():
            first, last = self._done + 1, self._done + len(cells)
            place = f"{first}" if first == last else f"{first} to {last}"
            left = _clock(self.seconds_left)
            print(f"[{place} of {len(self._estimates)}, {left} left] ", end="", flush=True)
            print(f"{cells[0].name}{', in turns with others' * (len(cells) > 1)}", flush=True)

    def end(self, cell: Cell, record: dict[str, Any]) -> None:
        """A cell has ended."""
        self._done += 1
        if sys.stdout.isatty():
            seconds = f"{record['total']:.3g} s" if "total" in record else record["status"]
            print(f"  {cell.method}: {seconds}", flush=True)
            return
        print(
            json.dumps(
                {
                    "cell": cell.name,
                    "status": record["status"],
                    "total": record.get("total"),
                    "value": record.get("value"),
                    "violation": record.get("violation"),
                    "done": self._done,
                    "of": len(self._estimates),
                    "seconds_left": round(self.seconds_left),
                }
            ),
            flush=True,
        )


def _clock(seconds: float) -> str:
    return f"{int(seconds // 60)}:{int(seconds % 60):02d}"
