"""Placements one by one in order of arrival: each task on the first of its clusters with room."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from walras.policies.placements.order import eligible, within_quota
from walras.policies.placements.providers import Providers
from walras.policies.placements.window import Predictions
from walras.rounds import Predict, Snapshot, planned, prior
from walras.rounds.decision import Decision
from walras.types import Bools, Floats, Longs

Cost = Callable[[Floats, Longs], Floats]
"""``(seconds, free) -> costs``: (M,) predicted times of a task, (M,) free slots; least is best."""


def greedy(cost: Cost, predict: Predict | None, name: str) -> Callable[[Snapshot], Decision]:
    """A policy that goes through the tasks by priority and arrival, and sends each where it costs
    least among the clusters that have room, its labels and the chance of success that it accepts.

    A task without room lets others pass. Tasks of quotas that are full, and the last ones of
    providers above their bounds, wait.

    Args:
        cost: What a cluster costs a task.
        predict: What is predicted; equal times and sure success if None.
        name: Of the policy.

    Returns:
        The policy.
    """

    def policy(snapshot: Snapshot) -> Decision:
        tasks, n = snapshot.tasks, len(snapshot.tasks)
        known = Predictions(snapshot, predict or prior(snapshot.typical))
        order = np.lexsort((tasks.key, tasks.submitted, -tasks.priority))
        line = within_quota(tasks, snapshot.tenants, eligible(snapshot))
        order = order[line[order]]
        known.ask(order)
        fits_on = usable(snapshot, known)
        free, cluster = snapshot.room.copy(), np.full(n, -1)
        for j in order.tolist():
            fits = fits_on[j] & (free >= tasks.slots[j])
            if not fits.any():
                continue
            i = int(np.argmin(np.where(fits, cost(known.seconds[j], free), np.inf)))
            cluster[j] = i
            free[i] -= tasks.slots[j]
            if not free.any():
                break
        cluster = Providers.of(snapshot).trimmed(cluster, order)
        return planned(snapshot, cluster, seconds=known.seconds, chance=known.chance, policy=name)

    policy.__name__ = name
    return policy


def usable(snapshot: Snapshot, known: Predictions) -> Bools:
    """(N, M) pairs that may be placed, room aside.

    Args:
        snapshot: The snapshot.
        known: Chances of success of the tasks that may be placed.
    """
    tasks, m = snapshot.tasks, len(snapshot.clusters)
    pin = tasks.pin[:, None]
    found: Bools = snapshot.matches[tasks.requires] & snapshot.clusters.up
    found &= (pin < 0) | (pin == np.arange(m))
    with np.errstate(invalid="ignore"):
        found &= known.chance >= tasks.min_success[:, None]
    return found
