"""Tables on the terminal, as JSON or as CSV, from the same rows."""

from __future__ import annotations

import csv
import enum
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from walras.cli.common.streams import put, put_data
from walras.text import visible

Cell = str | int | float | bool | None


class Format(enum.StrEnum):
    """How a command prints what it found."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


OutputOption = Annotated[Format, typer.Option("--output", "-o", help="How to print the result.")]


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


def emit(table: Table, output: Format = Format.TABLE) -> None:
    """Print a table on standard output in the wanted form."""
    if output is Format.JSON:
        put(to_json(table.records()))
    elif output is Format.CSV:
        put_data(to_csv(table))
    else:
        _print_table(table)


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


def _print_table(table: Table) -> None:
    # Imported here: rich takes a third of the time that walras --help may take.
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table as RichTable

    title = visible(table.title)
    drawn = RichTable(title=escape(title) or None, box=box.SIMPLE_HEAD, title_justify="left")
    console = Console()
    drawn.min_width = min(len(title), console.width)
    for k, name in enumerate(table.columns):
        numeric = all(_is_number(row[k]) for row in table.rows) and bool(table.rows)
        # The first column names the row: a name that is cut in two cannot be copied.
        drawn.add_column(
            escape(show(name)),
            justify="right" if numeric else "left",
            overflow="fold",
            no_wrap=k == 0,
        )
    for row in table.rows:
        drawn.add_row(*(escape(show(cell, table.digits)) for cell in row))
    console.print(drawn)


def _is_number(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool))


def _plain(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell
