"""Simple policies of placements, to compare with: first fit, best fit, fastest cluster."""

from __future__ import annotations

import numpy as np

from walras.policies.placements.greedy import greedy
from walras.rounds import Predict
from walras.simulate.placed import Placer
from walras.types import Floats, Longs


def first_fit(*, predict: Predict | None = None) -> Placer:
    """First fit: each task, in order of arrival, goes to the first cluster with room.

    Higher priorities go first. A task that fits nowhere lets others pass.

    Args:
        predict: What is predicted of tasks; it decides nothing, but times and chances are stated
            by it, and a task's least success is kept by it.

    Returns:
        The policy.

    Example:
        >>> import walras as wl
        >>> from walras.rounds import Clusters, Snapshot, Tasks, Tenants
        >>> snapshot = Snapshot.of(
        ...     Tasks.of(["a", "b"], slots=[2, 1]),
        ...     Clusters.of(["east", "west"], slots=[1, 3], trusted=[True, True]),
        ...     Tenants.of(["lab"]),
        ... )
        >>> wl.policies.first_fit()(snapshot).cluster
        array([1, 0])
    """
    return greedy(_first, predict, "first fit")


def best_fit(*, predict: Predict | None = None) -> Placer:
    """Best fit: each task goes to the cluster with room that has the fewest free slots.

    So tasks are packed close, and large ones find room later.

    Args:
        predict: As of :func:`first_fit`.

    Returns:
        The policy.

    Example:
        >>> import walras as wl
        >>> from walras.rounds import Clusters, Snapshot, Tasks, Tenants
        >>> snapshot = Snapshot.of(
        ...     Tasks.of(["a", "b"]),
        ...     Clusters.of(["east", "west"], slots=[3, 2], trusted=[True, True]),
        ...     Tenants.of(["lab"]),
        ... )
        >>> wl.policies.best_fit()(snapshot).cluster
        array([1, 1])
    """
    return greedy(_fullest, predict, "best fit")


def fastest_cluster(*, predict: Predict | None = None) -> Placer:
    """Fastest cluster: each task goes where it is predicted to end soonest, of those with room.

    Args:
        predict: What is predicted of tasks; equal times if None, and then it is first fit.

    Returns:
        The policy.

    Example:
        >>> import walras as wl
        >>> tasks = wl.simulate.TaskTrace.of(["a"], seconds=[[60.0, 20.0]])
        >>> slots = wl.simulate.Slots({"cluster 0": 1, "cluster 1": 1})
        >>> policy = wl.policies.fastest_cluster(predict=tasks.predict)
        >>> wl.simulate.run(tasks, slots, policy, round_seconds=0).makespan
        20.0
    """
    return greedy(_quickest, predict, "fastest cluster")


def _first(seconds: Floats, free: Longs) -> Floats:
    del seconds
    return np.zeros(len(free))


def _fullest(seconds: Floats, free: Longs) -> Floats:
    del seconds
    return free.astype(np.float64)


def _quickest(seconds: Floats, free: Longs) -> Floats:
    del free
    return seconds
