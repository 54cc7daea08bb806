"""Small generalised assignments, and all that is allowed in them."""

from __future__ import annotations

from itertools import product

import numpy as np
from tests.bank.whole import drawn_assignment

from walras.engines.integer.tasks import Tasks


def stated(
    kind: str, agents: int, tasks: int, seed: int, *, scale: float = 1.0, room: float = 1.3
) -> Tasks:
    cost, weight, capacity = drawn_assignment(kind, agents, tasks, seed)
    entry = np.arange(agents * tasks, dtype=np.int32).reshape(tasks, agents)
    return Tasks(
        np.ascontiguousarray(cost.T),
        np.ascontiguousarray(weight.T) * scale,
        room * capacity * scale,
        entry,
        np.arange(agents, dtype=np.int32),
    )


def every_assignment(tasks: Tasks) -> tuple[np.ndarray, np.ndarray]:
    """All assignments within the capacities, and their costs."""
    count, agents = tasks.cost.shape
    every = np.array(list(product(range(agents), repeat=count)))
    load = np.stack(
        [np.where(every == i, tasks.weight[:, i], 0.0).sum(axis=1) for i in range(agents)], axis=1
    )
    fits = every[np.all(load <= tasks.capacity + 1e-9, axis=1)]
    return fits, tasks.cost[np.arange(count), fits].sum(axis=1)
