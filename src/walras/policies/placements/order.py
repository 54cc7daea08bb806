"""Who goes first: priority, then weighted fair share among tenants, then deadline and age."""

from __future__ import annotations

import numpy as np

from walras.rounds import Snapshot, Tasks, Tenants
from walras.types import Bools, Floats, Longs


def own_order(tasks: Tasks) -> Longs:
    """(N,) tasks by priority, deadline, age and number: the order within a tenant.

    Args:
        tasks: The tasks.

    Returns:
        Numbers of the tasks, the first one first.
    """
    return np.lexsort((tasks.key, tasks.submitted, tasks.deadline, -tasks.priority))


def fair_order(tasks: Tasks, tenants: Tenants, typical: float, among: Bools) -> Longs:
    """Tasks in the order in which the window takes them.

    Within a priority the next task is that of the tenant with the least slot-seconds granted per
    weight. A task counts its slots for a typical time once it is taken, also towards lower
    priorities. What a tenant has grows along its own tasks, so that the next one is always the one
    whose tenant had least before it: sorting by that is the merge.

    Args:
        tasks: The tasks.
        tenants: Their tenants.
        typical: Seconds that a task counts.
        among: (N,) which tasks.

    Returns:
        (k,) numbers of the tasks among them, the first one first.

    Example:
        >>> import numpy as np
        >>> from walras.policies.placements import fair_order
        >>> from walras.rounds import Tasks, Tenants
        >>> tasks = Tasks.of(["a", "b", "c", "d"], tenant=[0, 0, 0, 1])
        >>> fair_order(tasks, Tenants.of(["lab", "web"]), 60.0, np.ones(4, np.bool_))
        array([0, 3, 1, 2])
    """
    order = own_order(tasks)
    order = order[among[order]]
    share = shares(tasks, tenants, typical, order)
    key, submitted, deadline = (a[order] for a in (tasks.key, tasks.submitted, tasks.deadline))
    return order[np.lexsort((key, submitted, deadline, share, -tasks.priority[order]))]


def shares(tasks: Tasks, tenants: Tenants, typical: float, order: Longs) -> Floats:
    """What each task's tenant has per weight before the task is taken.

    Args:
        tasks: The tasks.
        tenants: Their tenants.
        typical: Seconds that a task counts.
        order: Numbers of tasks, each tenant's own in their order.

    Returns:
        (len(order),) slot-seconds per weight.
    """
    share = np.zeros(len(order))
    owner = tasks.tenant[order]
    for t in np.unique(owner):
        mine = np.flatnonzero(owner == t)
        work = tasks.slots[order[mine]] * typical
        before = np.concatenate([[0.0], np.cumsum(work)[:-1]])
        share[mine] = (tenants.used[t] + before) / tenants.weight[t]
    return share


def within_quota(tasks: Tasks, tenants: Tenants, among: Bools) -> Bools:
    """The tasks that their tenants' quotas have room for, in each tenant's own order.

    Args:
        tasks: The tasks.
        tenants: Their tenants.
        among: (N,) which tasks.

    Returns:
        (N,) those among them that fit.
    """
    fits = among.copy()
    order = own_order(tasks)
    order = order[among[order]]
    for t in np.flatnonzero(tenants.quota >= 0):
        left = int(tenants.quota[t] - tenants.in_use[t])
        for j in order[tasks.tenant[order] == t].tolist():
            slots = int(tasks.slots[j])
            fits[j] = slots <= left
            left -= slots if slots <= left else 0
    return fits


def eligible(snapshot: Snapshot) -> Bools:
    """The tasks that some cluster could take if all its slots were free.

    Args:
        snapshot: The snapshot.

    Returns:
        (N,) whether a cluster is up, has the labels and as many slots; and the deadline is ahead.

    Example:
        >>> from walras.policies.placements import eligible
        >>> from walras.rounds import Clusters, Snapshot, Tasks, Tenants
        >>> tasks = Tasks.of(["small", "large"], slots=[1, 9])
        >>> eligible(Snapshot.of(tasks, Clusters.of(["east"]), Tenants.of(["lab"])))
        array([ True, False])
    """
    tasks, clusters = snapshot.tasks, snapshot.clusters
    slots = np.where(snapshot.matches & clusters.up, clusters.slots, 0)  # by requirement
    largest = slots.max(axis=1, initial=0)[tasks.requires]
    pinned = np.flatnonzero(tasks.pin >= 0)
    largest[pinned] = slots[tasks.requires[pinned], tasks.pin[pinned]]
    found: Bools = (largest >= tasks.slots) & (tasks.deadline >= snapshot.at)
    return found
