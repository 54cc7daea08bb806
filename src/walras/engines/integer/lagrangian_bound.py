"""The bound of a generalised assignment by knapsacks, and what it says of single entries.

Reduced costs of linear prices tell little where knapsacks are tight; this relaxation keeps every
agent's knapsack whole (see :mod:`walras.kernels.knapsacks`). Entries that raise its bound to the
cost of an assignment in hand are in no better one; entries that its knapsacks have held on the way
are where good assignments are. Source: Posta, Ferland and Michelon 2012 (variable fixing).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from walras.engines.integer.tasks import Tasks
from walras.kernels import knapsacks as kernel
from walras.types import Bools, Floats, Ints

_MOST_ROOM = 10_000  # largest whole capacity
_STEPS = 20  # between two looks at the clock


@dataclass(frozen=True, eq=False)
class Relaxed:
    """What the relaxation says.

    Attributes:
        bound: No assignment on the entries asked about costs less.
        raised: (tasks, agents) bound of the assignments that use an entry; inf for entries that
            were not asked about.
        taken: (tasks, agents) in how many steps an entry was in its agent's knapsack.
    """

    bound: float
    raised: Floats
    taken: Ints


def relax(
    tasks: Tasks, keep: Bools, price: Floats, target: float, goes_on: Callable[[], bool]
) -> Relaxed:
    """Raise the bound until it stays or the time is over.

    Args:
        tasks: The assignment.
        keep: (tasks, agents) entries asked about.
        price: (tasks,) where the prices begin.
        target: Cost of an assignment, or what the bound will not pass.
        goes_on: Asked between steps whether there is time.
    """
    size, room = whole(tasks.weight, tasks.capacity)
    entries, agent = kernel.make_entries(tasks.cost, size, room, keep)
    ascent = kernel.make_ascent(price, len(agent))
    while kernel.climb(entries, ascent, target, _STEPS) and goes_on():
        pass
    raised, taken = np.full(keep.shape, np.inf), np.zeros(keep.shape, dtype=np.int32)
    bound = float(ascent.state[0])
    raised[entries.task, agent] = bound + kernel.losses(entries, ascent.price)
    taken[entries.task, agent] = ascent.taken
    return Relaxed(bound, raised, taken)


def whole(weight: Floats, capacity: Floats) -> tuple[Ints, Ints]:
    """Weights and capacities in whole units; a relaxation where they are not whole.

    As ``sum a <= b`` implies ``sum floor(a / u) <= floor(b / u)`` for any unit u, bounds hold.
    """
    are_whole = np.all(weight == np.floor(weight)) and capacity.max() <= _MOST_ROOM
    unit = 1.0 if are_whole else float(capacity.max()) / _MOST_ROOM
    size, room = (np.floor(v / unit * (1.0 + 1e-12)).astype(np.int32) for v in (weight, capacity))
    return size, room
