"""Durations in tables: on a terminal, in the unit that fits the largest."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from walras.cli.common.output import Format
from walras.reports.tables import Cell, Table
from walras.text import time_unit

_HOUR = 3600.0
_UNITS = ("h", "worker-h")


def in_fitting_unit(table: Table, output: Format) -> Table:
    """A table whose hours are hours, minutes or seconds, as fits the largest; JSON and CSV stay in
    hours.

    Args:
        table: With a column ``unit``, or with columns whose names end in `` h``.
        output: How it is printed.
    """
    if output is not Format.TABLE:
        return table
    return _of_rows(table) if "unit" in table.columns else _of_columns(table)


def _of_rows(table: Table) -> Table:
    of = table.columns.index("unit")
    unit, factor = _fitting(cell for row in table.rows if row[of] == "h" for cell in row)
    rows = []
    for row in table.rows:
        if row[of] in _UNITS:
            cells = [_times(cell, factor) for cell in row]
            cells[of] = f"{str(row[of]).removesuffix('h')}{unit}"
            row = tuple(cells)
        rows.append(row)
    return replace(table, rows=rows)


def _of_columns(table: Table) -> Table:
    hours = [name.endswith(" h") for name in table.columns]
    unit, factor = _fitting(
        cell for row in table.rows for cell, is_ in zip(row, hours, strict=True) if is_
    )
    names = [
        f"{name.removesuffix('h')}{unit}" if is_ else name
        for name, is_ in zip(table.columns, hours, strict=True)
    ]
    rows = [
        tuple(_times(cell, factor) if is_ else cell for cell, is_ in zip(row, hours, strict=True))
        for row in table.rows
    ]
    return replace(table, columns=tuple(names), rows=rows)


def _fitting(hours: Iterable[Cell]) -> tuple[str, float]:
    """The unit that fits the largest of some hours, and how many of it are an hour."""
    sizes = [abs(x) for x in hours if isinstance(x, float) and math.isfinite(x)]
    unit, seconds = time_unit(_HOUR * max(sizes, default=1.0))
    return unit, _HOUR / seconds


def _times(cell: Cell, factor: float) -> Cell:
    return cell * factor if isinstance(cell, float) else cell
