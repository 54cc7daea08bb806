"""What a reader hands on: rows under the file's own column names, and what it could not split."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from walras.errors import DataError
from walras.files import reason_of
from walras.predict.logs.text import read_text
from walras.types import Bools, Floats, Longs


@dataclass(frozen=True)
class Refusal:
    """A row that cannot be used.

    Attributes:
        row: Its number in the file, from 1.
        field: What is wrong in it, such as ``arrival``; empty where the row has no fields.
        reason: Why, and what is allowed.
        unit: What the number counts: ``line`` of a text, or ``job`` of a list.

    Example:
        >>> from walras.simulate import Refusal
        >>> print(Refusal(7, "size", "is 0, not a whole number above 0"))
        line 7: size is 0, not a whole number above 0
    """

    row: int
    field: str
    reason: str
    unit: str = "line"

    def __str__(self) -> str:
        return f"{self.unit} {self.row}: {f'{self.field} {self.reason}'.strip()}"


@dataclass(frozen=True)
class Raw:
    """Rows as a file has them.

    Attributes:
        table: One row a job; columns as the format names them, of texts or numbers.
        row: (n,) number of each row in the file.
        refused: Rows that could not be split.
        left_out: Reason -> rows that are good but are no job to run, such as jobs never started.
        unit: What the numbers of rows count.
        dated: Whether arrivals are moments, so that time 0 is the first of them.
        capacity: Workers of its cluster, if the file says how many.
    """

    table: pd.DataFrame
    row: Longs
    refused: tuple[Refusal, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    unit: str = "line"
    dated: bool = False
    capacity: int | None = None

    def without(self, out: Bools, reason: str) -> Raw:
        """The rows but some, which are counted under a reason."""
        count = int(out.sum())
        if not count:
            return self
        return replace(
            self,
            table=self.table[~out].reset_index(drop=True),
            row=self.row[~out],
            left_out={**self.left_out, reason: self.left_out.get(reason, 0) + count},
        )

    def number(self, column: str) -> Floats:
        """(n,) numbers of a column; NaN where a cell is none."""
        return numbers(self.table[column])


def numbers(cells: pd.Series) -> Floats:
    """(n,) numbers of cells; NaN where a cell is none, and infinity beyond the largest float."""
    try:
        found = pd.to_numeric(cells, errors="coerce")
    except (TypeError, ValueError, OverflowError):  # pandas refuses some objects outright
        found = pd.to_numeric(cells.map(str), errors="coerce")
    return found.to_numpy(np.float64, copy=True)


def text_of(path: Path) -> str:
    """The text of a file, unpacked where its name ends in .gz, .bz2 or .xz.

    Raises:
        DataError: It cannot be read.
    """
    try:
        return read_text(path)
    except (OSError, ValueError) as error:
        raise cannot_read(path, reason_of(error), "a file of text") from error


def cannot_read(path: Path, why: str, allowed: str, remedy: str = "check the path") -> DataError:
    """The error for a file that is not what it should be."""
    return DataError(f"cannot be read: {why}", where=str(path), allowed=allowed, remedy=remedy)
