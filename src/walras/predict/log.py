"""Logs of finished runs: task, cluster, seconds and outcome, checked row by row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from walras.errors import DataError, EngineError, InputError
from walras.predict.graph import Floats, TaskGraph, closed_form
from walras.predict.tasks import Tasks

COLUMNS = ("task", "cluster", "seconds", "outcome")
OUTCOMES: Mapping[str, bool | None] = {
    "completed": True, "failed": False, "timeout": False, "out_of_memory": False,
    "node_fail": False, "cancelled": None, "preempted": None, "unreachable": None,
}  # fmt: skip
"""Outcome -> success, failure, or neither: what says nothing of the cluster is not counted."""

T = TypeVar("T")
_Way = Literal["median", "mean", "count"]

_PARQUET = (".parquet", ".pq")
_MIXED = 300.0  # times of one task on one cluster do not differ so much, but ms and s do


@dataclass(frozen=True)
class Problem:
    """Rows of a log that cannot be used, for one reason.

    Attributes:
        what: What is wrong, in one sentence.
        rows: Their numbers in the file, from 1, the header not counted.
        allowed: What would be accepted.
        remedy: What to do.
    """

    what: str
    rows: tuple[int, ...]
    allowed: str
    remedy: str

    def __str__(self) -> str:
        shown = ", ".join(map(str, self.rows[:5])) + (", ..." if len(self.rows) > 5 else "")
        plural = "" if len(self.rows) == 1 else "s"
        return (
            f"row{plural} {shown} ({len(self.rows)} row{plural}): {self.what}; "
            f"allowed: {self.allowed}; remedy: {self.remedy}"
        )


@dataclass(frozen=True, eq=False)
class TaskLog:
    """Finished runs.

    Attributes:
        runs: The good rows: ``task``, ``cluster``, ``seconds``, ``outcome``.
        problems: Why other rows were left out, one entry a reason.
        origin: Where it was read.
    """

    runs: pd.DataFrame
    problems: tuple[Problem, ...]
    origin: str

    @property
    def left_out(self) -> int:
        """Number of rows that could not be used."""
        return len({row for problem in self.problems for row in problem.rows})

    @property
    def clusters(self) -> tuple[str, ...]:
        """Every cluster, by name."""
        return tuple(sorted(set(self.runs["cluster"])))

    def tasks(
        self,
        features: pd.DataFrame | None = None,
        graphs: Mapping[str, TaskGraph] | None = None,
    ) -> Tasks:
        """One column a task: median seconds of its completed runs, share of runs that succeeded.

        Cancelled, preempted and unreachable runs count neither for nor against a cluster.

        Args:
            features: One row a task, by name. Without them, those of the graphs.
            graphs: Task graph of each task, by name.

        Raises:
            InputError: A logged task has no features or graph.
        """
        runs = self.runs.assign(success=self.runs["outcome"].map(OUTCOMES).astype(float))
        names = tuple(sorted(set(runs["task"])))
        given = tuple(_found(graphs, name, "graphs") for name in names) if graphs else ()
        if features is not None:
            rows = np.array([_found(_rows(features), name, "features") for name in names])
        elif given:
            rows = closed_form(given)
        else:
            raise InputError(
                "are missing", where="features and graphs", allowed="at least one of the two",
                remedy="give one row of features, or a task graph, for each task",
            )  # fmt: skip
        done = runs[runs["success"] == 1.0]
        counted = runs[runs["success"].notna()]

        def pivot(
            table: pd.DataFrame, column: str, how: Literal["median", "mean", "count"]
        ) -> Floats:
            wide = table.pivot_table(index="cluster", columns="task", values=column, aggfunc=how)
            wide = wide.reindex(index=list(self.clusters), columns=list(names))
            return wide.to_numpy(dtype=np.float64)

        return Tasks(
            names, self.clusters, rows, pivot(done, "seconds", "median"),
            pivot(counted, "success", "mean"), np.nan_to_num(pivot(counted, "success", "count")),
            given,
        )  # fmt: skip


def _rows(features: pd.DataFrame) -> dict[str, Floats]:
    values = features.to_numpy(dtype=np.float64)
    return {str(name): row for name, row in zip(features.index, values, strict=True)}


def _found(table: Mapping[str, T], name: str, where: str) -> T:
    if name not in table:
        raise InputError(
            f"task '{name}' of the log has none", where=where, allowed="one for every logged task",
            remedy="add it, or leave the task out of the log",
        )  # fmt: skip
    return table[name]


def read_log(path: str | Path) -> TaskLog:
    """Read a log from CSV or Parquet and keep its good rows.

    Args:
        path: A file with columns ``task``, ``cluster``, ``seconds`` and ``outcome``.

    Raises:
        DataError: The file is missing, unreadable, lacks a column, or has no good row.
        EngineError: It is Parquet, and pyarrow is not installed.
    """
    path = Path(path)
    try:
        if path.suffix.lower() in _PARQUET:
            _need_pyarrow()
            table = pd.read_parquet(path)
        else:
            table = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, ValueError, UnicodeDecodeError) as error:
        raise _unusable(f"cannot be read: {error}", path) from error
    missing = [name for name in COLUMNS if name not in table.columns]
    if missing:
        raise _unusable(f"has no column '{missing[0]}'", path)
    return check_log(table[list(COLUMNS)], str(path))


def _need_pyarrow() -> None:
    if find_spec("pyarrow") is None:
        raise EngineError(
            "pyarrow is not installed", where="Parquet files", allowed="CSV files without it",
            remedy="pip install 'walras[parquet]'",
        )  # fmt: skip


def _unusable(what: str, path: str | Path) -> DataError:
    return DataError(
        what, where=str(path), allowed=f"CSV or Parquet with columns {', '.join(COLUMNS)}",
        remedy="correct the file; walras data import writes such files",
    )  # fmt: skip


def write_log(runs: pd.DataFrame, path: str | Path) -> None:
    """Write runs as CSV, or as Parquet when the name ends so.

    Raises:
        EngineError: It is Parquet, and pyarrow is not installed.
        OSError: The file cannot be written.
    """
    path = Path(path)
    if path.suffix.lower() in _PARQUET:
        _need_pyarrow()
        runs.to_parquet(path, index=False)
    else:
        runs.to_csv(path, index=False)


def check_log(table: pd.DataFrame, origin: str) -> TaskLog:
    """Check rows; each reason for leaving rows out is told once.

    Args:
        table: Columns ``task``, ``cluster``, ``seconds`` and ``outcome``.
        origin: What errors call it.

    Raises:
        DataError: No row is good.
    """
    written = table.astype(object).where(table.notna(), "").astype(str)
    written = written.apply(lambda column: column.str.strip())
    text, names = written["seconds"], written[["task", "cluster"]]
    seconds = pd.to_numeric(text, errors="coerce").to_numpy(dtype=np.float64)
    outcome = written["outcome"].str.lower()
    nameless = (names == "").any(axis=1).to_numpy()
    unit = text.str.fullmatch(r"[-+\d.eE]+\s*[a-zA-Zµ]+").to_numpy(dtype=bool) & np.isnan(seconds)
    unknown = ~outcome.isin(list(OUTCOMES)).to_numpy()
    # Only completed runs are timed by us: another may have none, or have ended at once.
    done = (outcome == "completed").to_numpy()
    timed = done | (text != "").to_numpy()
    wrong = timed & ((seconds < 0) | np.isinf(seconds)) | done & (seconds == 0)
    checks: list[tuple[npt.NDArray[np.bool_], str, str, str]] = [
        (nameless, "task or cluster is empty", "a name each", "fill it in"),
        (unit, "seconds carry a unit", "plain numbers, in seconds", "convert to seconds"),
        (timed & np.isnan(seconds) & ~unit, "seconds are missing or not a number",
         "numbers > 0", "fill them in, or leave the run out"),
        (wrong, "seconds are not positive and finite", "numbers > 0", "correct them"),
        (unknown, f"unknown outcome {_some(outcome[unknown])}", ", ".join(OUTCOMES),
         "translate it into one of these words"),
    ]  # fmt: skip
    bad = np.logical_or.reduce([check[0] for check in checks])
    completed = ~bad & (outcome == "completed").to_numpy()
    mixed = _mixed_units(names, seconds, completed)
    checks.append(
        (mixed, f"times of one task on one cluster differ over {_MIXED:g}-fold: mixed units?",
         "all times in seconds", "convert milliseconds and minutes to seconds")
    )  # fmt: skip
    good = ~bad & ~mixed
    problems = tuple(
        Problem(what, tuple((np.flatnonzero(rows) + 1).tolist()), allowed, remedy)
        for rows, what, allowed, remedy in checks
        if rows.any()
    )
    if not good.any():
        reasons = "; ".join(map(str, problems)) or "it has no rows"
        raise _unusable(f"has no usable row: {reasons}", origin)
    kept = names[good].assign(seconds=seconds[good], outcome=outcome[good])
    return TaskLog(kept.reset_index(drop=True), problems, origin)


def _some(values: pd.Series) -> str:
    found = sorted(set(values))
    return ", ".join(f"'{v}'" for v in found[:3]) + (", ..." if len(found) > 3 else "")


def _mixed_units(
    names: pd.DataFrame, seconds: Floats, completed: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """All completed runs of a task on a cluster whose times differ as milliseconds and seconds."""
    table = names.assign(seconds=np.where(completed, seconds, np.nan))
    grouped = table.groupby(["task", "cluster"])["seconds"]
    ratio = grouped.transform("max") / grouped.transform("min")
    return completed & (ratio > _MIXED).to_numpy(dtype=bool)
