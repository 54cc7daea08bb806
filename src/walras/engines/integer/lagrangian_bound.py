"""The Lagrangian bound of a generalised assignment by knapsacks, in all and for each entry.

Linear reduced costs are weak where knapsacks are tight. This relaxation keeps each agent's integer
knapsack (see :mod:`walras.kernels.knapsacks`). If using an entry raises the bound to the cost of a
known assignment, no better assignment uses it. Entries that often appear in the knapsacks are
likely in good assignments. Source: Posta, Ferland and Michelon 2012 (variable fixing).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from walras.engines.integer.tasks import Tasks
from walras.kernels import knapsacks as kernel
from walras.types import Bools, Floats, Ints

# largest capacity in integer units; a knapsack's table has one row for each unit
_MOST_ROOM = 10_000
_STEPS_A_CHECK = 1  # steps of the prices between two checks of the time


@dataclass(frozen=True, eq=False)
class Relaxed:
    """The result of the relaxation.

    Attributes:
        bound: A lower bound on the cost of every assignment on the given entries.
        price: (tasks,) the prices that prove it.
        raised: (tasks, agents) bound of the assignments that use an entry; inf for entries that
            were not given.
        taken: (tasks, agents) number of steps in which an entry was in its agent's knapsack.
    """

    bound: float
    price: Floats
    raised: Floats
    taken: Ints


def relax(
    tasks: Tasks, keep: Bools, price: Floats, target: float, goes_on: Callable[[], bool]
) -> Relaxed:
    """Raise the bound until it no longer rises or the time is over.

    Args:
        tasks: The assignment.
        keep: (tasks, agents) True on the given entries.
        price: (tasks,) first prices.
        target: Cost of an assignment, or an upper limit of the bound.
        goes_on: Called between steps; False ends the search.
    """
    size, room = whole(tasks.weight, tasks.capacity)
    entries, agent = kernel.make_entries(tasks.cost, size, room, keep)
    ascent = kernel.make_ascent(price, len(agent))
    while kernel.climb(entries, ascent, target, _STEPS_A_CHECK) and goes_on():
        pass
    raised, taken = np.full(keep.shape, np.inf), np.zeros(keep.shape, dtype=np.int32)
    bound = float(ascent.state[0])
    raised[entries.task, agent] = bound + kernel.losses(entries, ascent.price)
    taken[entries.task, agent] = ascent.taken
    return Relaxed(bound, ascent.price, raised, taken)


def whole(weight: Floats, capacity: Floats) -> tuple[Ints, Ints]:
    """Weights and capacities in integer units, rounded to a relaxation if they are not integers.

    Bounds hold, since ``sum a <= b`` implies ``sum floor(a / u) <= floor(b / u)`` for any unit u.
    """
    are_whole = np.all(weight == np.floor(weight)) and capacity.max() <= _MOST_ROOM
    unit = 1.0 if are_whole else max(float(capacity.max()), 1e-300) / _MOST_ROOM
    # What is too large for every agent needs no size of its own, which might be too large to count.
    units = (np.minimum(v / unit, _MOST_ROOM + 1) for v in (weight, capacity))
    size, room = (np.floor(v * (1.0 + 1e-12)).astype(np.int32) for v in units)
    return size, room
