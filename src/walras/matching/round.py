"""A round: tasks to place, clusters to place them on, and what is known of each pair."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from walras import checks
from walras.errors import InfeasibleError, InputError
from walras.matching.asked import Asked, allowed
from walras.matching.speedup import Speedup, zeta_table
from walras.matching.terms import Terms
from walras.short_repr import short_repr
from walras.types import Bools, Floats

Table = npt.ArrayLike | pd.DataFrame

FLOOR_ROUNDING = 1e-9  # a mean success this far below the floor still meets it
_EPS = float(np.finfo(np.float64).eps)


def success_wanted(floor: Floats | float, n: int, *, is_hard: bool) -> Floats:
    """The sum of n chances that a floor of their mean asks for.

    It is lowered by the rounding of such a sum: a large price of what is missing would otherwise
    make chances that are as they should be cost more than all times together.

    Args:
        floor: Of the mean, any shape.
        n: Number of tasks.
        is_hard: Whether the floor has no price: a mean that is a little below still meets it.
    """
    wanted = n * (np.asarray(floor) - (FLOOR_ROUNDING if is_hard else 0.0))
    return np.asarray(wanted - n * n * _EPS)


def missing_success(floor: Floats | float, mean: Floats, n: int) -> Floats:
    """What means of n chances lack of a floor; 0 where that is within what is not counted.

    Args:
        floor: Of the means.
        mean: The means, any shape.
        n: Number of tasks.
    """
    lacking = np.asarray(floor) - mean
    return np.asarray(np.where(lacking > FLOOR_ROUNDING + n * _EPS, lacking, 0.0))


@short_repr
@dataclass(frozen=True, eq=False)
class Round:
    """One round of matching, checked when built; see :meth:`of` for tables and labels.

    Attributes:
        times: (clusters, tasks) seconds, or any unit, of a task on a cluster; > 0, and ``inf``
            where the cluster cannot run the task.
        success: (clusters, tasks) chance that the task succeeds there, 0 to 1.
        min_success: The floor: least mean of the chances over tasks, 0 to 1.
        zeta: (clusters, tasks + 1) ratio of the time together, by the number of tasks.
        shortfall_price: None for a hard floor; else what a unit of mean success below the floor
            costs, in the unit of the times (elastic).
        clusters: (clusters,) labels.
        tasks: (tasks,) labels.
        times_interval: (2, clusters, tasks) lower and upper ends, or None.
        success_interval: (2, clusters, tasks), or None.
        terms: Slots, deadlines and the like, or None. The times of pairs that they bar are ``inf``.

    Raises:
        InputError: A shape, number or label cannot be used; names the first.
        InfeasibleError: No placement reaches a hard floor; names the best that can be reached.

    Example:
        >>> from walras.matching import Round
        >>> tasks = Round.of([[3, 2, 4], [2, 3, 3]], [[0.9, 0.9, 0.9], [0.8, 0.9, 0.7]])
        >>> tasks.shape, round(tasks.best_success, 3)
        ((2, 3), 0.9)
    """

    times: Floats
    success: Floats
    min_success: float
    zeta: Floats
    shortfall_price: float | None = None
    clusters: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    times_interval: Floats | None = field(default=None, repr=False)
    success_interval: Floats | None = field(default=None, repr=False)
    terms: Terms | None = None

    def __post_init__(self) -> None:
        check_rounds(self.times, self.success, self.pair_name)
        check_floor(self.min_success, self.shortfall_price)
        best, n = self.best_success, self.times.shape[1]
        wanted = success_wanted(self.min_success, n, is_hard=True)
        if self.shortfall_price is None and n * best < wanted:
            within = "" if self.terms is None else " within the terms of tasks and clusters"
            raise InfeasibleError(
                f"no placement{within} reaches a mean success of {self.min_success:g}",
                where="min_success",
                allowed=f"at most {best:.6g}, each task on its safest cluster",
                remedy="lower the floor, or give shortfall_price to pay for what is missing",
            )

    @classmethod
    def of(
        cls,
        times: Table,
        success: Table,
        min_success: float = 0.8,
        speedup: Speedup | None = None,
        *,
        shortfall_price: float | None = None,
        clusters: Sequence[str] | None = None,
        tasks: Sequence[str] | None = None,
        times_interval: npt.ArrayLike | None = None,
        success_interval: npt.ArrayLike | None = None,
        asked: Asked | None = None,
    ) -> Round:
        """Make a round from arrays or labelled tables.

        Args:
            times: (clusters, tasks), > 0, ``inf`` where a cluster cannot run a task; a DataFrame's
                index and columns become the labels.
            success: (clusters, tasks) chances, 0 to 1; a DataFrame is matched to the labels of
                ``times``.
            min_success: Least mean chance of success over the tasks.
            speedup: See :data:`walras.matching.Speedup`.
            shortfall_price: Price of a unit of missing mean success, or None for a hard floor.
            clusters: Labels of the clusters, distinct.
            tasks: Labels of the tasks, distinct.
            times_interval: (2, clusters, tasks) ends of an interval around each time.
            success_interval: (2, clusters, tasks) likewise around each chance.
            asked: Slots, deadlines and the like; see :func:`walras.matching.match`.

        Returns:
            The round, checked.

        Raises:
            InputError: See :class:`Round`; or labels that do not agree.
            InfeasibleError: See :class:`Round`.
        """
        if isinstance(times, pd.DataFrame):
            clusters = clusters or [str(label) for label in times.index]
            tasks = tasks or [str(label) for label in times.columns]
        seconds = matrix(times, "times")
        m, n = seconds.shape
        rows = _labels(clusters, m, "clusters")
        columns = _labels(tasks, n, "tasks")
        if isinstance(success, pd.DataFrame):
            success = _aligned(success, rows, columns)
        found = cls(
            seconds,
            matrix(success, "success"),
            float(min_success),
            zeta_table(speedup, m, n),
            None if shortfall_price is None else float(shortfall_price),
            rows,
            columns,
            _interval(times_interval, (m, n), "times_interval", rows, columns),
            _interval(success_interval, (m, n), "success_interval", rows, columns),
        )
        return found if asked is None or not asked.any else found.under(asked, speedup)

    def under(self, asked: Asked, speedup: Speedup | None = None) -> Round:
        """The round with terms: what they bar has a time of ``inf``.

        Args:
            asked: Slots, deadlines and the like; see :func:`walras.matching.match`.
            speedup: What was given; terms are for clusters that share their slots among tasks.

        Returns:
            The round, checked.

        Raises:
            InputError: A number, shape or label of the terms cannot be used.
            InfeasibleError: A task is left no cluster, or no placement reaches a hard floor.
        """
        if speedup is not None:
            raise InputError(
                "is given with slots, ready, pins, deadlines or the like",
                where="speedup",
                allowed="None there: tasks share a cluster by its slots",
                remedy="leave speedup out, or state the clusters by it alone",
            )
        names = self.clusters, self.tasks
        terms = asked.terms(self.shape, names)
        may = allowed(terms, self.times, self.success, names)
        return replace(self, times=np.where(may, self.times, np.inf), terms=terms)

    @property
    def shape(self) -> tuple[int, int]:
        """(clusters, tasks)."""
        return self.times.shape[0], self.times.shape[1]

    @property
    def runs_together(self) -> bool:
        """Whether some cluster runs several tasks in other than the sum of their times."""
        return bool(np.any(self.zeta[:, 1:] != 1.0))

    @cached_property
    def usable(self) -> Bools:
        """(clusters, tasks) True where the cluster can run the task."""
        return np.isfinite(self.times)

    @cached_property
    def best_success(self) -> float:
        """Mean success with each task on its safest cluster: no floor above it can be met."""
        return float(np.where(self.usable, self.success, 0.0).max(axis=0).mean())

    def cluster_name(self, i: int) -> str:
        """A cluster's label, or its number where it has none.

        Args:
            i: The cluster's number.

        Returns:
            The name that messages use.
        """
        return self.clusters[i] if self.clusters else f"cluster {i}"

    def task_name(self, j: int) -> str:
        """A task's label, or its number where it has none.

        Args:
            j: The task's number.

        Returns:
            The name that messages use.
        """
        return self.tasks[j] if self.tasks else f"task {j}"

    def pair_name(self, at: tuple[int, ...]) -> str:
        """The name of a (cluster, task) pair, or of a task alone, in error messages.

        Args:
            at: (cluster, task), or (task,).

        Returns:
            The words that messages use.
        """
        if len(at) == 1:
            return f"[{self.task_name(at[0])}]"
        return f"[{self.cluster_name(at[0])}, {self.task_name(at[1])}]"


def matrix(given: object, name: str, *, dimensions: int = 2) -> Floats:
    """Numbers as a contiguous float64 array.

    Raises:
        InputError: Not numeric, not of so many dimensions, or empty.
    """
    found = np.ascontiguousarray(checks.numeric(given, name))
    if found.ndim != dimensions or not found.size:
        shape = "(rounds, clusters, tasks)" if dimensions == 3 else "(clusters, tasks)"
        raise InputError(
            f"has shape {found.shape}",
            where=name,
            allowed=f"{shape}, at least one of each",
            remedy="give one row a cluster and one column a task",
        )
    return found


def check_rounds(
    times: Floats, success: Floats, name: Callable[[tuple[int, ...]], str] = str
) -> None:
    """Check times and chances of success of one or many rounds.

    Args:
        times: (..., clusters, tasks).
        success: (..., clusters, tasks).
        name: Names the entry at an index.

    Raises:
        InputError: The first number that cannot be used, or a task that no cluster runs.
    """
    remedy = "give both one row a cluster and one column a task"
    checks.shaped(success, times.shape, "success", "as times", remedy=remedy)
    remedy = "correct it, or leave the task out"
    checks.within(
        times,
        lambda at: f"times{name(at)}",
        high=np.inf,
        above=0.0,
        words="; inf where the cluster cannot run the task",
        remedy=remedy,
    )
    checks.within(success, lambda at: f"success{name(at)}", 0.0, 1.0, remedy=remedy)
    alone: Bools = ~np.any(np.isfinite(times), axis=-2)
    checks.refuse_first(
        alone,
        alone,
        lambda at: f"times{name(at)}",
        what="no cluster can run the task",
        allowed="a finite time on at least one cluster",
        remedy="leave the task out of the round, or add a cluster that runs it",
    )


def check_floor(min_success: float, shortfall_price: float | None) -> None:
    """Check the floor and its price.

    Raises:
        InputError: A number is outside its range.
    """
    remedy = "it is the mean chance of success over the tasks"
    checks.number(min_success, "min_success", 0.0, 1.0, remedy=remedy)
    if shortfall_price is not None:
        remedy = "None makes the floor hard"
        checks.number(shortfall_price, "shortfall_price", 0.0, words=", or None", remedy=remedy)


def _labels(given: Sequence[str] | None, count: int, name: str) -> tuple[str, ...]:
    if given is None:
        return ()
    return checks.distinct(given, name, count=count)


def _aligned(frame: pd.DataFrame, rows: tuple[str, ...], columns: tuple[str, ...]) -> pd.DataFrame:
    named = frame.set_axis([str(v) for v in frame.index], axis=0)
    named = named.set_axis([str(v) for v in named.columns], axis=1)
    if not rows or not columns:
        return named
    for side, own, wanted in (
        ("cluster", named.index, rows),
        ("task", named.columns, columns),
    ):
        checks.same_names(
            list(own),
            wanted,
            "success",
            side,
            allowed=f"the {len(wanted)} {side}s of times",
            remedy="give both tables the same labels",
        )
    return named.loc[list(rows), list(columns)]


def _interval(
    given: npt.ArrayLike | None,
    shape: tuple[int, int],
    name: str,
    rows: tuple[str, ...],
    columns: tuple[str, ...],
) -> Floats | None:
    if given is None:
        return None
    found = matrix(given, name, dimensions=3)
    words, remedy = "lower ends, then upper ends", "stack the two arrays: np.stack([lower, upper])"
    checks.shaped(found, (2, *shape), name, words, remedy=remedy)
    wrong = np.argwhere(~(found[0] <= found[1]))
    if len(wrong):
        i, j = wrong[0]
        low, high = found[:, i, j]
        pair = f"{rows[i] if rows else f'cluster {i}'}, {columns[j] if columns else f'task {j}'}"
        raise InputError(
            f"is {low:g} to {high:g}",
            where=f"{name}[{pair}]",
            allowed="a lower end, then an upper end that is not below it",
            remedy=f"exchange or correct the ends; {len(wrong)} such entries",
        )
    return found
