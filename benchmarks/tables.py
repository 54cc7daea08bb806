"""Tables, pictures and pages of a family of studies, kept under the family's name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.machine import machine
from benchmarks.store import Record, only_writer, read_lines, write_lines

HERE = Path(__file__).parent
_STUDY, _ORIGIN = "study", ("measured", "machine", "walras")


@dataclass(frozen=True)
class Tables:
    """Where a family of studies keeps what it found.

    Attributes:
        family: Its name, such as ``experiments``.
        root: Folder of the records (``results``) and of the pictures (``pictures``).
    """

    family: str
    root: Path = HERE

    @property
    def records(self) -> Path:
        """The JSON-lines file: one line a row, with the study's name, day, machine, version."""
        return self.root / "results" / f"{self.family}.jsonl"

    def picture(self, study: str) -> Path:
        """The PNG file of a study, in a folder that exists."""
        path = self.root / "pictures" / self.family / f"{study}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def shown(self, title: str, study: str) -> str:
        """A study's picture in Markdown, as the pages of the family show it."""
        return f"![{title}](../../pictures/{self.family}/{study}.png)"

    def write_page(self, text: str, name: str = "page") -> Path:
        """Write a page that the documentation includes."""
        path = self.root / "results" / self.family / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def read(self, study: str) -> pd.DataFrame | None:
        """The table of a study, None if it has not been measured."""
        rows = [
            {name: _heard(value) for name, value in line.items() if name not in (_STUDY, *_ORIGIN)}
            for line in read_lines(self.records)
            if line[_STUDY] == study
        ]
        return pd.DataFrame(rows) if rows else None

    def write(
        self, study: str, frame: pd.DataFrame, digits: int = 17, cell: Sequence[str] = ()
    ) -> None:
        """Put a study's table in place of its older one; the other studies' tables stay.

        Args:
            study: Its name.
            frame: One row a measurement.
            digits: Significant digits that are kept.
            cell: Columns that name a row. Where they are given, older rows of other cells stay,
                each with its own date and machine, and rows are in the order of these columns.
        """
        rows = _rows(frame, digits)
        new = [{_STUDY: study, **row, **dict(zip(_ORIGIN, _origin(), strict=True))} for row in rows]
        with only_writer(self.records.parent):
            lines = read_lines(self.records)
            if cell:
                now = {_name(line, cell) for line in new}
                older = [line for line in lines if line[_STUDY] == study]
                new = [line for line in older if _name(line, cell) not in now] + new
                new.sort(key=lambda line: _name(line, cell))
            lines = [line for line in lines if line[_STUDY] != study] + new
            write_lines(self.records, sorted(lines, key=lambda line: str(line[_STUDY])))


def _origin() -> tuple[str, str, str]:
    """Day, machine and our version of a measurement that is made now."""
    here = machine()
    day, computer = datetime.now(UTC).date().isoformat(), f"{here['cpu']}, {here['cores']} cores"
    return day, computer, version("walras")


def _name(line: Record, cell: Sequence[str]) -> tuple[Any, ...]:
    return tuple(line[column] for column in cell)


def _rows(frame: pd.DataFrame, digits: int) -> list[dict[str, object]]:
    return [
        {str(name): _said(value, digits) for name, value in row.items()}
        for row in frame.to_dict("records")
    ]


def _said(value: object, digits: int) -> object:
    """A value as JSON has it: what is missing or empty is null, what is infinite a word."""
    plain = value.item() if isinstance(value, np.generic) else value
    if not isinstance(plain, float):
        return None if plain == "" else plain
    if math.isinf(plain):
        return str(plain)
    return None if math.isnan(plain) else float(f"{plain:.{digits}g}")


def _heard(value: object) -> object:
    return float(value) if isinstance(value, str) and value in ("inf", "-inf") else value
