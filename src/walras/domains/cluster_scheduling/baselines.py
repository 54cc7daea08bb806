"""Baselines without a solver: the greedy and the equal-share allocation."""

from __future__ import annotations

import numpy as np

from walras.domains.cluster_scheduling import cluster as clusters
from walras.domains.cluster_scheduling import quota as quotas
from walras.domains.cluster_scheduling.cluster import Cluster
from walras.domains.cluster_scheduling.matrices import Matrix, Sizes, Vector
from walras.domains.cluster_scheduling.quota import Quota
from walras.types import Floats


def greedy(
    throughput: Matrix,
    size: Sizes,
    capacity: Vector,
    weight: Vector | None = None,
    allowed: Matrix | None = None,
    *,
    quota: Quota | None = None,
) -> Floats:
    """Assign job after job to the type that serves it best at that moment, as Gandiva does.

    Jobs are assigned by decreasing weight, then in the given order (their arrival). Each job gets
    the type on which it runs fastest beside the jobs already there. A type with more jobs than GPUs
    is time-sliced evenly: on type i with ``load_i`` requested GPUs, each job runs a share
    ``min(1, capacity_i / load_i)`` of the time. Source: Xiao et al., OSDI 2018 (greedy placement,
    over-subscription and time-slicing; without its profiling of co-located pairs).

    Args:
        throughput: (resources, jobs) work per second; 0 where a job cannot run.
        size: (jobs,) GPUs that a job occupies while it runs, or (resources, jobs), > 0.
        capacity: (resources,) GPUs of each type.
        weight: (jobs,) priorities; 1 when None.
        allowed: (resources, jobs) mask of permitted pairs.
        quota: Limits of groups; a group over its limit is slowed down evenly.

    Returns:
        (resources, jobs) shares of time, feasible.

    Raises:
        InputError: The data cannot be used.

    Example:
        >>> from walras.domains import cluster_scheduling as cs
        >>> cs.greedy([[3.0, 1.0, 2.0], [1.0, 1.0, 1.0]], [1, 1, 2], [1, 2]).round(2)
        array([[0.33, 0.  , 0.33],
               [0.  , 1.  , 0.  ]])
    """
    cluster = clusters.read(throughput, size, capacity, weight, allowed)
    load = np.zeros(cluster.resources)
    choice = np.zeros(cluster.jobs, dtype=np.int64)
    for j in np.argsort(-cluster.weight, kind="stable"):
        pairs = slice(cluster.pointer[j], cluster.pointer[j + 1])
        types = cluster.resource[pairs]
        asked = load[types] + cluster.size[types, j]
        slice_of_time = np.minimum(1.0, cluster.capacity[types] / asked)
        best = int(types[np.argmax(cluster.throughput[pairs] * slice_of_time)])
        choice[j] = best
        load[best] += cluster.size[best, j]
    share = np.minimum(1.0, cluster.capacity / np.where(load > 0, load, 1.0))
    x = np.zeros((cluster.resources, cluster.jobs))
    x[choice, np.arange(cluster.jobs)] = share[choice]
    return _within(quota, cluster, x)


def equal_share(
    throughput: Matrix,
    size: Sizes,
    capacity: Vector,
    weight: Vector | None = None,
    allowed: Matrix | None = None,
    *,
    quota: Quota | None = None,
) -> Floats:
    """Give every job its equal share of every type, in proportion to its weight.

    A job that cannot use a type leaves its share of it idle. Source: the isolated policy of
    Narayanan et al., OSDI 2020.

    Args:
        throughput: (resources, jobs) work per second; array, labelled frame or SciPy sparse; 0
            where a job cannot run.
        size: (jobs,) GPUs that a job occupies while it runs, or (resources, jobs), > 0.
        capacity: (resources,) GPUs of each type, > 0.
        weight: (jobs,) priorities, > 0; 1 if None.
        allowed: (resources, jobs) mask of permitted pairs; all if None.
        quota: Limits of groups; a group over its limit is slowed down evenly.

    Returns:
        (resources, jobs) shares of time, feasible.

    Raises:
        InputError: The data cannot be used.

    Example:
        >>> from walras.domains import cluster_scheduling as cs
        >>> cs.equal_share([[3.0, 1.0, 2.0], [1.0, 1.0, 1.0]], [1, 1, 2], [1, 2]).round(2)
        array([[0.33, 0.33, 0.17],
               [0.67, 0.67, 0.33]])
    """
    cluster = clusters.read(throughput, size, capacity, weight, allowed)
    runs = np.zeros((cluster.resources, cluster.jobs), dtype=np.bool_)
    runs[cluster.resource, cluster.demand] = True
    return _within(quota, cluster, np.where(runs, isolated_share(cluster), 0.0))


def isolated_share(cluster: Cluster) -> Floats:
    """(resources, jobs) shares of time that an equal part of every type gives.

    A part ``weight_j / sum(weight)`` of each type gives ``capacity_i part_j / size_ij`` of the time
    there. A small job's shares are scaled down if they exceed all of its time.
    """
    part = cluster.weight / cluster.weight.sum()
    total = cluster.capacity.sum()
    busy = np.minimum(1.0, total * part / cluster.size)
    return np.asarray((cluster.capacity / total)[:, None] * busy)


def _within(quota: Quota | None, cluster: Cluster, x: Floats) -> Floats:
    """Slow down the jobs of each group over its limit, inner groups first."""
    if quota is None:
        return x
    limits = quotas.resolve(quota, cluster.demand_names)
    for group in limits.level[::-1]:
        member = group >= 0
        used = np.bincount(
            group[member],
            (cluster.size * x).sum(axis=0)[member],
            minlength=len(limits.names),
        )
        factor = np.minimum(1.0, limits.limit / np.where(used > 0, used, 1.0))
        x = x * np.where(member, factor[group], 1.0)
    return x
