"""Recognition of generalised assignments, which become dense arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from walras.separable.form import Separable, Side, Utility
from walras.types import Bools, Floats, Ints

_FAR = 1e3  # multiple of the differences of costs at which they are far from zero
NEVER = 1e9  # cost of a pair that is not allowed, relative to the largest cost


@dataclass(frozen=True, eq=False)
class Tasks:
    """A generalised assignment as dense arrays, with an agent of cost zero for tasks left out.

    Attributes:
        cost: (tasks, agents) costs, large where a pair is not allowed.
        weight: (tasks, agents).
        capacity: (agents,).
        entry: (tasks, agents) entry of the problem, -1 where there is none.
        row: (agents,) the problem's row of each agent's capacity, -1 if it has none.
        never: Pairs that cost at least this much are not allowed.
    """

    cost: Floats
    weight: Floats
    capacity: Floats
    entry: Ints
    row: Ints
    never: float = NEVER

    @property
    def allowed(self) -> Bools:
        """(tasks, agents) True on pairs that are allowed."""
        return np.asarray(self.cost < self.never)

    @property
    def offset(self) -> Floats:
        """(tasks,) least cost of each task, where costs are far from zero for their differences.

        HiGHS' tolerances are relative to the largest cost. Elsewhere it is 0.
        """
        least = np.asarray(self.cost.min(axis=1))
        apart = np.max((self.cost - least[:, None])[self.allowed], initial=0.0)
        return least if np.max(np.abs(least), initial=0.0) > _FAR * apart else np.zeros(len(least))


def recognised(problem: Separable) -> Tasks | None:
    """The problem as a generalised assignment, or None if it is not one."""
    rows = problem.rows
    if problem.scalars or np.any(rows.utility != Utility.NONE) or np.any(problem.quadratic):
        return None
    whole = problem.integer is not None and bool(np.all(problem.integer))
    owned = np.all(problem.resource >= 0) and np.all(problem.demand >= 0)
    if not whole or not owned or np.any(problem.lower != 0.0) or np.any(problem.upper < 1.0):
        return None
    of_task, of_agent = rows.side == Side.DEMAND, rows.side == Side.RESOURCE
    if not np.all(of_task | of_agent):
        return None
    for mine, count in ((of_task, problem.shape[1]), (of_agent, problem.shape[0])):
        if np.any(np.bincount(rows.owner[mine], minlength=count) > 1):
            return None
    if not _is_choice(problem, of_task) or not _is_packing(problem, of_agent):
        return None
    return _dense(problem, of_task, of_agent)


def _is_choice(problem: Separable, mine: Bools) -> bool:
    """Whether each task's row is a plain sum that equals one, or is at most one."""
    rows = problem.rows
    part = sp.csr_array(rows.matrix)[np.flatnonzero(mine)]
    lower = rows.lower[mine]
    return bool(
        mine.sum() == problem.shape[1]
        and part.nnz == problem.entries
        and np.all(part.data == 1.0)
        and np.all(rows.upper[mine] == 1.0)
        and np.all((lower == 1.0) | (lower <= 0.0))
    )


def _is_packing(problem: Separable, mine: Bools) -> bool:
    rows = problem.rows
    part = sp.csr_array(rows.matrix)[np.flatnonzero(mine)]
    return bool(np.all(part.data >= 0.0) and np.all(rows.lower[mine] <= 0.0))


def _dense(problem: Separable, of_task: Bools, of_agent: Bools) -> Tasks | None:
    rows, (agents, tasks) = problem.rows, problem.shape
    row = np.full(agents, -1, dtype=np.int32)
    row[rows.owner[of_agent]] = np.flatnonzero(of_agent)
    per_entry = sp.csr_array(rows.matrix)[np.flatnonzero(of_agent)].sum(axis=0)
    entry = np.full((tasks, agents + 1), -1, dtype=np.int32)
    entry[problem.demand, problem.resource] = np.arange(problem.entries)
    if np.sum(entry >= 0) < problem.entries:
        return None  # two entries of one pair
    optional = np.zeros(tasks, dtype=np.bool_)
    optional[rows.owner[of_task]] = rows.lower[of_task] <= 0.0
    never = NEVER * max(1.0, float(np.abs(problem.cost).max()))
    cost = np.where(entry >= 0, problem.cost[entry], never)
    cost[optional, agents] = 0.0
    weight = np.where(entry >= 0, np.asarray(per_entry).ravel()[entry], 0.0)
    capacity = np.full(agents + 1, np.inf)
    capacity[:agents] = np.where(row >= 0, rows.upper[row], np.inf)
    total = float(weight.max(axis=1).sum()) + 1.0
    capacity = np.minimum(capacity, total)
    keep = agents + 1 if np.any(optional) else agents
    return Tasks(
        np.ascontiguousarray(cost[:, :keep]),
        np.ascontiguousarray(weight[:, :keep]),
        capacity[:keep],
        entry[:, :keep],
        row,
        never,
    )
