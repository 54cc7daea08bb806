"""Generalised assignments that the numbers themselves show to be infeasible.

A task takes the weight of one agent that may have it. So no assignment exists if

* a task weighs more at every agent than the agent's capacity, ``min_i (w_ij - c_i) > 0``, or
* the least weights exceed all capacities together, ``sum_j min_i w_ij > sum_i c_i``.
"""

from __future__ import annotations

import numpy as np

from walras.certificate.feasibility import FEASIBLE
from walras.diagnosis.relaxation import shortened
from walras.engines.integer.tasks import Tasks
from walras.errors import InfeasibleError
from walras.separable.form import Separable, Side
from walras.types import Floats, Longs

_NAMED = 5  # rows that an error names


def refuse_impossible(problem: Separable, tasks: Tasks) -> None:
    """Refuse a generalised assignment of which one look shows that there is none.

    Args:
        problem: The problem, whose rows are named.
        tasks: The same as dense arrays.

    Raises:
        InfeasibleError: A task fits no agent, or the tasks weigh more than the capacities.
    """
    agents = problem.shape[0]
    optional = tasks.cost.shape[1] > agents and tasks.cost[:, agents] == 0.0
    needed = np.flatnonzero(~np.broadcast_to(optional, len(tasks.cost)))
    may = tasks.entry[needed, :agents] >= 0
    weight = np.where(may, tasks.weight[needed, :agents], np.inf)
    capacity = tasks.capacity[:agents]
    _refuse_too_big(problem, tasks, needed, weight - capacity)
    least, total = float(weight.min(axis=1).sum()), float(capacity.sum())
    if least > total + FEASIBLE * max(total, 1.0):
        rows = [problem.rows.name(int(row)) for row in tasks.row if row >= 0]
        raise InfeasibleError(
            f"no allocation meets all constraints: the tasks weigh at least {least:.6g}, "
            f"the capacities are {total:.6g} together",
            where=shortened(rows[:_NAMED], len(rows)),
            allowed="capacities that some assignment meets",
            remedy=f"raise them by at least {least - total:.6g} together, or leave tasks out",
        )


def _refuse_too_big(problem: Separable, tasks: Tasks, needed: Longs, over: Floats) -> None:
    """Refuse tasks that weigh more at every agent than its capacity.

    ``over``: (needed tasks, agents) the excess of a task alone; infinite where a pair is not
    allowed.
    """
    best = over.argmin(axis=1)
    excess = over[np.arange(len(over)), best]
    bad = np.flatnonzero(excess > FEASIBLE * np.maximum(tasks.capacity[best], 1.0))
    if not len(bad):
        return
    rows = problem.rows
    of_task = np.flatnonzero(rows.side == Side.DEMAND)
    number = np.zeros(problem.shape[1], dtype=np.int64)
    number[rows.owner[of_task]] = of_task
    names = [rows.name(int(number[needed[j]])) for j in bad[:_NAMED]]
    k = int(bad[0])
    remedy = "let some agent take it, or leave it out"
    if np.isfinite(excess[k]):
        agent = rows.name(int(tasks.row[best[k]]))
        remedy = f"raise {agent} by at least {excess[k]:.6g}, or leave the task out"
    raise InfeasibleError(
        "no allocation meets all constraints: no agent that may take the task has the capacity",
        where=shortened(names, len(bad)),
        allowed="tasks that fit some agent",
        remedy=remedy,
    )
