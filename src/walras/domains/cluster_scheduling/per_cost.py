"""Throughput for money: the most work for each unit of cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np

from walras import checks
from walras.domains.cluster_scheduling import matrices
from walras.domains.cluster_scheduling.case import Options, refuse_churn
from walras.domains.cluster_scheduling.matrices import Matrix, Sizes, Vector
from walras.domains.cluster_scheduling.objectives import total_throughput
from walras.separable import Separable
from walras.short_repr import short_repr
from walras.solution import Solution
from walras.solving import solve
from walras.status import Status
from walras.types import Floats

_STEPS = 60  # ratios that are tried; four or five suffice
_LEAST = 1e-10  # tolerance of such a problem
_ROUNDING = 1e-13  # relative
_SHARP = 0.1  # share of the tolerance that a linear problem may miss


@short_repr
@dataclass(frozen=True, eq=False)
class ThroughputPerCost:
    """An allocation of the most throughput for its cost, with its proof.

    Attributes:
        value: Weighted throughput over cost.
        bound: Ratio that no allocation is above.
        throughput: Weighted throughput of all jobs.
        cost: Cost a second.
        x: (resources, jobs) shares of time.
        prices: (resources,) how much the ratio rises for one more GPU of each type; 0 without
            floors, as the best pair of a job and a type has the best ratio alone.
        floor_prices: (jobs,) how much the ratio falls for a unit of throughput more in each floor.
        status: ``optimal`` where the gap is within the tolerance.
        solution: The linear problem that gave ``x``, throughput less cost at a price, solved.
        tolerance: The relative gap that was asked for.

    Example:
        >>> from walras.domains import cluster_scheduling as cs
        >>> speed, money = [[4.0, 3.0], [1.0, 1.0]], [2, 1]
        >>> found = cs.throughput_per_cost(speed, [1, 1], [1, 1], money, floor=[0, 1])
        >>> round(found.value, 3), found.x.round(3).tolist()
        (1.833, [[0.667, 0.333], [0.0, 0.0]])
        >>> found.prices.round(3), found.floor_prices.round(3)
        (array([0.167, 0.   ]), array([0.   , 0.167]))
    """

    value: float
    bound: float
    throughput: float
    cost: float
    x: Floats
    prices: Floats
    floor_prices: Floats
    status: Status
    solution: Solution
    tolerance: float

    @property
    def gap(self) -> float:
        """``(bound - value) / bound``."""
        return (self.bound - self.value) / self.bound


def throughput_per_cost(
    throughput: Matrix,
    size: Sizes,
    capacity: Vector,
    cost: Vector,
    weight: Vector | None = None,
    allowed: Matrix | None = None,
    *,
    tolerance: float = 1e-6,
    engine: str = "auto",
    **options: Unpack[Options],
) -> ThroughputPerCost:
    """Maximise ``sum_j weight_j y_j / sum_ij cost_i size_ij x_ij`` above the floors of the jobs.

    At a price r of cost, ``F(r) = max sum_j weight_j y_j - r cost`` is a linear problem. The best
    ratio is its root: an allocation of positive F improves the ratio, which is the next price
    (Dinkelbach, 1967), and where ``F(r) <= e`` no ratio is above ``r + e / least``, with the least
    cost at which the floors can be kept. Without floors the best job on its best type has the best
    ratio alone. As F is 0 at the best ratio whatever the capacities and floors are, the ratio's
    price of a row is the row's price in that problem over the cost. Source: Narayanan et al., OSDI
    2020 (section 4.2, with service-level objectives).

    Args:
        throughput: (resources, jobs) work per second; 0 where a job cannot run.
        size: (jobs,) GPUs that a job occupies while it runs, or (resources, jobs), > 0.
        capacity: (resources,) GPUs of each type, > 0.
        cost: (resources,) cost of a GPU of each type a second, > 0.
        weight: (jobs,) priorities, > 0; 1 if None.
        allowed: (resources, jobs) mask of permitted pairs; all if None.
        tolerance: Largest relative gap.
        engine: Engine of :func:`walras.solve` for the linear problems.
        **options: ``floor``, ``quota``, ``pairs``, ``resource_names``, ``demand_names``.

    Returns:
        The allocation with its ratio and proof.

    Raises:
        InputError: The data cannot be used, or churn is given; names what, where and the remedy.
        InfeasibleError: The floors cannot be kept; names rows and the least change.

    Example:
        >>> from walras.domains import cluster_scheduling as cs
        >>> speed, money = [[4.0, 3.0], [1.0, 1.0]], [2, 1]
        >>> found = cs.throughput_per_cost(speed, [1, 1], [1, 1], money, floor=[0, 1])
        >>> round(found.value, 3), round(found.throughput, 3), round(found.cost, 3)
        (1.833, 3.667, 2.0)
    """
    tolerance = checks.number(tolerance, "tolerance", above=0.0, below=1.0)
    refuse_churn(options)
    base = total_throughput(throughput, size, capacity, weight, allowed, **options)
    names, remedy = tuple(base.resource_names), "give every type its cost a second"
    money = matrices.vector(cost, "cost", names, "resource", len(names), remedy)
    # The capacity rows come first: what an entry occupies of each type.
    price = np.asarray(base.rows.matrix[: len(names), :].T @ money)
    return _Case(base, -base.cost, price).best(engine, tolerance)


@dataclass(frozen=True, eq=False)
class _Case:
    """The linear problem without cost, and what each entry brings and costs.

    Attributes:
        base: Total throughput, with capacities, floors and quotas.
        gain: (entries,) weighted throughput.
        price: (entries,) cost a second.
    """

    base: Separable
    gain: Floats
    price: Floats

    def best(self, engine: str, tolerance: float) -> ThroughputPerCost:
        """Raise the ratio until no allocation is above it."""
        sharp = max(_SHARP * tolerance, _LEAST)
        least = solve(
            replace(self.base, cost=self.price, maximize=False), engine=engine, tolerance=sharp
        )
        cheapest = max(least.bound, 0.0)
        # Any ratio is a mean of those of its pairs, each with the weight of its cost.
        bound, value = float(np.max(self.gain / self.price)), 0.0
        if cheapest <= 0.0:  # nothing was promised: the pairs of the best ratio alone, as they fit
            found = self._at(bound * (1.0 - sharp), engine, sharp)
            return self._result(found, self._at(bound, engine, sharp), bound, tolerance)
        best = least
        for _ in range(_STEPS):
            found = self._at(value, engine, sharp)
            bound = min(bound, value + max(found.bound, 0.0) / cheapest)
            ratio = self._ratio(found.entries)
            # The last problem is one at the best ratio, whose prices are the ratio's.
            last = ratio <= value * (1.0 + _ROUNDING) or bound - value <= tolerance * bound
            if ratio > value:
                best, value = found, ratio
            if last:
                break
        return self._result(best, found, bound, tolerance)

    def _at(self, price: float, engine: str, tolerance: float) -> Solution:
        """The most throughput less cost at a price."""
        cost = price * self.price - self.gain
        return solve(replace(self.base, cost=cost), engine=engine, tolerance=tolerance)

    def _ratio(self, x: Floats) -> float:
        paid = float(self.price @ x)
        return float(self.gain @ x) / paid if paid > 0.0 else 0.0

    def _result(
        self, found: Solution, last: Solution, bound: float, tolerance: float
    ) -> ThroughputPerCost:
        value, cost = self._ratio(found.entries), float(self.price @ found.entries)
        short = found.status if found.status == Status.INTERRUPTED else Status.INACCURATE
        families = {family.name for family in self.base.rows.families}
        none = np.zeros(len(self.base.demand_names))
        return ThroughputPerCost(
            value=value,
            bound=max(bound, value),
            throughput=float(self.gain @ found.entries),
            cost=cost,
            x=found.x,
            prices=last.prices["capacity"] / cost,
            floor_prices=last.prices["floor"] / cost if "floor" in families else none,
            status=Status.OPTIMAL if bound - value <= tolerance * bound else short,
            solution=found,
            tolerance=tolerance,
        )
