"""Sequences of traffic matrices on one network, each solved from the basis of the last.

From one matrix to the next only the demands change. The optimal basis of the last one stays dual
feasible, so a few pivots of the dual simplex method lead to the next optimum
(:mod:`walras.kernels.paths.dual_simplex`). Each answer has its own proof, from flow and prices
alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from walras.domains.traffic_engineering.matrices import Demand
from walras.domains.traffic_engineering.network import Network
from walras.domains.traffic_engineering.objectives import Objective
from walras.domains.traffic_engineering.paths import Paths
from walras.domains.traffic_engineering.sequence_data import SequenceData
from walras.kernels.paths.basis import Basis, PathProgram
from walras.kernels.paths.dual_simplex import follow, judge, make_work
from walras.short_repr import short_repr
from walras.types import Floats, Longs

_CHUNK = 256  # matrices between two looks for Ctrl-C


@short_repr
@dataclass(frozen=True, eq=False)
class FlowSequence:
    """Flows of a sequence of traffic matrices, with prices and bounds.

    Attributes:
        objective: ``utilisation`` or ``total``.
        paths: The candidate paths.
        capacity: (links,) capacities.
        value: (matrices,) largest utilisation, or traffic served.
        bound: (matrices,) what no flow can pass, from the prices.
        flow: (matrices, paths) traffic on each path.
        price: (matrices, links) prices >= 0. Of utilisation: ``price @ capacity`` is 1, and the
            bound is the sum of each demand over its cheapest path. Of total flow: traffic that
            one more unit of a link's capacity would serve.
        pivots: (matrices,) pivots of the dual simplex method.
        program: The problem without its demands, for ``start=``.
        begin: The first basis, for ``start=``.
        basis: The last basis, for ``start=``.

    Example:
        >>> import numpy as np
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> paths = te.candidate_paths(net, k=2, cache=False)
        >>> demands = np.zeros((2, 3, 3))
        >>> demands[:, 0, 1] = [4.0, 2.0]
        >>> found = te.min_max_utilisation_sequence(net, demands, paths)
        >>> len(found), found.value, found.price.round(3)
        (2, array([0.4, 0.2]), array([[0.1, 0. , 0. ],
               [0.1, 0. , 0. ]]))
    """

    objective: Objective
    paths: Paths
    capacity: Floats
    value: Floats
    bound: Floats
    flow: Floats
    price: Floats
    pivots: Longs
    program: PathProgram = field(repr=False)
    begin: Basis = field(repr=False)
    basis: Basis = field(repr=False)

    def __len__(self) -> int:
        return len(self.value)

    @property
    def gap(self) -> Floats:
        """(matrices,) distance of value and bound, relative to the larger; 0 where both are 0."""
        larger = np.maximum(self.value, self.bound)
        return np.abs(self.value - self.bound) / np.where(larger > 0.0, larger, 1.0)

    def frame(self) -> pd.DataFrame:
        """One row a matrix: value, bound, gap, pivots."""
        columns = {"value": self.value, "bound": self.bound, "gap": self.gap, "pivots": self.pivots}
        return pd.DataFrame(columns)


def min_max_utilisation_sequence(
    network: Network, demands: Iterable[Demand], paths: Paths, *, start: FlowSequence | None = None
) -> FlowSequence:
    """Minimise the largest link utilisation for one traffic matrix after the other.

    The problem is that of :func:`min_max_utilisation`, for each matrix; a matrix of zeros has the
    value 0. On small networks with few tight links a matrix takes microseconds. The gap is a few
    1e-10 at most, unless rounding or the largest number of pivots ends a solve before; each flow
    serves all demands in any case. Source: Dantzig and Van Slyke, 1967 (generalised upper bounds).

    Args:
        network: The network.
        demands: (matrices, nodes, nodes) traffic, in order, or an iterable of matrices; frames
            are matched by the nodes' names.
        paths: Candidate paths.
        start: An earlier result with the same paths and capacities, whose last basis is the first.

    Returns:
        Flow, prices, value and bound of each matrix.

    Raises:
        InputError: The data do not fit.

    Example:
        >>> import numpy as np
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> paths = te.candidate_paths(net, k=2, cache=False)
        >>> demands = np.zeros((2, 3, 3))
        >>> demands[:, 0, 1], demands[:, 0, 2], demands[:, 1, 2] = 4.0, [8.0, 2.0], 3.0
        >>> found = te.min_max_utilisation_sequence(net, demands, paths)
        >>> found.value.round(3), found.gap.max() <= 1e-9
        (array([0.8, 0.4]), np.True_)
        >>> later = te.min_max_utilisation_sequence(net, demands[:1], paths, start=found)
        >>> later.value.round(3)
        array([0.8])
    """
    return _solved(SequenceData.of(network, demands, paths), "utilisation", start)


def max_total_flow_sequence(
    network: Network, demands: Iterable[Demand], paths: Paths, *, start: FlowSequence | None = None
) -> FlowSequence:
    """Maximise the traffic served for one traffic matrix after the other.

    The problem is that of :func:`max_total_flow`, for each matrix; the method is that of
    :func:`min_max_utilisation_sequence`.

    Args:
        network: The network.
        demands: (matrices, nodes, nodes) traffic, in order, or an iterable of matrices; frames
            are matched by the nodes' names.
        paths: Candidate paths.
        start: An earlier result with the same paths and capacities, whose last basis is the first.

    Returns:
        Flow, prices, value and bound of each matrix.

    Raises:
        InputError: The data do not fit.

    Example:
        >>> import numpy as np
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> paths = te.candidate_paths(net, k=2, cache=False)
        >>> demands = np.array([[[0, 9, 9], [0, 0, 9], [0, 0, 0]]])
        >>> te.max_total_flow_sequence(net, demands, paths).value
        array([24.])
    """
    return _solved(SequenceData.of(network, demands, paths), "total", start)


def _solved(data: SequenceData, objective: Objective, start: FlowSequence | None) -> FlowSequence:
    """Flows, proved by their prices."""
    paths, unit, demand = data.paths, data.unit, data.demand / data.unit
    program, begin, basis = data.bases(FlowSequence, objective, start)
    count, links = len(demand), len(data.capacity)
    if objective == "total":  # no pair can be served more than its paths can carry
        most = np.add.reduceat(paths.bottleneck() / unit, paths.first[:-1])
        demand = np.minimum(demand, most)
    flow, price = np.zeros((count, len(program.pair))), np.zeros((count, links))
    pivots, (value, bound) = np.zeros(count, dtype=np.int64), np.zeros((2, count))
    work = make_work(program)
    for first in range(0, count, _CHUNK):
        at = slice(first, first + _CHUNK)
        out = (flow[at], price[at], pivots[at])
        follow(program, basis, begin, demand[at], data.most_pivots, work, *out)
    judge(program, demand, flow, price, value, bound)
    if objective == "total":
        own = np.arange(paths.count) + paths.pair  # each pair's last path is the unserved
        flow = flow[:, own] / np.maximum(value, 1.0)[:, None]
        value, bound = unit * flow.sum(axis=1), unit * (demand.sum(axis=1) - bound)
    else:
        price /= unit
    flow *= unit
    proved = (value, bound, flow, price)
    return FlowSequence(objective, paths, data.capacity, *proved, pivots, program, begin, basis)
