"""HiGHS on some entries of a generalised assignment: relaxed, or whole.

Programs have costs above the tasks' offsets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from walras.engines.integer.tasks import Tasks
from walras.programs.attempt import attempted
from walras.programs.highs import LinearProgram, solve_program
from walras.settings import Settings
from walras.status import Status
from walras.types import Bools, Floats, Ints

_LARGEST_GAP = 1e-2  # relative gap of a program at most, unless the caller asks for more
_CAPACITY_ERROR = 1e-9  # relative and absolute excess over a capacity that HiGHS may have


@dataclass(frozen=True, eq=False)
class Branched:
    """HiGHS' result.

    Attributes:
        agent: (tasks,) the best assignment within the capacities, or None.
        bound: A lower bound on the cost of every assignment on the entries.
    """

    agent: Ints | None
    bound: float


def branch(tasks: Tasks, keep: Bools, start: Ints | None, settings: Settings) -> Branched:
    """Solve the assignment on some of the entries by HiGHS.

    Args:
        tasks: The assignment.
        keep: (tasks, agents) entries that may be used.
        start: (tasks,) a first assignment, or None; its entries are added.
        settings: ``time_limit``, and ``tolerance`` on the relative gap.
    """
    if start is not None:
        keep = keep.copy()
        keep[np.arange(len(keep)), start] = True
    task, agent = (k.astype(np.int32) for k in np.nonzero(keep))
    first = None if start is None else (start[task] == agent).astype(np.float64)
    program = _program(tasks, task, agent)
    asked = above_offset(tasks, start, settings)
    answer = attempted(lambda: solve_program(program, asked, first), None)
    if answer is None:
        return Branched(None, -np.inf)
    bound = answer.bound + float(tasks.offset.sum())
    if answer.x is None:
        return Branched(None, bound)
    chosen = answer.x > 0.5
    return Branched(assigned(tasks, task[chosen], agent[chosen]), bound)


def above_offset(tasks: Tasks, start: Ints | None, settings: Settings) -> Settings:
    """The same absolute gap, relative to the costs above the tasks' offsets, or a smaller one."""
    if start is None:
        return settings
    cost, offset = tasks.cost[np.arange(len(start)), start], tasks.offset
    whole, above = abs(float(cost.sum())), abs(float((cost - offset).sum()))
    share = settings.tolerance * whole / max(above, 1e-300)
    largest = max(settings.tolerance, _LARGEST_GAP)
    return replace(settings, tolerance=float(np.clip(share, 1e-12, largest)))


def assigned(tasks: Tasks, task: Ints, agent: Ints) -> Ints | None:
    """The (tasks,) assignment of some pairs, or None if it leaves out a task or overfills an agent.

    Args:
        tasks: The assignment.
        task: (pairs,) tasks.
        agent: (pairs,) their agents.
    """
    count = len(tasks.cost)
    if len(task) != count or np.any(np.bincount(task, minlength=count) != 1):
        return None
    found = np.empty(count, dtype=np.int32)
    found[task] = agent
    load = np.zeros(len(tasks.capacity))
    np.add.at(load, found, tasks.weight[np.arange(count), found])
    return found if np.all(within(load, tasks.capacity)) else None


def within(load: Floats, capacity: Floats) -> Bools:
    """Whether loads are within capacities, but for what HiGHS takes for rounding."""
    return np.asarray(load <= capacity * (1.0 + _CAPACITY_ERROR) + _CAPACITY_ERROR)


def relaxation(tasks: Tasks, keep: Bools, settings: Settings) -> tuple[Ints, Floats] | None:
    """Solve the linear relaxation on some of the entries by HiGHS.

    Args:
        tasks: The assignment.
        keep: (tasks, agents) entries that may be used.
        settings: ``time_limit``.

    Returns:
        The agent with most of each task, and the prices of the agents, at least 0; None if HiGHS
        found no optimum.
    """
    task, agent = (k.astype(np.int32) for k in np.nonzero(keep))
    program = replace(_program(tasks, task, agent), integer=None)
    answer = attempted(lambda: solve_program(program, settings), None)
    if answer is None or answer.x is None or answer.status is not Status.OPTIMAL:
        return None
    share = np.zeros(keep.shape)
    share[task, agent] = answer.x
    prices = np.maximum(answer.prices[: keep.shape[1]], 0.0)
    return np.argmax(share, axis=1).astype(np.int32), prices


def _program(tasks: Tasks, task: Ints, agent: Ints) -> LinearProgram:
    """The program: capacity rows, then task rows; one column for each entry."""
    columns, (count, agents) = len(task), tasks.cost.shape
    here = np.arange(columns)
    matrix = sp.coo_array(
        (
            np.concatenate([tasks.weight[task, agent], np.ones(columns)]),
            (np.concatenate([agent, agents + task]), np.concatenate([here, here])),
        ),
        shape=(agents + count, columns),
    )
    return LinearProgram(
        cost=tasks.cost[task, agent] - tasks.offset[task],
        lower=np.zeros(columns),
        upper=np.ones(columns),
        matrix=sp.csc_array(matrix),
        row_lower=np.concatenate([np.full(agents, -np.inf), np.ones(count)]),
        row_upper=np.concatenate([tasks.capacity, np.ones(count)]),
        integer=np.ones(columns, dtype=np.bool_),
    )
