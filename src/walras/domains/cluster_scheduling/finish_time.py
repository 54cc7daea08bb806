"""Finish-time fairness: no job should end much later than it would with its part of the cluster."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from walras import checks
from walras.domains.cluster_scheduling import cluster as clusters
from walras.domains.cluster_scheduling.cluster import Cluster
from walras.domains.cluster_scheduling.matrices import Matrix, Vector
from walras.domains.cluster_scheduling.objectives import max_min
from walras.solution import Solution
from walras.solving import solve
from walras.types import Floats

_MOST = 40  # linear programs
_ABOVE = 1 + 1e-12


@dataclass(frozen=True, eq=False)
class FinishTime:
    """Shares of time by finish-time fairness, and how near to the best ones they are proved.

    Attributes:
        x: (resources, jobs) shares of time.
        value: The largest ratio of a job's time to end to its time alone, at these shares.
        bound: No shares have a smaller largest ratio.
        ratio: (jobs,) the ratio of each job.
        prices: (resources,) price of a worker of each type, in units of the bounding sum.
        programs: Linear programs that were solved.

    Example:
        >>> from walras.domains import cluster_scheduling as cs
        >>> found = cs.finish_time_fairness(
        ...     [[1.0, 1.0]], [1, 1], [1], [100, 100], age=[0, 0], alone=[200, 200]
        ... )
        >>> found.ratio.round(3).tolist(), found.x.round(3).tolist()
        ([1.0, 1.0], [[0.5, 0.5]])
    """

    x: Floats
    value: float
    bound: float
    ratio: Floats
    prices: Floats
    programs: int

    @property
    def gap(self) -> float:
        """How far the value may be from the best one, relative to it."""
        return (self.value - self.bound) / self.value


def finish_time_fairness(
    throughput: Matrix,
    size: Vector,
    capacity: Vector,
    steps: Vector,
    *,
    age: Vector,
    alone: Vector,
    tolerance: float = 1e-4,
    spread: bool = False,
    engine: str = "auto",
) -> FinishTime:
    """Minimise the largest ratio of the time that a job takes to its time alone.

    Job j of age a_j, with n_j steps left at y_j steps a second, ends after ρ_j = (a_j + n_j / y_j)
    / d_j times the seconds d_j that it would take alone with its part of the cluster. The largest
    ρ_j is minimised: at a trial value ρ the rates n_j / (ρ d_j - a_j) that it demands go into a
    linear program of max-min fairness. Its prices λ_j ≥ 0 bound every allocation,
    Σ_j λ_j y_j ≤ B, so the root ρ of Σ_j λ_j n_j / (ρ d_j - a_j) = B is a lower bound, and the next
    trial. The trials rise to the optimum. Sources: Mahajan et al., NSDI 2020 (Themis); Narayanan
    et al., OSDI 2020, section 4.2; the bound is Dinkelbach's method, 1967.

    Args:
        throughput: (resources, jobs) work per second; 0 where a job cannot run.
        size: (jobs,) GPUs that a job occupies while it runs, > 0.
        capacity: (resources,) GPUs of each type, > 0.
        steps: (jobs,) work left of each job, > 0.
        age: (jobs,) seconds since each job arrived, >= 0.
        alone: (jobs,) seconds from arrival to end of each job alone, > 0.
        tolerance: Largest relative gap.
        spread: Whether a last program by the interior engine spreads the time that the least ratio
            leaves over, which a vertex gives to few jobs.
        engine: Of :func:`walras.solve`, for the linear programs.

    Returns:
        The shares with value and bound.

    Raises:
        InputError: The data cannot be used; names the array, the index and the remedy.

    Example:
        >>> from walras.domains import cluster_scheduling as cs
        >>> found = cs.finish_time_fairness(
        ...     [[1.0, 1.0]], [1, 1], [1], [100, 100], age=[0, 50], alone=[200, 200]
        ... )
        >>> round(found.value, 3), found.gap < 1e-4
        (1.14, True)
    """
    cluster = clusters.read(throughput, size, capacity, steps)
    n = cluster.jobs
    ages = checks.within(checks.shaped(checks.numeric(age, "age"), (n,), "age"), "age", 0.0)
    lasts = checks.shaped(checks.numeric(alone, "alone"), (n,), "alone")
    case = _Case(cluster, cluster.weight, ages, checks.within(lasts, "alone", above=0.0))
    tolerance = checks.number(tolerance, "tolerance", above=0.0)
    bound, programs, prices = case.least(), 0, np.zeros(cluster.resources)
    x, ratio = np.zeros_like(case.speed), np.full(n, np.inf)
    while programs < _MOST:
        programs += 1
        found = case.program(bound, engine)
        ratio_there = case.ratios(found.x)
        if ratio_there.max() < ratio.max():
            x, ratio = found.x, ratio_there
        # The rows of the program are y_j / rate_j >= t.
        pulls = np.abs(np.asarray(found.prices["throughput"])) / case.rates(bound)
        costs = np.abs(np.asarray(found.prices["capacity"]))
        root = case.root(pulls, costs, bound)
        still = root <= bound * (1 + 1e-13)
        if not still:
            bound, prices = root, costs
        if still or ratio.max() - bound <= tolerance * ratio.max():
            break
    if spread:
        found = case.program(bound, "interior")
        programs, spread_ratio = programs + 1, case.ratios(found.x)
        if spread_ratio.max() <= max(ratio.max(), bound / (1 - tolerance)):
            x, ratio = found.x, spread_ratio
    return FinishTime(x, float(ratio.max()), bound, ratio, prices, programs)


@dataclass(frozen=True, eq=False)
class _Case:
    """The checked data: steps left, ages and seconds alone of each job."""

    cluster: Cluster
    steps: Floats
    age: Floats
    alone: Floats

    @property
    def speed(self) -> Floats:
        return self.cluster.dense()

    def least(self) -> float:
        """The largest ratio where each job has its fastest type all the time."""
        return float(((self.age + self.steps / self.cluster.best()) / self.alone).max())

    def rates(self, ratio: float) -> Floats:
        """(jobs,) steps a second that a ratio demands."""
        return np.asarray(self.steps / (ratio * self.alone - self.age))

    def program(self, ratio: float, engine: str) -> Solution:
        """The program of max-min fairness towards the rates that a ratio demands."""
        cluster = self.cluster
        problem = max_min(self.speed, cluster.size, cluster.capacity, self.rates(ratio))
        return solve(problem, engine=engine)

    def ratios(self, x: Floats) -> Floats:
        """(jobs,) the ratio of each job at shares of time."""
        rate = (self.speed * x).sum(axis=0)
        with np.errstate(divide="ignore"):
            return np.asarray((self.age + self.steps / rate) / self.alone)

    def root(self, pulls: Floats, costs: Floats, low: float) -> float:
        """The lower bound that prices prove, at least ``low``.

        Σ_j λ_j y_j is at most the worth of all workers and of each job's time, at any prices.
        """
        profit = pulls * self.speed - np.multiply.outer(costs, self.cluster.size)
        most = float(costs @ self.cluster.capacity + np.maximum(profit.max(axis=0), 0.0).sum())

        def excess(ratio: float) -> float:
            return float(pulls @ self.rates(ratio)) - most

        if most <= 0.0 or excess(low) <= 0.0:
            return low
        high = 2.0 * low
        while excess(high) > 0.0:
            high *= 2.0
        return max(low, float(brentq(excess, low, high, xtol=1e-12 * low)) / _ABOVE)
