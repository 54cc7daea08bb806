"""Finish-time fairness: no job ends much later than on a cluster of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np
import scipy

from walras import checks
from walras.certificate.certify import PRICES
from walras.domains.cluster_scheduling import matrices, rows
from walras.domains.cluster_scheduling.baselines import isolated_share
from walras.domains.cluster_scheduling.case import Case, Options, refuse_churn
from walras.domains.cluster_scheduling.cluster import Cluster
from walras.domains.cluster_scheduling.matrices import Matrix, Sizes, Vector
from walras.domains.cluster_scheduling.objectives import max_min
from walras.short_repr import short_repr
from walras.solution import Solution
from walras.solving import solve
from walras.status import Status
from walras.types import Floats

_STEPS = 50  # levels that are tried; five or six suffice
_LEAST = 1e-10  # tolerance of such a problem
_ROUNDING = 1e-15  # of a root, relative
_SHARP = 0.1  # share of the tolerance that a level's max-min problem may miss


@short_repr
@dataclass(frozen=True, eq=False)
class FinishTimes:
    """An allocation of least finish-time ratio, with its proof.

    Attributes:
        value: The largest ratio of a job, ``max_j ratio_j``.
        bound: Ratio that no allocation is below.
        ratio: (jobs,) time that the job takes in all, over the time on a cluster of its own.
        x: (resources, jobs) shares of time; those of pairs that share are listed by :func:`shares`
            of ``solution``.
        prices: (resources,) how much the ratio falls for one more GPU of each type.
        status: ``optimal`` where the gap is within the tolerance.
        solution: The max-min problem of the best level, solved: its rows, prices and explanations.
        tolerance: The relative gap that was asked for.

    Example:
        >>> from walras.domains import cluster_scheduling as cs
        >>> found = cs.finish_time_fairness([[1.0, 1.0]], [1, 1], [1], [60, 60], elapsed=[0, 60])
        >>> round(found.value, 3), found.ratio.round(3), found.status
        (1.0, array([1., 1.]), <Status.OPTIMAL: 'optimal'>)
    """

    value: float
    bound: float
    ratio: Floats
    x: Floats
    prices: Floats
    status: Status
    solution: Solution
    tolerance: float

    @property
    def gap(self) -> float:
        """``(value - bound) / value``."""
        return (self.value - self.bound) / self.value


def finish_time_fairness(
    throughput: Matrix,
    size: Sizes,
    capacity: Vector,
    steps: Vector,
    elapsed: Vector | None = None,
    isolated: Vector | None = None,
    weight: Vector | None = None,
    allowed: Matrix | None = None,
    *,
    tolerance: float = 1e-6,
    engine: str = "auto",
    **options: Unpack[Options],
) -> FinishTimes:
    """Minimise the largest ratio of a job's time to its time on a cluster of its own.

    The ratio of job j is ``weight_j (elapsed_j + steps_j / y_j) / isolated_j``. A ratio r is within
    reach if the max-min problem with weights ``w_j(r) = steps_j / (r isolated_j / weight_j -
    elapsed_j)`` has a value of one or more. Each such problem gives an allocation, so a ratio, and
    prices l_j of its jobs, so a bound: every allocation keeps ``sum_j l_j y_j / w_j <= bound``, and
    the ratios below the root of ``sum_j l_j w_j(r) / w_j = bound`` would break that. The root is
    the next ratio to try (Newton's method). Source: Mahajan et al., NSDI 2020 (Themis); Narayanan
    et al., OSDI 2020 (section 4.2).

    Args:
        throughput: (resources, jobs) work per second; 0 where a job cannot run.
        size: (jobs,) GPUs that a job occupies while it runs, or (resources, jobs), > 0.
        capacity: (resources,) GPUs of each type, > 0.
        steps: (jobs,) work left of each job, > 0, in the unit of ``throughput`` times seconds.
        elapsed: (jobs,) seconds since each job arrived, >= 0; 0 if None.
        isolated: (jobs,) seconds in all that each job takes with an equal share of the cluster of
            its own, > 0; ``elapsed`` and what is left at that pace if None.
        weight: (jobs,) priorities, > 0; a job of weight 2 should have half the ratio of others.
        allowed: (resources, jobs) mask of permitted pairs; all if None.
        tolerance: Largest relative gap.
        engine: Engine of :func:`walras.solve` for the max-min problems.
        **options: ``quota``, ``floor``, ``pairs``, ``resource_names``, ``demand_names``.

    Returns:
        The allocation with its ratios, prices and proof.

    Raises:
        InputError: The data cannot be used, or churn is given; names what, where and the remedy.

    Example:
        >>> from walras.domains import cluster_scheduling as cs
        >>> speed, size, gpus = [[3.0, 1.0, 2.0], [1.0, 1.0, 1.0]], [1, 1, 2], [1, 2]
        >>> found = cs.finish_time_fairness(speed, size, gpus, steps=[60, 30, 40])
        >>> round(found.value, 3), found.ratio.round(3)
        (1.0, array([1., 1., 1.]))
    """
    tolerance = checks.number(tolerance, "tolerance", above=0.0, below=1.0)
    refuse_churn(options)
    jobs = _Jobs.of(throughput, size, capacity, steps, elapsed, isolated, weight, allowed, options)
    sharp = max(_SHARP * tolerance, _LEAST)
    bound, ratio, levels = jobs.alone, jobs.start, list[_Level]()

    for _ in range(_STEPS):
        problem = max_min(throughput, size, capacity, jobs.weights(ratio), allowed, **options)
        levels.append(_Level.of(jobs, ratio, solve(problem, engine=engine, tolerance=sharp)))
        bound = max(bound, levels[-1].bound)
        value = min(level.value for level in levels)
        stopped = levels[-1].solution.status == Status.INTERRUPTED
        if value - bound <= tolerance * value or stopped or bound == ratio:
            break
        ratio = bound
    best = min(levels, key=lambda level: level.value)
    return best.found(jobs, bound, tolerance, stopped)


@dataclass(frozen=True, eq=False)
class _Jobs:
    """Work and times of the jobs.

    Attributes:
        cluster: The pairs that can run.
        best: (jobs,) throughput of each job on its best type, alone or in a pair.
        steps: (jobs,) work left.
        elapsed: (jobs,) seconds since arrival.
        due: (jobs,) seconds in all for a ratio of one.
    """

    cluster: Cluster
    best: Floats
    steps: Floats
    elapsed: Floats
    due: Floats

    @classmethod
    def of(
        cls,
        throughput: Matrix,
        size: Sizes,
        capacity: Vector,
        steps: Vector,
        elapsed: Vector | None,
        isolated: Vector | None,
        weight: Vector | None,
        allowed: Matrix | None,
        options: Options,
    ) -> _Jobs:
        case = Case.of(throughput, size, capacity, weight, allowed, **options)
        cluster = case.cluster
        known = cluster.demand_names

        def times(given: Vector, name: str, remedy: str, *, zero: bool = False) -> Floats:
            return matrices.vector(given, name, known, "demand", len(known), remedy, zero=zero)

        work = times(steps, "steps", "give every job the work it has left; leave others out")
        since = (
            np.zeros(cluster.jobs)
            if elapsed is None
            else times(elapsed, "elapsed", "give the seconds since each job arrived", zero=True)
        )
        pace = np.sum(cluster.dense() * isolated_share(cluster), axis=0)
        alone = (
            since + work / pace
            if isolated is None
            else times(isolated, "isolated", "give the seconds each job takes on its share")
        )
        return cls(cluster, case.best(), work, since, alone / cluster.weight)

    @property
    def start(self) -> float:
        """The ratio at an equal share of every type."""
        pace = np.sum(self.cluster.dense() * isolated_share(self.cluster), axis=0)
        return max(self.alone, float(np.max(self.ratios(pace))))

    @property
    def alone(self) -> float:
        """The ratio that no allocation is below: each job on its best type all the time."""
        return float(np.max(self.ratios(self.best)))

    def ratios(self, pace: Floats) -> Floats:
        """(jobs,) ratios at given throughputs."""
        with np.errstate(divide="ignore"):
            return np.asarray((self.elapsed + self.steps / pace) / self.due)

    def weights(self, ratio: float) -> Floats:
        """(jobs,) throughputs that a ratio asks for."""
        return np.asarray(self.steps / (ratio * self.due - self.elapsed))

    def reached(self, ratio: float, solution: Solution) -> Floats:
        """(jobs,) ratios at the allocation of a ratio's problem, whose rows have ``y_j / w_j``."""
        relative = -rows.activity(solution.problem, "throughput", solution.entries)
        return self.ratios(self.weights(ratio) * relative)


@dataclass(frozen=True, eq=False)
class _Level:
    """What the max-min problem of a ratio says.

    Attributes:
        tried: The ratio.
        solution: Its max-min problem, solved.
        value: The ratio of its allocation.
        bound: The ratio that no allocation is below, by its prices.
    """

    tried: float
    solution: Solution
    value: float
    bound: float

    @classmethod
    def of(cls, jobs: _Jobs, ratio: float, solution: Solution) -> _Level:
        value = float(np.max(jobs.reached(ratio, solution)))
        return cls(ratio, solution, value, _bound(jobs, ratio, solution))

    def found(self, jobs: _Jobs, bound: float, tolerance: float, stopped: bool) -> FinishTimes:
        """The result, of which this is the best level."""
        steepness = jobs.due / (self.tried * jobs.due - jobs.elapsed)
        slope = float(self.solution.prices["throughput"] @ steepness)
        proved = self.value - bound <= tolerance * self.value
        short = Status.INTERRUPTED if stopped else Status.INACCURATE
        return FinishTimes(
            value=self.value,
            bound=min(bound, self.value),
            ratio=jobs.reached(self.tried, self.solution),
            x=self.solution.x,
            prices=self.solution.prices["capacity"] / max(slope, 1e-300),
            status=Status.OPTIMAL if proved else short,
            solution=self.solution,
            tolerance=tolerance,
        )


def _bound(jobs: _Jobs, ratio: float, solution: Solution) -> float:
    """The ratio that no allocation is below, by the prices of a ratio's max-min problem.

    A bound that another solver vouches for is not one of these prices, and says nothing here.
    """
    low = jobs.alone
    if solution.bound_source != PRICES:
        return low
    price = solution.prices["throughput"]
    # What the jobs' prices lack to one stands on the scalar's ceiling.
    ceiling = float(solution.problem.scalar_upper[0])
    most = float(solution.bound) - (1.0 - float(price.sum())) * ceiling
    wanted = jobs.weights(ratio)

    def excess(lower: float) -> float:
        return float(price @ (jobs.weights(lower) / wanted)) - most

    if most <= 0.0 or excess(low) <= 0.0:
        return low
    high = 2.0 * max(ratio, low)
    while excess(high) > 0.0:
        high *= 2.0
    return float(scipy.optimize.brentq(excess, low, high, xtol=1e-300, rtol=_ROUNDING))
