"""Tables as data: the same rows as text, JSON, CSV and HTML."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from walras.text import visible

if TYPE_CHECKING:
    import pandas as pd

Cell = str | int | float | bool | None
"""What stands in one cell."""


@dataclass(frozen=True)
class Table:
    """Rows under named columns.

    Attributes:
        columns: Names of the columns; the keys in JSON.
        rows: One cell a column; numbers stay numbers.
        title: Shown above the table on a terminal.
        digits: Significant digits shown on a terminal.
    """

    columns: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    title: str = ""
    digits: int = 6

    def records(self) -> list[dict[str, Cell]]:
        """One dictionary a row, with None in place of numbers that JSON does not know."""
        return [
            {name: _plain(cell) for name, cell in zip(self.columns, row, strict=True)}
            for row in self.rows
        ]


def of_frame(frame: pd.DataFrame, title: str = "", digits: int = 6) -> Table:
    """The rows of a frame under its columns."""
    rows = [tuple(row) for row in frame.itertuples(index=False, name=None)]
    return Table(tuple(map(str, frame.columns)), rows, title, digits)


def record(facts: Mapping[str, Cell]) -> Table:
    """One row: each fact under its name, as JSON and CSV have them."""
    return Table(tuple(facts), [tuple(facts.values())])


def to_json(content: Any) -> str:
    """Readable, strictly standard JSON (no NaN)."""
    return json.dumps(content, indent=2, allow_nan=False)


def to_csv(table: Table) -> str:
    """A header line, then one line a row; empty cells for None."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    return text.getvalue()


def show(cell: Cell, digits: int = 6) -> str:
    """A cell as people read it: yes and no, some significant digits, a dash for nothing."""
    if cell is None:
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:.{digits}g}"
    return visible(str(cell)).replace("\n", "\\n")  # a name takes one line


def is_number(cell: Cell) -> bool:
    """Whether a cell is a number, or empty."""
    return cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool))


def _plain(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell
