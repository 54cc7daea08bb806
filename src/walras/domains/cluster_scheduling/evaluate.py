"""The effects of an allocation, computed from it and the data alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from walras import checks
from walras.domains.cluster_scheduling import cluster as clusters
from walras.domains.cluster_scheduling import matrices
from walras.domains.cluster_scheduling import quota as quotas
from walras.domains.cluster_scheduling.matrices import Matrix, Sizes, Vector
from walras.domains.cluster_scheduling.quota import Quota
from walras.short_repr import short_repr
from walras.types import Floats


@short_repr
@dataclass(frozen=True, eq=False)
class Evaluation:
    """Throughputs, use and feasibility of one allocation.

    Attributes:
        throughput: (jobs,) ``sum_i throughput_ij x_ij``.
        used: (resources,) GPUs in use, averaged over the round.
        capacity: (resources,) GPUs of each type.
        weight: (jobs,) priorities.
        violation: Largest violation of any rule, relative to its limit; 0 when feasible.

    Example:
        >>> from walras.domains import cluster_scheduling as cs
        >>> found = cs.evaluate([[3.0, 1.0], [1.0, 1.0]], [1, 1], [1, 1], x=[[1, 0], [0, 1]])
        >>> float(found.least), float(found.utilisation)
        (1.0, 1.0)
    """

    throughput: Floats
    used: Floats
    capacity: Floats
    weight: Floats
    violation: float

    @property
    def least(self) -> float:
        """``min_j throughput_j / weight_j``."""
        return float(np.min(self.throughput / self.weight))

    @property
    def median(self) -> float:
        """Median throughput."""
        return float(np.median(self.throughput))

    @property
    def mean(self) -> float:
        """Mean throughput."""
        return float(np.mean(self.throughput))

    @property
    def log_fairness(self) -> float:
        """Weighted mean of ``log throughput``, in nat per job; -inf if a job gets nothing."""
        with np.errstate(divide="ignore"):
            return float(np.average(np.log(self.throughput), weights=self.weight))

    @property
    def utilisation(self) -> float:
        """Share of all GPUs in use."""
        return float(self.used.sum() / self.capacity.sum())


def evaluate(
    throughput: Matrix,
    size: Sizes,
    capacity: Vector,
    x: npt.ArrayLike,
    weight: Vector | None = None,
    allowed: Matrix | None = None,
    *,
    quota: Quota | None = None,
    floor: Vector | None = None,
) -> Evaluation:
    """Evaluate an allocation by plain arithmetic, without problem or solver.

    Args:
        throughput: (resources, jobs) work per second; 0 where a job cannot run.
        size: (jobs,) GPUs that a job occupies while it runs, or (resources, jobs), > 0.
        capacity: (resources,) GPUs of each type.
        x: (resources, jobs) shares of time; a labelled frame is matched by label.
        weight: (jobs,) priorities; 1 when None.
        allowed: (resources, jobs) mask of permitted pairs.
        quota: Limits of groups.
        floor: (jobs,) least throughputs.

    Returns:
        Throughputs, use of each type and the largest violation.

    Raises:
        InputError: The data cannot be used, or ``x`` has another shape or is not finite.

    Example:
        >>> from walras.domains import cluster_scheduling as cs
        >>> speed, size, gpus = [[3.0, 1.0], [1.0, 1.0]], [1, 1], [1, 1]
        >>> found = cs.evaluate(speed, size, gpus, x=[[1.0, 0.0], [0.0, 1.0]])
        >>> found.throughput, found.violation
        (array([3., 1.]), 0.0)
    """
    cluster = clusters.read(throughput, size, capacity, weight, allowed)
    if isinstance(x, pd.DataFrame):
        x = matrices.aligned(x, cluster.resource_names, cluster.demand_names, "x")
    shape = (cluster.resources, cluster.jobs)
    shares = matrices.shaped(checks.numeric(x, "x"), shape, "x", "as throughput")
    checks.within(  # NaN would fail every comparison below, and so look feasible
        shares,
        lambda at: (
            f"x[{at[0]} ({cluster.resource_names[at[0]]}), {at[1]} ({cluster.demand_names[at[1]]})]"
        ),
        remedy="use 0 where a job does not run",
    )
    speeds = cluster.dense()
    gpus = cluster.size * shares
    held, used = gpus.sum(axis=0), gpus.sum(axis=1)
    excess = [
        np.max(used / cluster.capacity) - 1,
        np.max(shares.sum(axis=0)) - 1,
        np.max(-shares),
        np.max(np.where(speeds > 0, 0.0, shares)),
    ]
    if quota is not None:
        limits = quotas.resolve(quota, cluster.demand_names)
        for group in limits.level:
            total = np.bincount(group[group >= 0], held[group >= 0], minlength=len(limits.names))
            excess.append(np.max(total / limits.limit) - 1)
    reached = (speeds * shares).sum(axis=0)
    if floor is not None:
        names, remedy = cluster.demand_names, "use 0 where nothing was promised"
        least = matrices.vector(floor, "floor", names, "demand", cluster.jobs, remedy, zero=True)
        excess.append(np.max(1.0 - reached[least > 0.0] / least[least > 0.0], initial=0.0))
    return Evaluation(
        throughput=reached,
        used=used,
        capacity=cluster.capacity,
        weight=cluster.weight,
        violation=float(max(0.0, *excess)),
    )
