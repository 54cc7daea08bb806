"""Intervals of ``walras match``: two tables of ends, in the form of the table they surround."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from walras.data.formats.sheet import Cell, Sheet, read
from walras.errors import InputError
from walras.types import Bools, Floats

_ENDLESS = ("inf", "+inf", "infinity")

Ends = tuple[Path | None, Path | None]
"""Files of the lower and of the upper ends."""


def interval(name: str, files: Ends, values: pd.DataFrame, usable: Bools) -> Floats | None:
    """(2, clusters, tasks) lower and upper ends; None without files.

    Args:
        name: ``times`` or ``success``.
        files: The two files. They may hold tasks that were left out.
        values: (tasks, clusters) what the intervals surround.
        usable: (tasks, clusters) False where a cell may be empty, as the cluster cannot run the
            task; the value stands for both ends.

    Raises:
        InputError: One file is given without the other, their labels differ from those of
            ``values``, or an end is no number, outside its range or above the upper one. An upper
            end of a time may be ``inf``, as predictors write it.
        DataError: A file cannot be read.
    """
    low, high = files
    if low is None and high is None:
        return None
    if low is None or high is None:
        given, missing = ("high", "low") if low is None else ("low", "high")
        raise InputError(
            f"--{name}-{given} is given alone",
            where=f"--{name}-{missing}",
            allowed="the lower and the upper ends, or neither",
            remedy=f"add --{name}-{missing}",
        )
    ends = [
        _ends(read(path, "task", (), None), name, values, usable, endless=path == high)
        for path in (low, high)
    ]
    above = np.argwhere(ends[0] > ends[1])
    if len(above):
        j, i = above[0]
        raise InputError(
            f"is {ends[0][j, i]:g}, above the upper end {ends[1][j, i]:g}",
            where=f"{low}, task {values.index[j]}, column '{values.columns[i]}'",
            allowed=f"at most what {high} has there",
            remedy="exchange the files, or correct it",
        )
    return np.stack([end.T for end in ends])


def _ends(sheet: Sheet, name: str, values: pd.DataFrame, usable: Bools, *, endless: bool) -> Floats:
    """(tasks, clusters) numbers of one file, in the order of ``values``."""
    clusters = [str(label) for label in values.columns]
    check_same(sheet.columns[1:], clusters, sheet, "cluster", f"--{name}")
    lines = {line["task"].text: line for line in sheet.lines}
    check_same(
        [t for t in lines if t in values.index], list(values.index), sheet, "task", f"--{name}"
    )
    found = values.to_numpy(dtype=np.float64, copy=True)
    for j, task in enumerate(values.index):
        for i, cluster in enumerate(clusters):
            empty = None if usable[j, i] else float(found[j, i])
            cell = lines[str(task)][cluster]
            unbounded = endless and name == "times" and cell.text.lower() in _ENDLESS
            found[j, i] = np.inf if unbounded else _end(cell, name, empty)
    return found


def _end(cell: Cell, name: str, empty: float | None) -> float:
    found = cell.number(positive=False, empty=empty)
    if name == "success" and found > 1.0:
        raise InputError(
            f"is {found:g}",
            where=cell.where,
            allowed="0 to 1",
            remedy="give chances, not percentages",
        )
    return found


def check_same(
    own: Sequence[str], wanted: Sequence[str], sheet: Sheet, kind: str, other: str
) -> None:
    """Check that a table has the labels of another one.

    Args:
        own: Its labels.
        wanted: The other's.
        sheet: The table.
        kind: ``task`` or ``cluster``.
        other: What the other is called in an error.

    Raises:
        InputError: A label is missing or unknown.
    """
    missing = [label for label in wanted if label not in own]
    unknown = [label for label in own if label not in wanted]
    if missing or unknown:
        what = f"has no {kind} '{missing[0]}'" if missing else f"unknown {kind} '{unknown[0]}'"
        raise InputError(
            what,
            where=str(sheet.path),
            allowed=f"the {kind}s of {other}",
            remedy="give both files the same tasks and clusters",
        )
