"""Tables on the terminal, as JSON or as CSV, from the same rows."""

from __future__ import annotations

import enum
import shutil
import textwrap
from typing import Annotated

import typer

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
    drawn = RichTable(title=escape(title) or None, box=box.SIMPLE_HEAD, title_justify="left")
    console = Console()
    drawn.min_width = min(len(title), console.width)
    for k, name in enumerate(table.columns):
        numeric = all(is_number(row[k]) for row in table.rows) and bool(table.rows)
        # The first column names the row: a name that is cut in two cannot be copied.
        longest = max((len(show(row[k], table.digits)) for row in table.rows), default=0)
        drawn.add_column(
            escape(show(name)),
            justify="right" if numeric else "left",
            overflow="fold",
            no_wrap=k == 0,
            min_width=longest if numeric else None,  # nor can a number that is
        )
    for row in table.rows:
        drawn.add_row(*(escape(show(cell, table.digits)) for cell in row))
    console.print(drawn)
