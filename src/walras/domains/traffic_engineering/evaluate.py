"""The effects of a flow on a network, computed from the data alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras import checks
from walras.domains.traffic_engineering import matrices
from walras.domains.traffic_engineering.matrices import Demand
from walras.domains.traffic_engineering.network import of_kind
from walras.domains.traffic_engineering.paths import Paths
from walras.short_repr import short_repr
from walras.types import Floats


@short_repr
@dataclass(frozen=True, eq=False)
class Evaluation:
    """Loads of the links, and the served traffic, of one flow.

    Attributes:
        load: (links,) traffic on each link.
        utilisation: (links,) load over capacity.
        served: (pairs,) traffic of each pair that has paths.
        demand: (pairs,) demand of each pair.
        asked: Sum of the whole matrix, also of pairs without a path.
        violation: Largest amount by which a link or a demand is exceeded or a flow is negative,
            relative to the capacity or the demand.

    Example:
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> demand = [[0, 4, 8], [0, 0, 3], [0, 0, 0]]
        >>> paths = te.candidate_paths(net, k=2, cache=False)
        >>> found = te.evaluate(demand, paths, te.shortest_path(net, demand, paths).flow)
        >>> found.load, round(found.satisfied, 3)
        (array([4., 3., 5.]), 0.8)
    """

    load: Floats
    utilisation: Floats
    served: Floats
    demand: Floats
    asked: float
    violation: float

    @property
    def total(self) -> float:
        """Served traffic, up to each demand."""
        return float(np.minimum(self.served, self.demand).sum())

    @property
    def satisfied(self) -> float:
        """Share of all traffic that is served, 0 to 1; 1 without any demand."""
        return self.total / self.asked if self.asked else 1.0

    @property
    def max_utilisation(self) -> float:
        """The largest utilisation of a link."""
        return float(self.utilisation.max())

    @property
    def least_share(self) -> float:
        """The smallest served share of a positive demand; 1 without any demand."""
        some = self.demand > 0
        return float(np.min(self.served[some] / self.demand[some], initial=1.0))


def evaluate(demand: Demand, paths: Paths, flow: Floats) -> Evaluation:
    """Evaluate a flow by plain arithmetic, without a solver.

    Args:
        demand: (nodes, nodes) traffic.
        paths: Candidate paths.
        flow: (paths,) traffic on each path.

    Returns:
        Loads, traffic served and the largest violation.

    Raises:
        InputError: The matrix or the flow does not fit.

    Example:
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> demand = [[0, 4, 8], [0, 0, 3], [0, 0, 0]]
        >>> paths = te.candidate_paths(net, k=2, cache=False)
        >>> te.evaluate(demand, paths, te.shortest_path(net, demand, paths).flow).served
        array([4., 5., 3.])
    """
    of_kind(paths, Paths, "paths")
    remedy = "pass a solution's x, or a baseline's flow"
    x = checks.numeric(flow, "flow")
    checks.shaped(x, (paths.count,), "flow", "one number a path", remedy=remedy)
    checks.within(x, "flow", remedy=remedy)
    traffic = matrices.traffic(demand, paths.network)
    own, capacity = paths.demands(traffic), paths.network.capacity
    load, served = paths.loads(x), paths.served(x)
    over = np.max((load - capacity) / capacity, initial=0.0)
    beyond = np.max((served - own) / np.where(own > 0, own, 1.0), initial=0.0)
    negative = np.max(-x / paths.bottleneck(), initial=0.0)
    return Evaluation(
        load=load,
        utilisation=load / capacity,
        served=served,
        demand=own,
        asked=float(traffic.sum()),
        violation=float(max(over, beyond, negative)),
    )
