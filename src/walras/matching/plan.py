"""A plan: which task goes where, how good that is, and why."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from walras.deprecated import renamed_attribute
from walras.errors import InputError
from walras.matching.explain import Moves, below_floor, moves_of, reason
from walras.matching.metrics import Outcome, outcome_of, value_of
from walras.matching.model import relaxation
from walras.matching.round import Round
from walras.saving import save
from walras.solution import Solution
from walras.solving import solve
from walras.status import Status
from walras.types import Floats, Ints

Interval = tuple[float, float]

_SLOWEST = 1e-9  # relative; clusters this near to the makespan are the slowest, too
_AT_FLOOR = 1e-3  # a mean success this near to the floor cannot move far


@dataclass(frozen=True)
class Placement:
    """The cluster of one task, the best alternative, and the reason for the choice.

    Attributes:
        task: The task's label.
        cluster: The label of its cluster.
        time: Predicted time there.
        success: Predicted chance of success there.
        runner_up: The best other cluster: it keeps the floor and gives the least makespan, then
            the least time. None when no other cluster runs the task.
        runner_up_time: Predicted time there.
        runner_up_success: Predicted chance there.
        makespan_if_moved: The plan's makespan with the task at the runner-up.
        success_if_moved: The plan's mean success then.
        reason: Why the task is not on a quicker cluster, in words.
        reason_code: The reason as a code: ``only``, ``best``, ``quickest``, ``full``, ``floor``,
            ``no gain``, ``pinned`` or ``deadline``; see :class:`walras.matching.Reason`.
        breaks_floor: Whether moving it to the runner-up would break the floor of mean success.
        time_interval: Ends of the interval around ``time``; None where the round has none.
        success_interval: Ends of the interval around ``success``; None where there is none.

    Example:
        >>> from walras.matching import match
        >>> plan = match([[3, 2, 4], [2, 3, 3]], [[0.9, 0.9, 0.9], [0.8, 0.9, 0.7]])
        >>> move = plan.explain(2)
        >>> move.cluster, move.runner_up, move.makespan_if_moved, move.reason_code
        ('cluster 1', 'cluster 0', 6.0, 'quickest')
    """

    task: str
    cluster: str
    time: float
    success: float
    runner_up: str | None
    runner_up_time: float
    runner_up_success: float
    makespan_if_moved: float
    success_if_moved: float
    reason: str
    reason_code: str = ""
    breaks_floor: bool = False
    time_interval: Interval | None = None
    success_interval: Interval | None = None


@dataclass(frozen=True, eq=False)
class Plan:
    """An assignment of a round's tasks to clusters.

    Every figure is computed from the round and ``assignment``.

    Attributes:
        round: The round that was matched.
        assignment: (tasks,) cluster of each task.
        bound: Lower bound on the objective of every placement.
        method: The method that found it, in words.
        tolerance: The relative gap asked for.
        status: ``optimal`` when the gap is within the tolerance, else why the search stopped.
        seconds: Wall time.

    Example:
        >>> from walras.matching import match
        >>> plan = match([[3, 2, 4], [2, 3, 3]], [[0.9, 0.9, 0.9], [0.8, 0.9, 0.7]])
        >>> plan.makespan, round(plan.mean_success, 3), plan.loads
        (5.0, 0.8, array([2., 5.]))
        >>> print(plan.frame()[["task", "cluster", "time", "reason_code"]].to_string(index=False))
          task   cluster  time reason_code
        task 0 cluster 1   2.0    quickest
        task 1 cluster 0   2.0        best
        task 2 cluster 1   3.0    quickest
    """

    round: Round
    assignment: Ints
    bound: float
    method: str
    tolerance: float
    status: Status
    seconds: float

    @cached_property
    def outcome(self) -> Outcome:
        """Loads, makespan, mean success, utilisation and shortfall."""
        return outcome_of(self.round, self.assignment)

    @property
    def loads(self) -> Floats:
        """(clusters,) time each cluster takes; with terms, seconds until it has ended."""
        return self.outcome.loads

    @property
    def makespan(self) -> float:
        """Time of the slowest cluster."""
        return float(self.outcome.makespan)

    @property
    def mean_success(self) -> float:
        """Mean chance of success over the tasks."""
        return float(self.outcome.mean_success)

    @property
    def value(self) -> float:
        """What is minimised: the makespan, and what missing success and moves cost."""
        return value_of(self.round, self.assignment, self.outcome)

    objective = renamed_attribute("Plan.objective", "value")

    @property
    def gap(self) -> float:
        """How far the value can be from the best, relative to it."""
        return max(self.value - self.bound, 0.0) / self.value

    @property
    def utilisation(self) -> float:
        """Time that clusters work over clusters times makespan."""
        return float(self.outcome.utilisation)

    @cached_property
    def relaxation(self) -> Solution:
        """The linear relaxation of the round, solved when first asked for; it holds the prices."""
        return solve(relaxation(self.round, end=self.makespan), tolerance=1e-6)

    @property
    def floor_price(self) -> float:
        """The former name of :attr:`floor_price_estimate`."""
        warnings.warn(
            "Plan.floor_price is an estimate and is called floor_price_estimate now",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.floor_price_estimate

    @property
    def floor_price_estimate(self) -> float:
        """What a unit more of ``min_success`` adds to the makespan of the linear relaxation.

        An estimate for whole tasks, whose makespan moves in steps: it can stay where the relaxation
        rises, and jump by several times this price. What a floor costs exactly is
        ``match(times, success, floor).makespan`` less the plan's.
        """
        if self.round.min_success == 0.0:
            return 0.0
        return abs(float(self.relaxation.prices["floor"][0])) * self.round.shape[1]

    @property
    def binding(self) -> tuple[str, ...]:
        """What keeps the plan from being quicker, in words: the slowest clusters, the floor."""
        r = self.round
        slowest = np.flatnonzero(self.loads >= self.makespan * (1.0 - _SLOWEST))
        found = [f"{r.cluster_name(int(i))} takes {self.makespan:.6g}" for i in slowest]
        spare = self.mean_success - r.min_success
        if r.min_success > 0 and spare < _AT_FLOOR:
            state = "is at" if spare > -_AT_FLOOR / 100 else "is below"
            found.append(
                f"mean success {self.mean_success:.6g} {state} the floor {r.min_success:g}"
            )
        return tuple(found)

    @cached_property
    def _moves(self) -> Moves:
        return moves_of(self.round, self.assignment, self.outcome)

    def explain(self, task: str | int) -> Placement:
        """Where a task goes, what the plan would be with it elsewhere, and why it is not there.

        Args:
            task: The task's label or its number.

        Returns:
            The placement of the task.

        Raises:
            InputError: There is no such task.
        """
        r, j = self.round, self._task(task)
        i, k = int(self.assignment[j]), int(self._moves.runner_up[j])
        other: dict[str, Any] = dict.fromkeys(
            ("runner_up_time", "runner_up_success", "makespan_if_moved", "success_if_moved"), np.nan
        )
        if k >= 0:
            other = {
                "runner_up_time": float(r.times[k, j]),
                "runner_up_success": float(r.success[k, j]),
                "makespan_if_moved": float(self._moves.makespan[k, j]),
                "success_if_moved": float(self._moves.mean_success[k, j]),
            }
        code, words = reason(r, self._moves, self.outcome, i, j)
        after = float(self._moves.mean_success[k, j])
        return Placement(
            task=r.task_name(j),
            cluster=r.cluster_name(i),
            time=float(r.times[i, j]),
            success=float(r.success[i, j]),
            runner_up=None if k < 0 else r.cluster_name(k),
            reason=words,
            reason_code=str(code),
            breaks_floor=k >= 0 and below_floor(r, after, self.outcome),
            time_interval=_ends(r.times_interval, i, j),
            success_interval=_ends(r.success_interval, i, j),
            **other,
        )

    def _task(self, task: str | int) -> int:
        names, n = self.round.tasks, self.round.shape[1]
        if isinstance(task, str):
            shown = names or [self.round.task_name(j) for j in range(n)]
            if task in shown:
                return shown.index(task)
        if isinstance(task, int | np.integer) and -n <= task < n:
            return int(task) % n
        raise InputError(
            f"there is no task {task!r}",
            where="explain",
            allowed=f"0 to {n - 1}, or a task's name",
            remedy="plan.frame() has the names",
        )

    def placements(self) -> list[Placement]:
        """:meth:`explain` of every task."""
        return [self.explain(j) for j in range(self.round.shape[1])]

    def frame(self) -> pd.DataFrame:
        """One row a task: the fields of :class:`Placement`, intervals as two columns each."""
        rows = []
        for found in self.placements():
            row = dict(vars(found))
            for name in ("time", "success"):
                ends = row.pop(f"{name}_interval")
                row[f"{name}_low"], row[f"{name}_high"] = ends or (np.nan, np.nan)
            rows.append(row)
        return pd.DataFrame(rows)

    def save(self, path: str | Path) -> None:
        """Write the plan to one file, which :func:`walras.load` reads.

        Args:
            path: The file, such as ``plan.npz``.

        Raises:
            DataError: The file cannot be written.
        """
        save(self, path)

    def __repr__(self) -> str:
        m, n = self.round.shape
        words = f"{n} tasks on {m} clusters, makespan {self.makespan:.6g}"
        return f"Plan({self.status}, {words}, gap {self.gap:.1e})"

    def __str__(self) -> str:
        m, n = self.round.shape
        return (
            f"{self.status}: {n} tasks on {m} clusters, makespan {self.makespan:.6g}, mean success "
            f"{self.mean_success:.6g}, bound {self.bound:.6g}, gap {self.gap:.1e}; {self.method}, "
            f"{self.seconds:.3g} s"
        )


def _ends(interval: Floats | None, i: int, j: int) -> Interval | None:
    return None if interval is None else (float(interval[0, i, j]), float(interval[1, i, j]))
