"""Tasks: what is known of them when they are submitted, and what was measured on clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np
import pandas as pd

from walras import checks
from walras.errors import InputError
from walras.predict.graphs.features import feature_rows
from walras.predict.graphs.graph import TaskGraph
from walras.short_repr import short_repr
from walras.types import Bools, Floats, Longs


@short_repr
@dataclass(frozen=True, eq=False)
class Tasks:
    """N tasks, their features, and their measured times and success on M clusters.

    From an own log of runs, :meth:`walras.predict.TaskLog.tasks` makes them with a frame of
    features.

    Attributes:
        names: Name of each task; length N.
        clusters: Name of each cluster; length M.
        features: (N, d) numbers known at submission.
        times: (M, N) seconds; NaN where a task was never measured.
        success: (M, N) probability, or share of runs that succeeded; NaN where unknown.
        runs: (M, N) number of runs behind ``success``; ones if left out.
        graphs: Task graph of each task, or none.
        feature_names: Name of each feature, or none.

    Raises:
        InputError: Shapes differ, a time is not positive, a success not within 0..1.

    Example:
        >>> from walras.predict import Tasks
        >>> tasks = Tasks(
        ...     names=("lab", "web"), clusters=("a100", "t4"), features=[[2.0], [5.0]],
        ...     times=[[1.0, 2.0], [3.0, 6.0]], success=[[0.9, 0.9], [0.8, 1.0]],
        ... )
        >>> len(tasks), tasks.mean_times()
        (2, array([1.5, 4.5]))
    """

    names: tuple[str, ...]
    clusters: tuple[str, ...]
    features: Floats
    times: Floats
    success: Floats
    runs: Floats = field(default_factory=lambda: np.empty((0, 0)))
    graphs: tuple[TaskGraph, ...] = ()
    feature_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        shape = (len(self.clusters), len(self.names))
        for name in ("features", "times", "success", "runs"):
            array = checks.numeric(getattr(self, name), name, copy=True)
            if name == "runs" and not array.size:
                array = np.ones(shape)
            wanted = (shape[1], *array.shape[1:]) if name == "features" else shape
            if array.ndim != 2 or array.shape != wanted:
                allowed = f"({shape[1]}, any)" if name == "features" else str(wanted)
                _refuse(
                    f"has shape {array.shape}",
                    name,
                    allowed,
                    "one row a cluster, one column a task; features have one row a task",
                )
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        if self.graphs and len(self.graphs) != shape[1]:
            _refuse(f"are {len(self.graphs)}", "graphs", f"{shape[1]}, one a task", "or leave out")
        self._check_values()

    def _check_values(self) -> None:
        checks.within(
            self.features,
            lambda at: f"features[{at[0]}, {at[1]}] (task {self.names[at[0]]})",
            remedy="fill it in or leave the task out",
        )
        self._check("times", (self.times <= 0) | np.isinf(self.times), "> 0 s, NaN where unknown")
        wrong = (self.success < 0) | (self.success > 1) | np.isinf(self.success)
        self._check("success", wrong, "0..1, NaN where unknown")
        self._check("runs", ~(self.runs >= 0) | np.isinf(self.runs), ">= 0")

    def _check(self, name: str, wrong: Bools, allowed: str) -> None:
        def where(at: tuple[int, ...]) -> str:
            task, cluster = self.names[at[1]], self.clusters[at[0]]
            return f"{name}[{at[0]}, {at[1]}] (task {task} on cluster {cluster})"

        remedy = "correct it or leave the run out"
        checks.refuse_first(wrong, getattr(self, name), where, allowed=allowed, remedy=remedy)

    def __len__(self) -> int:
        return len(self.names)

    def mean_times(self) -> Floats:
        """(M,) mean measured seconds of each cluster; NaN where nothing was measured."""
        count = (~np.isnan(self.times)).sum(axis=1)
        total = np.nansum(self.times, axis=1)
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)

    def take(self, columns: Longs) -> Tasks:
        """Select tasks by position.

        Args:
            columns: (k,) positions of the tasks.

        Returns:
            The k tasks.
        """
        return Tasks(
            tuple(self.names[j] for j in columns),
            self.clusters,
            self.features[columns],
            self.times[:, columns],
            self.success[:, columns],
            self.runs[:, columns],
            tuple(self.graphs[j] for j in columns) if self.graphs else (),
            self.feature_names,
        )


def tasks_of(given: object, clusters: Sequence[str], names: Sequence[str]) -> Tasks:
    """Tasks to predict: as they are, or from a frame of features.

    Args:
        given: Tasks; or a frame, one row a task, whose index names the tasks.
        clusters: The clusters that a predictor knows.
        names: Its features' names, by which a frame's columns are taken; in order if it has none.

    Raises:
        InputError: It is neither, a column is missing, or a number is none.
    """
    if not isinstance(given, pd.DataFrame):
        return check_tasks(given, "tasks")
    missing = [name for name in names if name not in given.columns]
    if missing:
        _refuse(
            f"has no column '{missing[0]}'",
            "features",
            ", ".join(names),
            "give the columns that the predictor was trained on",
        )
    labels = [str(name).strip() for name in given.index]
    rows = feature_rows(given[list(names)] if names else given, labels)
    unknown = np.full((len(clusters), len(labels)), np.nan)
    return Tasks(tuple(labels), tuple(clusters), rows, unknown, unknown)


def names_of(features: object) -> tuple[str, ...]:
    """Names of the columns of a frame of features; none where they are not all words."""
    if not isinstance(features, pd.DataFrame):
        return ()
    columns = list(features.columns)
    return tuple(columns) if all(isinstance(name, str) for name in columns) else ()


def check_tasks(given: object, where: str) -> Tasks:
    """What is trained on or predicted, if it is tasks.

    Raises:
        InputError: It is something else.
    """
    remedy = "make them with a recipe, or read_log(path).tasks(features)"
    return checks.of_kind(given, Tasks, where, "a walras.predict.Tasks", remedy=remedy)


def _refuse(what: str, where: str, allowed: str, remedy: str) -> NoReturn:
    raise InputError(what, where=where, allowed=allowed, remedy=remedy)
