"""CSV tables with labelled rows, read with errors that name file, line and column."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from walras.errors import DataError, InputError

# What spreadsheets and databases write between columns where a comma is expected.
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


class Cell(NamedTuple):
    """One cell and where it stands.

    Attributes:
        text: What it holds.
        path: The file.
        line: Number of its line, from 1.
        column: Name of its column.
    """

    text: str
    path: Path = Path()
    line: int = 0
    column: str = ""

    @property
    def where(self) -> str:
        """The file, the line and the column, for messages."""
        return f"{self.path}, line {self.line}, column '{self.column}'"

    def number(self, *, positive: bool, empty: float | None = None) -> float:
        """The cell as a finite number, >= 0 or > 0.

        Args:
            positive: Whether it must be > 0.
            empty: What an empty cell means; None when it must not be empty.

        Raises:
            InputError: It is not such a number.
        """
        if not self.text and empty is not None:
            return empty
        value = self._parsed()
        if not np.isfinite(value) or value < 0 or (positive and value == 0):
            raise InputError(
                f"is {'NaN' if np.isnan(value) else self.text}",
                where=self.where,
                allowed="finite and > 0" if positive else "finite and >= 0; empty is 0",
                remedy="correct the cell, or remove its line or column",
            )
        return value

    def _parsed(self) -> float:
        try:
            return float(self.text)
        except ValueError as error:
            raise InputError(
                f"'{self.text}' is not a number" if self.text else "the cell is empty",
                where=self.where,
                allowed="a number such as 12.5",
                remedy="write decimals with a point, and no units",
            ) from error


@dataclass(frozen=True)
class Sheet:
    """A CSV file: cells by line and column name, keyed by its first column.

    Attributes:
        path: The file.
        columns: Names of the columns, the key's first.
        lines: Cells of each line, by column.
        ignored: Columns that nothing reads.
    """

    path: Path
    columns: tuple[str, ...]
    lines: tuple[dict[str, Cell], ...]
    ignored: tuple[str, ...] = ()

    @property
    def keys(self) -> list[str]:
        """The first column."""
        return [line[self.columns[0]].text for line in self.lines]

    def numbers(self, column: str) -> pd.Series:
        """A column of positive numbers, labelled by the key.

        Raises:
            InputError: A cell is not a finite number > 0.
        """
        positive = [line[column].number(positive=True) for line in self.lines]
        return pd.Series(positive, index=self.keys)

    def has(self, column: str) -> bool:
        """Whether the file has an optional column."""
        return column in self.columns


def read(
    path: Path,
    key: str,
    required: Sequence[str],
    optional: Sequence[str] | None,
    *,
    distinct: bool = True,
) -> Sheet:
    """Read a CSV file with a header line.

    Args:
        path: The file.
        key: Name of the first column, whose cells are labels.
        required: Further columns that must be there.
        optional: Columns that may be there, others are ignored; None when each is a resource.
        distinct: Whether a label may come once alone.

    Raises:
        DataError: The file cannot be read.
        InputError: A column is missing, a line is ragged, or a label comes twice.
    """
    rows = _rows(path)
    if not rows or not rows[0][1]:
        raise InputError(
            "the file is empty",
            where=str(path),
            allowed=f"a header line: {key}, ...",
            remedy="see --help of the command for the columns",
        )
    header = tuple(name.strip() for name in rows[0][1])
    _check_separator(path, header)
    _check_header(path, header, key, required, optional)
    lines = tuple(_line(path, number, row, header) for number, row in rows[1:])
    if distinct:
        _check_labels(lines, key)
    if not lines:
        raise InputError(
            "the file has no lines below the header",
            where=str(path),
            allowed=f"one line a {key}",
            remedy="see --help of the command for the columns",
        )
    known = header if optional is None else (key, *required, *optional)
    return Sheet(path, header, lines, tuple(name for name in header if name not in known))


def ignored(*sheets: Sheet) -> str:
    """One sentence on the columns that nothing reads; empty where there are none."""
    found = [f"'{name}' of {sheet.path.name}" for sheet in sheets for name in sheet.ignored]
    return f"ignored: column {', '.join(found)}; see --help for the columns" if found else ""


def _line(path: Path, number: int, row: list[str], header: tuple[str, ...]) -> dict[str, Cell]:
    if len(row) != len(header):
        raise InputError(
            f"the line has {len(row)} cells",
            where=f"{path}, line {number}",
            allowed=f"{len(header)}, as the header",
            remedy="add or remove commas",
        )
    return {
        name: Cell(text.strip(), path, number, name) for name, text in zip(header, row, strict=True)
    }


def _check_labels(lines: Sequence[dict[str, Cell]], key: str) -> None:
    seen: set[str] = set()
    for line in lines:
        label = line[key]
        if not label.text or label.text in seen:
            raise InputError(
                f"'{label.text}' comes twice" if label.text else "the label is empty",
                where=label.where,
                allowed="distinct labels",
                remedy=f"rename the {key}",
            )
        seen.add(label.text)


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """The lines that are not blank, with their numbers."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            return [(reader.line_num, row) for row in reader if row]
    except OSError as error:
        raise DataError(
            f"the file cannot be read: {error.strerror}",
            where=str(path),
            allowed="a file that can be read",
            remedy="check the path",
        ) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(
            f"the file cannot be read: {error}",
            where=str(path),
            allowed="comma-separated text in UTF-8",
            remedy="save it as CSV in UTF-8",
        ) from error


def _check_separator(path: Path, header: tuple[str, ...]) -> None:
    """Refuse a header that is one cell with other separators in it, as some spreadsheets save it.

    Raises:
        InputError: Names the separator.
    """
    used = next((mark for mark in _SEPARATORS if mark in header[0]), None)
    if len(header) == 1 and used is not None:
        raise InputError(
            f"the columns are separated by {_SEPARATORS[used]}",
            where=f"{path}, line 1",
            allowed="commas between columns, points in decimals",
            remedy="save it as CSV with commas, or replace them throughout",
        )


def _check_header(
    path: Path,
    header: tuple[str, ...],
    key: str,
    required: Sequence[str],
    optional: Sequence[str] | None,
) -> None:
    where = f"{path}, line 1"
    known = (key, *required, *(optional or ()))
    for name in header:
        if header.count(name) > 1 or not name:
            raise InputError(
                f"column '{name}' comes twice" if name else "a column has no name",
                where=where,
                allowed="distinct names",
                remedy="rename the column",
            )
    missing = next((name for name in (key, *required) if name not in header), None)
    if missing is not None or header[0] != key:
        raise InputError(
            f"no column '{missing}'" if missing else f"the first column is '{header[0]}'",
            where=where,
            allowed=f"{key} first, then {', '.join(known[1:]) or 'one a resource'}",
            remedy="see --help of the command for the columns",
        )
