"""Normalisation: throughputs of different jobs in comparable units."""

from __future__ import annotations

from typing import Literal

import numpy as np

from walras import checks
from walras.domains.cluster_scheduling import cluster as clusters
from walras.domains.cluster_scheduling.baselines import isolated_share
from walras.domains.cluster_scheduling.matrices import Matrix, Sizes, Vector
from walras.types import Floats


def normalise(
    throughput: Matrix,
    size: Sizes,
    capacity: Vector,
    *,
    per: Literal["gpu", "share"] = "gpu",
) -> Floats:
    """Convert throughputs to units that mean the same for every job.

    ``per="gpu"``: in average GPUs of this cluster, as Gavel and DeDe do,

        T_ij / (sum_i (capacity_i / size_ij) T_ij / sum_i capacity_i);

    ``per="share"``: relative to the job's throughput with an equal, isolated share of every type
    (:func:`~walras.domains.cluster_scheduling.equal_share`); 1 means that the job is as well off as
    with its share alone.

    Args:
        throughput: (resources, jobs) work per second; 0 where a job cannot run.
        size: (jobs,) GPUs that a job occupies while it runs, or (resources, jobs), > 0.
        capacity: (resources,) GPUs of each type.
        per: The unit.

    Returns:
        (resources, jobs) dimensionless throughputs.

    Raises:
        InputError: The data cannot be used, or ``per`` is unknown.

    Example:
        >>> from walras.domains import cluster_scheduling as cs
        >>> cs.normalise([[3.0, 1.0, 2.0], [1.0, 1.0, 1.0]], [1, 1, 2], [1, 2]).round(2)
        array([[1.8, 1. , 3. ],
               [0.6, 1. , 1.5]])
    """
    checks.one_of(per, "per", ("gpu", "share"))
    cluster = clusters.read(throughput, size, capacity)
    if per == "gpu":
        share = (cluster.capacity / cluster.capacity.sum())[:, None] / cluster.size
    else:
        share = isolated_share(cluster)
    dense = cluster.dense()
    reference = (dense * share).sum(axis=0)
    return np.asarray(dense / reference)
