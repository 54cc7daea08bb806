"""Logs of finished runs: task, cluster, seconds and outcome, checked row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from walras.errors import DataError, InputError
from walras.extras import need_pyarrow
from walras.files import PARQUET, check_target, reason_of, replacing, write_csv
from walras.predict.graphs.features import Features, feature_rows, found
from walras.predict.graphs.graph import TaskGraph, closed_form
from walras.predict.logs.parquet import read_parquet
from walras.predict.logs.text import read_csv
from walras.predict.tasks import Tasks, names_of
from walras.short_repr import short_repr
from walras.types import Bools, Floats

COLUMNS = ("task", "cluster", "seconds", "outcome")
OUTCOMES: Mapping[str, bool | None] = {
    "completed": True,
    "failed": False,
    "timeout": False,
    "out_of_memory": False,
    "node_fail": False,
    "cancelled": None,
    "preempted": None,
    "unreachable": None,
}
"""Outcome -> success, failure, or neither: what says nothing of the cluster is not counted."""

TABLES = (".csv", *PARQUET)
"""Endings of the files that :func:`write_log` writes."""

_MIXED = 300.0  # times of one task on one cluster seldom differ so much, but ms and s do


@dataclass(frozen=True)
class Problem:
    """Rows of a log that cannot be used, or whose time cannot, for one reason.

    Attributes:
        what: What is wrong, in one sentence.
        rows: Their numbers in the file, from 1, the header not counted.
        allowed: What would be accepted.
        remedy: What to do.
        kept: Whether the rows are kept: their outcome counts, and their time is left missing.
    """

    what: str
    rows: tuple[int, ...]
    allowed: str
    remedy: str
    kept: bool = False

    def __str__(self) -> str:
        shown = ", ".join(map(str, self.rows[:5])) + (", ..." if len(self.rows) > 5 else "")
        plural = "" if len(self.rows) == 1 else "s"
        kept = ", outcome counted, time left missing" if self.kept else ""
        return (
            f"row{plural} {shown} ({len(self.rows)} row{plural}){kept}: {self.what}; "
            f"allowed: {self.allowed}; remedy: {self.remedy}"
        )


@short_repr
@dataclass(frozen=True, eq=False)
class TaskLog:
    r"""A log of finished runs.

    Attributes:
        runs: A frame of the good rows: ``task``, ``cluster``, ``seconds``, ``outcome``. A time that
            is missing or cannot be used is NaN.
        problems: Why rows, or their times, were left out; one entry per reason.
        origin: The file it was read from.

    Example:
        >>> from pathlib import Path
        >>> from walras.predict import read_log
        >>> rows = ["task,cluster,seconds,outcome", "lab,a100,12,completed", "lab,t4,30,failed"]
        >>> _ = Path("runs.csv").write_text("\n".join(rows))
        >>> log = read_log("runs.csv")
        >>> log.clusters, log.left_out
        (('a100', 't4'), 0)
    """

    runs: pd.DataFrame
    problems: tuple[Problem, ...]
    origin: str

    @property
    def left_out(self) -> int:
        """Number of rows that could not be used."""
        return len({row for problem in self.problems if not problem.kept for row in problem.rows})

    @property
    def untimed(self) -> int:
        """Number of rows whose outcome counts though their time cannot be used."""
        return len({row for problem in self.problems if problem.kept for row in problem.rows})

    @property
    def clusters(self) -> tuple[str, ...]:
        """Every cluster, by name."""
        return tuple(sorted(self.runs["cluster"].unique()))

    def tasks(
        self, features: Features | None = None, graphs: Mapping[str, TaskGraph] | None = None
    ) -> Tasks:
        """Summarise the runs of each task: median seconds and share of successes per cluster.

        The median is over completed runs. Cancelled, preempted and unreachable runs do not count.
        A run without a time counts by its outcome.

        Args:
            features: One row a task, by name: a frame, or a mapping of the name to numbers.
                Without them, those of the graphs.
            graphs: Task graph of each task, by name.

        Returns:
            One column per task, ready for :func:`fit`.

        Raises:
            InputError: A logged task has no features or graph, or two rows of features, or a
                feature is no finite number.
        """
        names, clusters = tuple(sorted(self.runs["task"].unique())), self.clusters
        given = _graphs(graphs, names)
        if features is not None:
            rows = feature_rows(features, names)
        elif given:
            rows = closed_form(given)
        else:
            raise InputError(
                "are missing",
                where="features and graphs",
                allowed="at least one of the two",
                remedy="give one row of features, or a task graph, for each task",
            )
        success = self.runs["outcome"].map(OUTCOMES).astype(float)
        cells = pd.MultiIndex.from_product([clusters, names])

        def wide(grouped: pd.Series) -> Floats:
            found = grouped.reindex(cells).to_numpy(dtype=np.float64)
            return found.reshape(len(clusters), len(names))

        by = [self.runs["cluster"], self.runs["task"]]
        completed = self.runs["seconds"].where(success == 1.0)
        outcomes = success.groupby(by)
        return Tasks(
            names,
            clusters,
            rows,
            wide(completed.groupby(by).median()),
            wide(outcomes.mean()),
            np.nan_to_num(wide(outcomes.count())),
            given,
            names_of(features),
        )


def _graphs(graphs: object, names: Sequence[str]) -> tuple[TaskGraph, ...]:
    if graphs is None:
        return ()
    if not isinstance(graphs, Mapping):
        raise InputError(
            f"are a {type(graphs).__name__}",
            where="graphs",
            allowed="task graphs by name",
            remedy="pass a dictionary of the task's name to its graph",
        )
    return tuple(found(graphs, name, "graphs") for name in names)


def read_log(path: str | Path | pd.DataFrame) -> TaskLog:
    r"""Read a log from CSV or Parquet, or take it from a frame, and keep its good rows.

    Args:
        path: A file, or a frame, with columns ``task``, ``cluster``, ``seconds`` and ``outcome``.

    Returns:
        The log, with the reasons for rows that were left out.

    Raises:
        DataError: The file is missing, unreadable, lacks a column, or has no good row.
        EngineError: It is Parquet, and pyarrow is not installed.

    Example:
        >>> from pathlib import Path
        >>> from walras.predict import read_log
        >>> rows = ["task,cluster,seconds,outcome", "lab,a100,12,completed", "lab,t4,30,failed"]
        >>> _ = Path("runs.csv").write_text("\n".join(rows))
        >>> tasks = read_log("runs.csv").tasks({"lab": [2.0]})
        >>> tasks.clusters, tasks.success.tolist()
        (('a100', 't4'), [[1.0], [0.0]])
    """
    if isinstance(path, pd.DataFrame):
        return check_log(_columns(path, "the frame"), "the frame")
    path = Path(path)
    numbers: Sequence[int] | None = None
    ragged: tuple[int, ...] = ()
    try:
        if path.suffix.lower() in PARQUET:
            table = read_parquet(path)
        else:
            lines = read_csv(path, COLUMNS)
            table = pd.DataFrame(lines.rows, columns=list(lines.header), dtype=str)
            numbers, ragged = lines.numbers, lines.ragged
    except (OSError, ValueError) as error:
        raise _unusable(f"cannot be read: {reason_of(error)}", path) from error
    return check_log(_columns(table, path), str(path), numbers=numbers, ragged=ragged)


def _columns(table: pd.DataFrame, path: str | Path) -> pd.DataFrame:
    """The columns of a log, each there once."""
    for name in COLUMNS:
        count = list(table.columns).count(name)
        if count != 1:
            raise _unusable(f"has {'no' if not count else 'more than one'} column '{name}'", path)
    return table[list(COLUMNS)]


def _unusable(what: str, path: str | Path) -> DataError:
    return DataError(
        what,
        where=str(path),
        allowed=f"CSV or Parquet with columns {', '.join(COLUMNS)}",
        remedy="correct the file; walras data import writes such files",
    )


def write_log(runs: pd.DataFrame, path: str | Path) -> None:
    """Write runs as CSV or Parquet, as the name ends.

    Raises:
        InputError: The name ends otherwise.
        EngineError: It is Parquet, and pyarrow is not installed.
        DataError: The file cannot be written.
    """
    path = Path(path)
    check_target(path, "path", TABLES)
    if path.suffix.lower() in PARQUET:
        need_pyarrow()
        with replacing(path) as fresh:
            runs.to_parquet(fresh, index=False)
    else:
        write_csv(path, runs)


def check_log(
    table: pd.DataFrame,
    origin: str,
    *,
    numbers: Sequence[int] | None = None,
    ragged: Sequence[int] = (),
    one_unit: bool = False,
) -> TaskLog:
    """Check rows; each reason for leaving rows, or their times, out is reported once.

    A row with a name and a known outcome is kept: shares of successes are counted over all of
    them, whether or not a time can be used.

    Args:
        table: Columns ``task``, ``cluster``, ``seconds`` and ``outcome``.
        origin: What errors call it.
        numbers: Number of each row in the file; from 1 when left out.
        ragged: Numbers of further rows, whose cells do not fit the header.
        one_unit: Whether all times are known to be seconds, however far apart.

    Raises:
        DataError: No row is good.
    """
    written = table.astype(object).where(table.notna(), "").astype(str)
    written = written.apply(lambda column: column.str.strip())
    names, outcome = written[["task", "cluster"]], written["outcome"].str.lower()
    nameless = (names == "").any(axis=1).to_numpy()
    unknown = ~outcome.isin(list(OUTCOMES)).to_numpy()
    good = ~nameless & ~unknown
    seconds, untimed = _seconds(written, good, one_unit)
    row = np.arange(1, len(table) + 1) if numbers is None else np.asarray(numbers, dtype=np.int64)
    left_out: list[tuple[Sequence[int], str, str, str]] = [
        (row[nameless], "task or cluster is empty", "a name each", "fill it in"),
        (
            row[unknown],
            f"unknown outcome {_some(outcome[unknown])}",
            ", ".join(OUTCOMES),
            "translate it into one of these words",
        ),
        (
            ragged,
            "more or fewer fields than the header: a name may hold the delimiter",
            "one value a field",
            "quote the name, or choose a delimiter that no name holds",
        ),
    ]
    problems = [
        Problem(what, tuple(map(int, rows)), allowed, remedy)
        for rows, what, allowed, remedy in left_out
        if len(rows)
    ]
    if not good.any():
        raise _unusable(
            f"has no usable row: {'; '.join(map(str, problems)) or 'it has no rows'}", origin
        )
    problems += [
        Problem(what, tuple(row[rows].tolist()), allowed, remedy, kept=True)
        for rows, what, allowed, remedy in untimed
        if rows.any()
    ]
    runs = names.assign(seconds=seconds, outcome=outcome)[good]
    return TaskLog(runs.reset_index(drop=True), tuple(problems), origin)


def _seconds(
    written: pd.DataFrame, good: Bools, one_unit: bool
) -> tuple[Floats, list[tuple[Bools, str, str, str]]]:
    """Times, NaN where they are missing or cannot be used, and which of the good rows cannot."""
    text = written["seconds"]
    seconds = pd.to_numeric(text, errors="coerce").to_numpy(dtype=np.float64, copy=True)
    unit = np.isnan(seconds)
    unit[unit] = text[unit].str.fullmatch(r"[-+\d.eE]+\s*[a-zA-Zµ]+").to_numpy(dtype=bool)
    # Only completed runs are timed by us: another may have none, or have ended at once.
    done = (written["outcome"].str.lower() == "completed").to_numpy()
    timed = done | (text != "").to_numpy()
    wrong = timed & ((seconds < 0) | np.isinf(seconds)) | done & (seconds == 0)
    missing = timed & np.isnan(seconds) & ~unit
    seconds[wrong] = np.nan
    mixed = np.zeros(len(text), dtype=bool)
    if not one_unit:
        mixed = _mixed_units(written, np.where(done & good, seconds, np.nan))
        seconds[mixed] = np.nan
    reasons = [
        (unit, "seconds carry a unit", "plain numbers, in seconds", "convert to seconds"),
        (missing, "seconds are missing or not a number", "numbers > 0", "fill them in"),
        (wrong, "seconds are not positive and finite", "numbers > 0", "correct them"),
        (
            mixed,
            f"times of one task on one cluster differ over {_MIXED:g}-fold: mixed units?",
            "all times in seconds",
            "convert milliseconds and minutes to seconds",
        ),
    ]
    return seconds, [(rows & good, *words) for rows, *words in reasons]


def _some(values: pd.Series) -> str:
    found = sorted(set(values))
    return ", ".join(f"'{v}'" for v in found[:3]) + (", ..." if len(found) > 3 else "")


def _mixed_units(names: pd.DataFrame, seconds: Floats) -> Bools:
    """Times that lie far from their median, where those of a task on a cluster spread too far.

    A median is not moved by some outliers. Where half of the times are milliseconds and half are
    seconds, it lies between, and all are far from it.
    """
    log = pd.Series(np.log(seconds), index=names.index)
    grouped = log.groupby([names["task"], names["cluster"]])
    spread = grouped.transform("max") - grouped.transform("min")
    away = (log - grouped.transform("median")).abs()
    limit = np.log(_MIXED)
    return np.asarray((spread > limit) & (away > limit / 2.0), dtype=np.bool_)
