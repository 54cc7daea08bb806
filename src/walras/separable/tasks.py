"""Generalised assignment as a separable problem: each task to one agent, within capacities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from walras import checks
from walras.errors import InputError
from walras.separable.form import Family, Rows, Separable, Side, Utility
from walras.types import Bools, Floats, Longs


def assignment(
    cost: npt.ArrayLike,
    weight: npt.ArrayLike,
    capacity: npt.ArrayLike,
    *,
    all_assigned: bool = True,
    maximize: bool = False,
    agent_names: Sequence[str] | None = None,
    task_names: Sequence[str] | None = None,
) -> Separable:
    """State the generalised assignment problem: give whole tasks to agents at least cost.

    Minimise ``sum c_ij x_ij`` over x in {0, 1} with ``sum_j a_ij x_ij <= b_i`` for each agent and
    ``sum_i x_ij = 1`` (or ``<= 1``) for each task. Equal weights on all agents with
    ``all_assigned=False`` and ``maximize=True`` are the multiple knapsack problem.

    Args:
        cost: (agents, tasks) c, or the profit where maximised; infinite (or NaN) where not allowed.
        weight: (agents, tasks) a >= 0.
        capacity: (agents,) b >= 0.
        all_assigned: Whether every task must be given to an agent.
        maximize: Whether ``cost`` is a profit to be maximised.
        agent_names: (agents,) labels, numbers if None.
        task_names: (tasks,) labels, numbers if None.

    Returns:
        The problem, for :func:`walras.solve`.

    Raises:
        InputError: Shapes do not fit, or a weight or capacity is negative or not finite.

    Example:
        >>> import walras as wl
        >>> from walras.separable import assignment
        >>> s = wl.solve(assignment([[1.0, 4.0], [2.0, 3.0]], [[1, 1], [1, 1]], [1, 1]))
        >>> s.value
        4.0
    """
    c, a = np.asarray(cost, dtype=np.float64), np.asarray(weight, dtype=np.float64)
    b = np.asarray(capacity, dtype=np.float64)
    _check(c, a, b)
    task, agent = np.nonzero(np.isfinite(c).T)
    names = [
        list(map(str, given if given is not None else range(size)))
        for given, size in ((agent_names, c.shape[0]), (task_names, c.shape[1]))
    ]
    rows = _rows(a, b, task, agent, names, all_assigned=all_assigned)
    entries = len(task)
    nothing = np.zeros(0)
    value = c[agent, task]
    return Separable(
        resource=agent.astype(np.int32),
        demand=task.astype(np.int32),
        cost=-value if maximize else value,
        quadratic=np.zeros(entries),
        lower=np.zeros(entries),
        upper=np.ones(entries),
        scalar_cost=nothing,
        scalar_lower=nothing,
        scalar_upper=nothing,
        rows=rows,
        resource_names=names[0],
        demand_names=names[1],
        integer=np.ones(entries, dtype=np.bool_),
        maximize=maximize,
        objective="assignment",
    )


def _rows(
    weight: Floats,
    capacity: Floats,
    task: Longs,
    agent: Longs,
    names: list[list[str]],
    *,
    all_assigned: bool,
) -> Rows:
    """The capacities' rows, then one row a task."""
    agents, tasks = weight.shape
    entries, count = len(task), agents + tasks
    here = np.arange(entries)
    matrix = sp.coo_array(
        (
            np.concatenate([weight[agent, task], np.ones(entries)]),
            (np.concatenate([agent, agents + task]), np.concatenate([here, here])),
        ),
        shape=(count, entries),
    )
    lower = np.full(count, -np.inf)
    lower[agents:] = 1.0 if all_assigned else -np.inf
    return Rows(
        matrix=sp.csc_array(matrix),
        scalar_matrix=np.zeros((count, 0)),
        lower=lower,
        upper=np.concatenate([capacity, np.ones(tasks)]),
        side=np.repeat([Side.RESOURCE, Side.DEMAND], [agents, tasks]).astype(np.int8),
        owner=np.concatenate([np.arange(agents), np.arange(tasks)]).astype(np.int32),
        utility=np.full(count, Utility.NONE, dtype=np.int8),
        weight=np.ones(count),
        parameter=np.zeros(count),
        families=(
            Family("capacity", 0, agents, names[0]),
            Family("assigned", agents, count, names[1]),
        ),
    )


def _check(c: Floats, a: Floats, b: Floats) -> None:
    if c.ndim != 2 or a.shape != c.shape or b.shape != c.shape[:1]:
        raise InputError(
            f"have shapes {c.shape}, {a.shape} and {b.shape}",
            where="cost, weight, capacity",
            allowed="(agents, tasks) twice, and (agents,)",
            remedy="one row an agent in each",
        )
    for name, array in (("weight", a), ("capacity", b)):
        checks.within(array, name, 0.0, remedy="correct it; forbid a pair by an infinite cost")
    alone: Bools = ~np.any(np.isfinite(c), axis=0)
    checks.refuse_first(
        alone,
        alone,
        lambda at: f"task {at[0]}",
        what="is allowed on no agent",
        allowed="at least one finite cost",
        remedy="allow it somewhere, or leave it out",
    )
