"""A round's times and chances from CSV tables, tasks in rows, with intervals and speed-ups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from walras import checks
from walras.data.formats.sheet import Cell, Sheet, ignored, read
from walras.errors import InputError, WalrasError
from walras.matching.asked import Asked
from walras.matching.round import Round
from walras.types import Bools, Floats

_ENDLESS = ("inf", "+inf", "infinity")

Ends = tuple[Path | None, Path | None]
"""Files of the lower and of the upper ends."""


@dataclass(frozen=True, eq=False)
class MatchTables:
    """Times and chances, tasks in rows.

    Attributes:
        times: (tasks, clusters), ``inf`` where a cluster cannot run a task.
        success: (tasks, clusters).
        left_out: Tasks whose lines were bad.
    """

    times: pd.DataFrame
    success: pd.DataFrame
    left_out: tuple[str, ...]


def read_tables(times: Path, success: Path, *, keep_good: bool) -> MatchTables:
    """Read the two tables of a round.

    Args:
        times: ``task, <cluster>, ...``; empty where the cluster cannot run the task.
        success: The same tasks and clusters; it may be empty where ``times`` is.
        keep_good: Leave out tasks whose rows cannot be used.

    Raises:
        DataError: A file cannot be read.
        InputError: A table is not as it should be.
    """
    first, second = read(times, "task", (), None), read(success, "task", (), None)
    clusters = first.columns[1:]
    check_same(second.columns[1:], clusters, second, "cluster", str(first.path))
    check_same(second.keys, first.keys, second, "task", str(first.path))
    rows = {line["task"].text: line for line in second.lines}
    seconds: dict[str, list[float]] = {}
    chances: dict[str, list[float]] = {}
    errors: dict[str, WalrasError] = {}
    for line in first.lines:
        task = line["task"].text
        try:
            own = [line[c].number(positive=True, empty=np.inf) for c in clusters]
            chances[task] = [
                rows[task][c].number(positive=False, empty=0.0 if t == np.inf else None)
                for c, t in zip(clusters, own, strict=True)
            ]
            seconds[task] = own
        except InputError as error:
            errors[task] = error
    if errors and not (keep_good and seconds):
        worst = next(iter(errors.values()))
        raise InputError(
            worst.what,
            where=worst.where,
            allowed=worst.allowed,
            remedy=f"correct it, or leave {len(errors)} of {len(first.lines)} tasks out with "
            "--keep-good",
        )
    return MatchTables(
        _frame(seconds, clusters), _frame(chances, clusters).loc[list(seconds)], tuple(errors)
    )


def _frame(rows: dict[str, list[float]], clusters: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(clusters))


def round_from(
    given: MatchTables,
    min_success: float,
    price: float | None,
    speedup: Path | None,
    times: Ends,
    success: Ends,
    asked: Asked | None = None,
) -> Round:
    """The round of two tables.

    Args:
        given: Times and chances.
        min_success: Least mean chance of success.
        price: Of a unit of missing success, or None for a hard floor.
        speedup: ``cluster, 1, 2, ...``, or None.
        times: Files of the ends of the times' intervals.
        success: Files of the ends of the chances' intervals.
        asked: Slots, deadlines and the like, from :func:`read_asked`; None where there are none.

    Raises:
        DataError: A file cannot be read.
        InputError: A table or number cannot be used.
        InfeasibleError: No placement reaches a hard floor.
    """
    curves = None
    if speedup is not None:
        curves = _curves(read(speedup, "cluster", ("1",), None), given.times)
    usable = np.isfinite(given.times.to_numpy())
    return Round.of(
        given.times.T,
        given.success.T,
        min_success,
        curves,
        shortfall_price=price,
        times_interval=interval("times", times, given.times, usable),
        success_interval=interval("success", success, given.success, usable),
        asked=asked,
    )


_OF_TASKS = ("size", "pinned", "previous", "deadline", "min_success")
_OF_CLUSTERS = ("slots", "ready")
_NOTHING = Cell("")


def read_asked(
    tasks: Path | None, clusters: Path | None, move_price: float, given: MatchTables
) -> tuple[Asked | None, str]:
    """What a round asks of its tasks and clusters beside times and chances.

    Args:
        tasks: ``task`` and any of ``size``, ``pinned``, ``previous``, ``deadline`` (seconds from
            now) and ``min_success``; an empty cell asks nothing. Tasks that it lacks ask nothing.
        clusters: ``cluster`` and any of ``slots`` and ``ready``: seconds until the slots are free,
            one number, or one a slot with spaces between them. Clusters that it lacks have one slot
            that is free now.
        move_price: Price of a move away from ``previous``.
        given: Times and chances, whose labels hold.

    Returns:
        What is asked, None where nothing is, and a sentence on the columns that nothing reads.

    Raises:
        DataError: A file cannot be read.
        InputError: A label is unknown, or a number cannot be used.
    """
    sheets: list[Sheet] = []
    asked: dict[str, Any] = {"move_price": move_price}
    if tasks is not None:
        sheets.append(read(tasks, "task", (), _OF_TASKS))
        asked |= _asked_of_tasks(sheets[-1], given)
    if clusters is not None:
        sheets.append(read(clusters, "cluster", (), _OF_CLUSTERS))
        asked |= _asked_of_clusters(sheets[-1], given)
    found = Asked(**asked)
    return (found if found.any else None), ignored(*sheets)


def _asked_of_tasks(sheet: Sheet, given: MatchTables) -> dict[str, Any]:
    tasks = [str(task) for task in given.times.index]
    lines = _known(sheet, [*tasks, *given.left_out], "task")
    clusters = [str(cluster) for cluster in given.times.columns]

    def column(name: str, without: Any, read_cell: Callable[[Cell], Any]) -> list[Any] | None:
        if not sheet.has(name):
            return None
        cells = [lines[task][name] if task in lines else _NOTHING for task in tasks]
        return [read_cell(cell) if cell.text else without for cell in cells]

    def place(cell: Cell) -> str:
        return checks.one_of(cell.text, cell.where, clusters, "cluster")

    return {
        "sizes": column("size", 1, _whole),
        "pinned": column("pinned", None, place),
        "previous": column("previous", None, place),
        "deadlines": column("deadline", np.inf, lambda cell: cell.number(positive=False)),
        "task_min_success": column("min_success", 0.0, lambda cell: _end(cell, "success", None)),
    }


def _asked_of_clusters(sheet: Sheet, given: MatchTables) -> dict[str, Any]:
    clusters = [str(cluster) for cluster in given.times.columns]
    lines = _known(sheet, clusters, "cluster")
    cells = {
        name: [lines[cluster][name] if cluster in lines else _NOTHING for cluster in clusters]
        for name in _OF_CLUSTERS
        if sheet.has(name)
    }
    asked: dict[str, Any] = {}
    if "slots" in cells:
        asked["slots"] = [_whole(cell) if cell.text else 1 for cell in cells["slots"]]
    if "ready" in cells:
        asked["ready"] = [_ready(cell) for cell in cells["ready"]]
    return asked


def _ready(cell: Cell) -> float | list[float]:
    """Seconds until all slots are free, or those of each; empty is 0."""
    found = [cell._replace(text=text).number(positive=False) for text in cell.text.split()]
    return found if len(found) > 1 else sum(found)


def _whole(cell: Cell) -> float:
    value = cell.number(positive=True)
    if value != int(value):
        raise InputError(
            f"is {cell.text}",
            where=cell.where,
            allowed="a whole number of slots, 1 or more",
            remedy="round it up",
        )
    return value


def _known(sheet: Sheet, labels: Sequence[str], kind: str) -> dict[str, dict[str, Cell]]:
    """The lines of a sheet by their labels, all of which must be of the round."""
    known = dict.fromkeys(labels)
    for line in sheet.lines:
        checks.one_of(line[kind].text, line[kind].where, known, kind)
    return {line[kind].text: line for line in sheet.lines}


def _curves(sheet: Sheet, times: pd.DataFrame) -> Floats:
    """(clusters, counts) ratios, in the order of the clusters of ``times``."""
    counts = [str(k + 1) for k in range(len(sheet.columns) - 1)]
    if list(sheet.columns[1:]) != counts:
        raise InputError(
            f"the columns are {', '.join(sheet.columns)}",
            where=f"{sheet.path}, line 1",
            allowed="cluster, 1, 2, 3, ...",
            remedy="name the columns by the number of tasks",
        )
    wanted = [str(c) for c in times.columns]
    missing = [label for label in wanted if label not in sheet.keys]
    if missing:
        raise InputError(
            f"has no cluster '{missing[0]}'",
            where=str(sheet.path),
            allowed="one line a cluster of the times",
            remedy="add a line for it",
        )
    lines = {line["cluster"].text: line for line in sheet.lines}
    return np.array([[lines[c][k].number(positive=True) for k in counts] for c in wanted])


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
    checks.same_names(
        own,
        wanted,
        str(sheet.path),
        kind,
        allowed=f"the {kind}s of {other}",
        remedy="give both files the same tasks and clusters",
    )
