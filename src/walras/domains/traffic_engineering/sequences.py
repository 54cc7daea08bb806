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

from walras import checks
from walras.domains.traffic_engineering import matrices
from walras.domains.traffic_engineering.matrices import Demand
from walras.domains.traffic_engineering.network import Network
from walras.domains.traffic_engineering.objectives import Objective, check_network
from walras.domains.traffic_engineering.paths import Paths
from walras.errors import InputError
from walras.kernels.paths.basis import Basis, PathProgram, copied, first_basis
from walras.kernels.paths.dual_simplex import follow, judge, make_work
from walras.short_repr import short_repr
from walras.types import Floats, Longs

_PERTURBATION = 1e-10
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
    return _Sequence.of(network, demands, paths).solved("utilisation", start)


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
    return _Sequence.of(network, demands, paths).solved("total", start)


@dataclass(frozen=True, eq=False)
class _Sequence:
    """Checked data.

    Attributes:
        capacity: (links,) capacities.
        paths: Candidate paths.
        demand: (matrices, pairs) demands.
    """

    capacity: Floats
    paths: Paths
    demand: Floats

    @classmethod
    def of(cls, network: Network, demands: Iterable[Demand], paths: Paths) -> _Sequence:
        """Check that the three arguments belong together."""
        check_network(network, paths)
        traffic = matrices.sequence(demands, network)
        matrices.check_joined(traffic, paths)
        return cls(network.capacity, paths, paths.demands(traffic))

    def solved(self, objective: Objective, start: FlowSequence | None) -> FlowSequence:
        """Flows, proved by their prices."""
        paths, unit = self.paths, float(self.capacity.mean())
        if start is None:
            program = _program(self.capacity / unit, paths, unserved=objective == "total")
            begin = first_basis(program)
            basis = copied(begin)
        else:
            self._check(start, objective)
            program, begin, basis = start.program, start.begin, copied(start.basis)
        count, links = len(self.demand), len(self.capacity)
        demand = self.demand / unit
        if objective == "total":  # no pair can be served more than its paths can carry
            most = np.add.reduceat(paths.bottleneck() / unit, paths.first[:-1])
            demand = np.minimum(demand, most)
        flow, price = np.zeros((count, len(program.pair))), np.zeros((count, links))
        pivots, (value, bound) = np.zeros(count, dtype=np.int64), np.zeros((2, count))
        work, pivots_each = make_work(program), 1000 + 20 * (links + paths.pairs)
        for first in range(0, count, _CHUNK):
            at = slice(first, first + _CHUNK)
            out = (flow[at], price[at], pivots[at])
            follow(program, basis, begin, demand[at], pivots_each, work, *out)
        judge(program, demand, flow, price, value, bound)
        if objective == "total":
            own = np.arange(paths.count) + paths.pair  # each pair's last path is the unserved
            flow = flow[:, own] / np.maximum(value, 1.0)[:, None]
            value, bound = unit * flow.sum(axis=1), unit * (demand.sum(axis=1) - bound)
        else:
            price /= unit
        flow *= unit
        proved = (value, bound, flow, price)
        return FlowSequence(objective, paths, self.capacity, *proved, pivots, program, begin, basis)

    def _check(self, start: FlowSequence, objective: str) -> None:
        """Check that an earlier result is one of this problem."""
        checks.of_kind(
            start, FlowSequence, "start", "an earlier result", remedy="leave start= out at first"
        )
        same = start.objective == objective and np.array_equal(start.capacity, self.capacity)
        if not (same and start.paths is self.paths):
            raise InputError(
                "was solved for other paths, other capacities or another objective",
                where="start",
                allowed="a result of the same function with the same paths and capacities",
                remedy="leave start= out, and a first basis is found",
            )


def _program(capacity: Floats, paths: Paths, *, unserved: bool) -> PathProgram:
    """The path program; with ``unserved``, capacities are fixed, and each pair has one more path,
    its last one, which takes no link and costs 1.

    The perturbed costs of a flow add up to at most twice ``_PERTURBATION`` times the factor u, or
    times a mean capacity: the links' utilisations are at most u each.
    """
    more = np.arange(paths.pairs + 1) if unserved else np.zeros(paths.pairs + 1, dtype=np.int64)
    place = np.arange(paths.count) + more[paths.pair]
    count = paths.count + int(more[-1])
    hops, cost = np.zeros(count, dtype=np.int64), np.ones(count)
    hops[place], cost[place] = paths.hops, 0.0
    first = paths.first + more
    owner = np.repeat(np.arange(count, dtype=np.int32), hops)
    weight = 1.0 / np.maximum(capacity, 0.1)[paths.links]
    length = np.bincount(owner, weight, minlength=count) * np.random.default_rng(0).uniform(
        1.0, 2.0, count
    )
    order = np.argsort(paths.links, kind="stable")
    users = np.bincount(paths.links, minlength=len(capacity))
    return PathProgram(
        first=first,
        pair=np.repeat(np.arange(paths.pairs, dtype=np.int32), np.diff(first)),
        pointer=np.concatenate(([0], np.cumsum(hops))),
        links=paths.links,
        user_pointer=np.concatenate(([0], np.cumsum(users))),
        users=owner[order],
        cost=cost,
        perturbed=cost + _PERTURBATION / len(capacity) * length,
        capacity=capacity,
        scaled=0 if unserved else 1,
    )
