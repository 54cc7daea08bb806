"""Shares that no job gains by lying about its speeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from walras import checks
from walras.domains.cluster_scheduling import cluster as clusters
from walras.domains.cluster_scheduling.matrices import Matrix, Sizes, Vector
from walras.domains.cluster_scheduling.objectives import proportional_fairness
from walras.short_repr import short_repr
from walras.solution import Solution
from walras.solving import solve
from walras.types import Floats, Longs

_LEAST = 1e-10  # tolerance of such a problem


@short_repr
@dataclass(frozen=True, eq=False)
class StrategyProof:
    """Discounted proportionally fair shares.

    Attributes:
        x: (resources, jobs) shares of time, after the discount.
        discount: (jobs,) share of its fair shares that each job keeps, at least 1/e.
        throughput: (jobs,) work per second at ``x``.
        fair: The proportionally fair allocation, solved, before the discount.
        gap: Largest gap of the problems solved, in nat a job.

    Example:
        >>> from walras.domains import cluster_scheduling as cs
        >>> found = cs.strategy_proof([[1.0, 1.0]], [1, 1], [1])
        >>> found.discount.round(3), found.x.round(3)
        (array([0.5, 0.5]), array([[0.25, 0.25]]))
    """

    x: Floats
    discount: Floats
    throughput: Floats
    fair: Solution
    gap: float


def strategy_proof(
    throughput: Matrix,
    size: Sizes,
    capacity: Vector,
    weight: Vector | None = None,
    allowed: Matrix | None = None,
    *,
    tolerance: float = 1e-6,
    engine: str = "auto",
    on_job: Callable[[int, int], None] | None = None,
    resource_names: Sequence[str] | None = None,
    demand_names: Sequence[str] | None = None,
) -> StrategyProof:
    """Proportional fairness with a discount by which telling the truth is best for every job.

    Job j keeps the share ``f_j`` of its fair allocation, with ``f_j^weight_j`` the product of the
    other jobs' throughputs, each to the power of its weight, over the same product in the fair
    allocation without j: it pays for what it takes from the others. With V the objective of
    proportional fairness,

        log f_j = (V - weight_j log y_j - V without j) / weight_j.

    Jobs that do not compete pay nothing; equal jobs keep at least 1/e. What is not given stays
    idle. One problem is solved for each job. Source: Cole, Gkatzelis and Goel, EC 2013 (partial
    allocation); Narayanan et al., OSDI 2020 (section 4.4 uses it).

    Args:
        throughput: (resources, jobs) work per second; 0 where a job cannot run.
        size: (jobs,) GPUs that a job occupies while it runs, or (resources, jobs), > 0.
        capacity: (resources,) GPUs of each type, > 0.
        weight: (jobs,) priorities, > 0; 1 if None.
        allowed: (resources, jobs) mask of permitted pairs; all if None.
        tolerance: Accuracy t of the discounts. The objective of each problem is within t/2 of its
            best, in nat a unit of the least weight, but for rounding. Then y_j is within sqrt(t)
            of its best, and a discount's relative error is at most about t + sqrt(t).
        engine: Engine of :func:`walras.solve`.
        on_job: Called with the problems solved and their number.
        resource_names: Labels of the resources, when ``throughput`` carries none.
        demand_names: Labels of the jobs, when ``throughput`` carries none.

    Returns:
        The shares with their discounts.

    Raises:
        InputError: The data cannot be used; names the array, the index and the remedy.

    Example:
        >>> from walras.domains import cluster_scheduling as cs
        >>> found = cs.strategy_proof([[4.0, 1.0], [1.0, 4.0]], [1, 1], [1, 1])
        >>> found.discount.round(3), found.throughput.round(3)
        (array([1., 1.]), array([4., 4.]))
    """
    cluster = clusters.read(
        throughput,
        size,
        capacity,
        weight,
        allowed,
        resource_names=resource_names,
        demand_names=demand_names,
    )
    tolerance = checks.number(tolerance, "tolerance", above=0.0, below=1.0)
    speed, n = cluster.dense(), cluster.jobs
    # The gap is stated in nat a job and unit of weight.
    least, total = float(np.min(cluster.weight)), float(np.sum(cluster.weight))
    sharp = max(0.5 * tolerance * least / total, _LEAST)

    def fair(jobs: Longs) -> Solution:
        problem = proportional_fairness(
            speed[:, jobs],
            cluster.size[:, jobs],
            cluster.capacity,
            cluster.weight[jobs],
            resource_names=cluster.resource_names,
            demand_names=[cluster.demand_names[j] for j in jobs],
        )
        return solve(problem, engine=engine, tolerance=sharp)

    every = np.arange(n, dtype=np.int64)
    together = fair(every)
    reached = (speed * together.x).sum(axis=0)
    others = together.value - cluster.weight * np.log(reached)
    without, gap = np.zeros(n), together.gap
    for j in range(n):
        if on_job is not None:
            on_job(j + 1, n + 1)
        if n > 1:
            alone = fair(np.delete(every, j))
            without[j], gap = alone.value, max(gap, alone.gap)
        else:
            others[j] = 0.0
    discount = np.exp(np.minimum((others - without) / cluster.weight, 0.0))
    x = together.x * discount
    return StrategyProof(x, discount, (speed * x).sum(axis=0), together, gap)
