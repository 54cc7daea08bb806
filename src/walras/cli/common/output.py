"""Tables on the terminal, as JSON or as CSV, from the same rows."""

from __future__ import annotations

import enum
import shutil
import textwrap
from typing import Annotated

import typer

from walras.cli.common.layout import Column, blocks
from walras.cli.common.streams import put, put_data
from walras.reports.tables import Table, is_number, show, to_csv, to_json
from walras.text import visible


class Format(enum.StrEnum):
    """How a command prints what it found."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


OutputOption = Annotated[Format, typer.Option("--output", "-o", help="How to print the result.")]


def emit(table: Table, output: Format = Format.TABLE) -> None:
    """Print a table on standard output in the wanted form."""
    if output is Format.JSON:
        put(to_json(table.records()))
    elif output is Format.CSV:
        put_data(to_csv(table))
    else:
        _print_table(table)


def put_wrapped(text: str, bullet: str = "") -> None:
    """Print a sentence on standard output, in lines that fit the terminal."""
    width = min(100, shutil.get_terminal_size().columns)
    put(textwrap.fill(text, width, initial_indent=bullet, subsequent_indent=" " * len(bullet)))


def _print_table(table: Table) -> None:
    # Imported here: rich takes a third of the time that walras --help may take.
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table as RichTable

    title = visible(table.title)
    console = Console()
    cells = [[show(row[k], table.digits) for row in table.rows] for k in range(len(table.columns))]
    numeric = [all(is_number(row[k]) for row in table.rows) for k in range(len(table.columns))]
    columns = [
        # The first column names the row: a name that is cut in two cannot be copied.
        Column(show(name), cells[k], whole=k == 0 or numeric[k])
        for k, name in enumerate(table.columns)
    ]
    for block in blocks(columns, console.width):
        drawn = RichTable(title=escape(title) or None, box=box.SIMPLE_HEAD, title_justify="left")
        drawn.min_width = min(len(title), console.width)
        for k, width in block.items():
            drawn.add_column(
                escape(columns[k].head),
                justify="right" if numeric[k] and table.rows else "left",
                overflow="fold",
                width=width,
            )
        for row in range(len(table.rows)):
            drawn.add_row(*(escape(cells[k][row]) for k in block))
        console.print(drawn)
        title = ""
