"""Placements that fill the most slots: the tasks that wait at a round are packed together."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from walras import checks
from walras.domains.placement import Instance, Options, solve_instance
from walras.kernels.packing.machines import Types
from walras.policies.placements.greedy import usable
from walras.policies.placements.order import eligible, within_quota
from walras.policies.placements.providers import Providers
from walras.policies.placements.window import Predictions
from walras.rounds import Decision, Predict, Snapshot, planned, prior
from walras.simulate.placed import Placer
from walras.types import Bools, Longs

MOST = ("slots", "tasks")
"""What :func:`place` can have most of."""

_NONE = np.zeros(0, dtype=np.int32)


def place(
    *,
    predict: Predict | None = None,
    most: Literal["slots", "tasks"] = "slots",
    tolerance: float = 1e-3,
    seed: int = 0,
) -> Placer:
    """Place: the tasks that wait are packed together, so that the most slots are filled.

    :func:`walras.domains.placement.place` packs the tasks of the highest priority first, then those
    of the next into what is left. Of tasks that ask for the same, the oldest go first. A task that
    is left out lets others pass.

    Args:
        predict: As of :func:`first_fit`.
        most: What there is most of: ``slots`` filled, or ``tasks`` placed. Slots leave the least
            idle; tasks let small ones go first.
        tolerance: Certified relative gap at which the search ends.
        seed: Of the search; equal seeds give equal decisions.

    Returns:
        The policy.

    Raises:
        InputError: ``most`` is another word, or ``tolerance`` or ``seed`` is out of range.

    Example:
        >>> import walras as wl
        >>> from walras.rounds import Clusters, Snapshot, Tasks, Tenants
        >>> snapshot = Snapshot.of(
        ...     Tasks.of(["a", "b", "c"], slots=[2, 3, 4]),
        ...     Clusters.of(["east", "west"], slots=[4, 5], trusted=[True, True]),
        ...     Tenants.of(["lab"]),
        ... )
        >>> wl.policies.first_fit()(snapshot).cluster, wl.policies.place()(snapshot).cluster
        (array([ 0,  1, -1]), array([1, 1, 0]))
    """
    checks.one_of(most, "most", MOST, "measure")
    options = Options(tolerance=tolerance, seed=seed)

    def decide(snapshot: Snapshot) -> Decision:
        tasks = snapshot.tasks
        known = Predictions(snapshot, predict or prior(snapshot.typical))
        line = np.flatnonzero(within_quota(tasks, snapshot.tenants, eligible(snapshot)))
        order = line[np.lexsort((tasks.key[line], tasks.submitted[line], -tasks.priority[line]))]
        known.ask(order)
        fits, free = usable(snapshot, known), snapshot.room.copy()
        cluster = np.full(len(tasks), -1)
        for priority in np.unique(tasks.priority[order])[::-1]:
            own = order[tasks.priority[order] == priority]
            worth = tasks.slots[own] if most == "slots" else np.ones_like(own)
            cluster[own] = _packed(tasks.slots[own], fits[own], worth, free, options)
            placed = own[cluster[own] >= 0]
            np.subtract.at(free, cluster[placed], tasks.slots[placed])
        cluster = Providers.of(snapshot).trimmed(cluster, order)
        return planned(
            snapshot, cluster, seconds=known.seconds, chance=known.chance, policy="place"
        )

    decide.__name__ = "place"
    return decide


def _packed(slots: Longs, fits: Bools, worth: Longs, free: Longs, options: Options) -> Longs:
    """(tasks,) cluster of each task or -1, the tasks given in the order in which they waited.

    ``slots``: (tasks,). ``fits``: (tasks, clusters) where a task may run. ``worth``: (tasks,) of a
    task placed. ``free``: (clusters,).
    """
    if not len(slots) or not len(free):
        return np.full(len(slots), -1)
    classes, model = np.unique(fits, axis=1, return_inverse=True)
    table = np.column_stack([slots, worth, classes])
    rows, kind = np.unique(table, axis=0, return_inverse=True)
    kind = kind.ravel()
    need, value = rows[:, :1].astype(np.float64), rows[:, 1].astype(np.float64)
    n, ends = len(slots), np.zeros(len(rows) + 1, dtype=np.int64)
    allowed = rows[:, 2:].astype(np.bool_)
    instance = Instance(
        nodes=pd.RangeIndex(len(free)),
        tasks=pd.RangeIndex(n),
        resources=("slots",),
        models=tuple(map(str, range(classes.shape[1]))),
        capacity=free[:, None].astype(np.float64),
        gpus=np.zeros(len(free), dtype=np.int32),
        model=model.ravel().astype(np.int32),
        types=Types(need, ends, _NONE, allowed, ends, _NONE, value),
        kind=kind.astype(np.int32),
        was=np.full(n, -1, dtype=np.int32),
        task_ptr=np.arange(n + 1),
        task=np.arange(n),
        request_task=_NONE,
        groups=0,
        move_price=np.inf,
    )
    home = solve_instance(instance, options).home
    out = np.full(n, -1)
    for t in range(len(rows)):
        alike = np.flatnonzero(kind == t)
        found = np.sort(home[alike][home[alike] >= 0])
        out[alike[: len(found)]] = found
    return out
