"""Logs as CSV tables or frames, one row a job."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from walras.errors import DataError
from walras.files import reason_of
from walras.predict.logs.moments import moments
from walras.predict.logs.text import read_csv
from walras.shadow.jobs import Rows

NEEDED = ("submit", "start", "end", "cluster", "outcome")
_OPTIONAL = ("name", "user", "slots")


def read(path: Path) -> Rows:
    """Read a CSV table.

    Args:
        path: Columns ``submit``, ``start``, ``end`` (seconds, or ISO 8601), ``cluster`` and
            ``outcome``; ``name``, ``user``, ``slots`` where there are any; every other column of
            numbers is a feature.

    Raises:
        DataError: The file cannot be read, or lacks a column.
    """
    try:
        lines = read_csv(path, NEEDED)
    except (OSError, ValueError) as error:
        raise DataError(
            f"cannot be read: {reason_of(error)}",
            where=str(path),
            allowed=f"CSV with columns {', '.join(NEEDED)}",
            remedy="correct the file",
        ) from error
    table = pd.DataFrame(lines.rows, columns=list(lines.header), dtype=str)
    return of_frame(table, str(path), np.array(lines.numbers, np.int64), lines.ragged)


def of_frame(
    frame: pd.DataFrame,
    origin: str,
    number: np.ndarray | None = None,
    ragged: tuple[int, ...] = (),
) -> Rows:
    """Take a frame, with columns as in a CSV table.

    Args:
        frame: The frame.
        origin: What errors call it.
        number: (n,) number of each row; from 1 if None.
        ragged: Lines that could not be split.

    Raises:
        DataError: It lacks a column, or has one twice.
    """
    for name in NEEDED:
        count = list(frame.columns).count(name)
        if count != 1:
            raise DataError(
                f"has {'no' if not count else 'more than one'} column '{name}'",
                where=origin,
                allowed=f"columns {', '.join(NEEDED)}; {', '.join(_OPTIONAL)} and features beside",
                remedy="name the columns so",
            )
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise DataError(
            f"has more than one column '{twice[0]}'",
            where=origin,
            allowed="each column once",
            remedy="rename or leave out one of them",
        )
    made = {name: moments(frame[name]) for name in NEEDED[:3]}
    table = pd.DataFrame(made | {name: frame[name].to_numpy() for name in NEEDED[3:]})
    for name in ("name", "user"):
        table[name] = frame[name].fillna("").to_numpy() if name in frame else ""
    table["slots"] = frame["slots"].to_numpy() if "slots" in frame else 1
    for name in frame.columns:
        if name not in (*NEEDED, *_OPTIONAL):
            numbers = pd.to_numeric(frame[name], errors="coerce").to_numpy(np.float64)
            if np.isfinite(numbers).any():
                table[str(name)] = numbers
    rows = np.arange(1, len(table) + 1) if number is None else number
    return Rows(table, rows, ragged, 0, 0, origin)
