"""The objectives of traffic engineering in path form, each stated directly as arrays.

All of them choose a flow f_p >= 0 on every candidate path p. A link e carries
``load_e = sum_(p takes e) f_p``, and a pair k of nodes gets ``y_k = sum_(p joins k) f_p``.

Common arguments:
    network: The network; its links are the resources.
    demand: (nodes, nodes) traffic from row to column, >= 0, zero on the diagonal.
    paths: Candidate paths of the same network. A pair without demand carries nothing.

The solution's ``x`` is the flow on each path, in the order of ``paths``; its resource prices are
the links' prices. Every function raises :class:`~walras.errors.InputError` on data that cannot be
used: a matrix that does not fit, a negative demand, or a demand between nodes without a path.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from walras import checks
from walras.domains.traffic_engineering import matrices
from walras.domains.traffic_engineering.matrices import Demand
from walras.domains.traffic_engineering.network import Network, of_kind
from walras.domains.traffic_engineering.paths import Paths
from walras.errors import InputError
from walras.kernels.paths.arrays import path_columns
from walras.separable import Family, Leximin, Rows, Separable, Side, Utility
from walras.types import Bools, Floats, Longs

Objective = Literal["total", "utilisation", "concurrent", "fair"]


def max_total_flow(network: Network, demand: Demand, paths: Paths) -> Separable:
    """Maximise the traffic served: ``sum_k y_k`` with ``load <= capacity`` and ``y <= demand``.

    Source: Xu et al., OSDI 2025, section 5.2.

    Args:
        network: The network.
        demand: (nodes, nodes) traffic.
        paths: Candidate paths.

    Returns:
        The problem, for :func:`walras.solve`.

    Raises:
        InputError: The data do not fit.

    Example:
        >>> import walras as wl
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> demand = [[0, 4, 8], [0, 0, 3], [0, 0, 0]]
        >>> paths = te.candidate_paths(net, k=2, cache=False)
        >>> round(wl.solve(te.max_total_flow(net, demand, paths)).value, 3)
        15.0
    """
    case = _Case.of(network, demand, paths)
    return case.state("total flow", case.rows(case.served("demand", upper=case.demand)), cost=-1.0)


def min_max_utilisation(network: Network, demand: Demand, paths: Paths) -> Separable:
    """Minimise the largest link utilisation ``max_e load_e / capacity_e`` with all demand served.

    If it exceeds 1, the demand does not fit. Source: Xu et al., OSDI 2025, section 5.2.

    Args:
        network: The network.
        demand: (nodes, nodes) traffic.
        paths: Candidate paths.

    Returns:
        The problem, for :func:`walras.solve`.

    Raises:
        InputError: The data do not fit.

    Example:
        >>> import walras as wl
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> demand = [[0, 4, 8], [0, 0, 3], [0, 0, 0]]
        >>> paths = te.candidate_paths(net, k=2, cache=False)
        >>> round(wl.solve(te.min_max_utilisation(net, demand, paths)).value, 3)
        0.8
    """
    case = _Case.of(network, demand, paths)
    block = case.served("demand", lower=case.demand, upper=case.demand)
    rows = case.rows(block, link_scalar=True)
    return case.state("maximum link utilisation", rows, scalar="utilisation", scalar_cost=1.0)


def max_concurrent_flow(network: Network, demand: Demand, paths: Paths) -> Separable:
    """Maximise the common share t of every demand that can be served: ``y_k >= t demand_k``.

    If t exceeds 1, all demands could grow by this factor. Source: Shahrokhi and Matula, 1990.

    Args:
        network: The network.
        demand: (nodes, nodes) traffic.
        paths: Candidate paths.

    Returns:
        The problem, for :func:`walras.solve`.

    Raises:
        InputError: The data do not fit.

    Example:
        >>> import walras as wl
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> demand = [[0, 4, 8], [0, 0, 3], [0, 0, 0]]
        >>> paths = te.candidate_paths(net, k=2, cache=False)
        >>> round(wl.solve(te.max_concurrent_flow(net, demand, paths)).value, 3)
        1.25
    """
    case = _Case.of(network, demand, paths)
    rows = case.rows(case.shortfall(case.demand))
    return case.state("concurrent flow", rows, scalar="served share", scalar_cost=-1.0)


def max_min_fair(
    network: Network,
    demand: Demand,
    paths: Paths,
    weight: Demand | None = None,
    *,
    levels: int = 10,
) -> Leximin:
    """Raise the least ``y_k / weight_k``, then the least of the rest, at most ``levels`` times.

    No pair gets more than its demand. The default weights are the demands, so that the served share
    of each demand is raised; with all weights 1 it is the rate itself. Source: Danna, Mandal and
    Singh, INFOCOM 2012; Ogryczak and Sliwinski, 2006 (for the levels).

    Args:
        network: The network.
        demand: (nodes, nodes) traffic.
        paths: Candidate paths.
        weight: (nodes, nodes) weights, > 0 where there is demand; the demands when None.
        levels: Largest number of levels.

    Returns:
        The levels, for :func:`walras.solve`.

    Example:
        >>> import walras as wl
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> demand = [[0, 4, 8], [0, 0, 3], [0, 0, 0]]
        >>> paths = te.candidate_paths(net, k=2, cache=False)
        >>> round(wl.solve(te.max_min_fair(net, demand, paths)).value, 3)
        1.0
    """
    case = _Case.of(network, demand, paths)
    share = case.demand if weight is None else case.weights(weight)
    rows = case.rows(case.served("demand", upper=case.demand), case.shortfall(share))
    problem = case.state("max-min fair flow", rows, scalar="least rate", scalar_cost=-1.0)
    return Leximin(problem, "rate", levels)


def named_objective(
    name: Objective, network: Network, demand: Demand, paths: Paths, levels: int = 10
) -> Separable | Leximin:
    """State the objective with a given name.

    Args:
        name: ``total``, ``utilisation``, ``concurrent`` or ``fair``.
        network: The network.
        demand: (nodes, nodes) traffic.
        paths: Candidate paths.
        levels: For ``fair``: largest number of levels.

    Returns:
        The problem, for :func:`walras.solve`.
    """
    if name == "fair":
        return max_min_fair(network, demand, paths, levels=levels)
    if name == "total":
        return max_total_flow(network, demand, paths)
    if name == "utilisation":
        return min_max_utilisation(network, demand, paths)
    return max_concurrent_flow(network, demand, paths)


@dataclass(frozen=True, eq=False)
class _Block:
    """One row for each pair, after the links' rows.

    Attributes:
        name: The family's name.
        coefficient: (paths,) coefficient of each path in its pair's row.
        lower: (pairs,) bounds.
        upper: (pairs,) bounds.
        scalar: Coefficient of the shared scalar.
    """

    name: str
    coefficient: Floats
    lower: Floats
    upper: Floats
    scalar: float = 0.0


@dataclass(frozen=True, eq=False)
class _Case:
    """Checked data of one problem.

    Attributes:
        network: The network.
        paths: Candidate paths.
        demand: (pairs,) traffic.
        asked: (pairs,) True where there is demand; only these pairs have rows.
    """

    network: Network
    paths: Paths
    demand: Floats
    asked: Bools

    @classmethod
    def of(cls, network: Network, demand: Demand, paths: Paths) -> _Case:
        """Check that the three arguments belong together."""
        check_network(network, paths)
        traffic = matrices.traffic(demand, network)
        matrices.check_joined(traffic, paths)
        own = paths.demands(traffic)
        if not np.any(own):
            raise InputError(
                "asks for nothing",
                where="demand",
                allowed="at least one positive demand",
                remedy="give the matrix in the unit of the capacities",
            )
        return cls(network, paths, own, own > 0)

    def weights(self, weight: Demand) -> Floats:
        """(pairs,) checked weights."""
        own = self.paths.demands(matrices.traffic(weight, self.network, "weight"))
        return checks.refuse_first(
            self.asked & (own <= 0),
            own,
            lambda at: f"weight[{self.paths.pair_names[at[0]]}]",
            allowed="> 0 wherever there is demand",
            remedy="give the pair a positive weight",
        )

    def served(self, name: str, *, upper: Floats, lower: Floats | None = None) -> _Block:
        """Rows ``lower <= y_k <= upper``."""
        none = np.broadcast_to(-np.inf, self.paths.pairs)
        one = np.broadcast_to(1.0, self.paths.count)
        return _Block(name, one, none if lower is None else lower, upper)

    def shortfall(self, share: Floats) -> _Block:
        """Rows ``t - y_k / share_k <= 0``."""
        none, zero = (np.broadcast_to(b, self.paths.pairs) for b in (-np.inf, 0.0))
        part = -1.0 / np.where(self.asked, share, 1.0)
        return _Block("rate", part[self.paths.pair], none, zero, scalar=1.0)

    def rows(self, *blocks: _Block, link_scalar: bool = False) -> Rows:
        """A capacity row for each link, then the blocks' rows of the pairs with demand.

        With ``link_scalar`` a link's row is ``load - t capacity <= 0``.
        """
        m, capacity = self.network.links, self.network.capacity
        own = np.flatnonzero(self.asked).astype(np.int32)
        count = m + len(blocks) * len(own)
        scalars = int(link_scalar or any(block.scalar for block in blocks))
        column = [-capacity if link_scalar else np.zeros(m)]
        column += [np.full(len(own), block.scalar) for block in blocks]
        names = self.paths.pair_names.some(own)
        starts = range(m, count, len(own))
        return Rows(
            matrix=_matrix(self.paths, blocks, self.asked),
            scalar_matrix=np.concatenate(column)[:, None] if scalars else np.zeros((count, 0)),
            lower=np.concatenate([np.full(m, -np.inf), *(b.lower[own] for b in blocks)]),
            upper=np.concatenate(
                [np.zeros(m) if link_scalar else capacity, *(b.upper[own] for b in blocks)]
            ),
            side=np.repeat(np.array([Side.RESOURCE, Side.DEMAND], dtype=np.int8), [m, count - m]),
            owner=np.concatenate([np.arange(m, dtype=np.int32), *(own for _ in blocks)]),
            utility=np.full(count, Utility.NONE, dtype=np.int8),
            weight=np.ones(count),
            parameter=np.zeros(count),
            families=(
                Family("capacity", 0, m, self.network.link_names),
                *(
                    Family(block.name, start, start + len(own), names)
                    for block, start in zip(blocks, starts, strict=True)
                ),
            ),
        )

    def state(
        self,
        objective: str,
        rows: Rows,
        *,
        cost: float = 0.0,
        scalar: str | None = None,
        scalar_cost: float = 0.0,
    ) -> Separable:
        """The problem with its names; paths of pairs without demand are fixed at zero."""
        n, scalars = self.paths.count, 0 if scalar is None else 1
        idle = ~self.asked[self.paths.pair]
        zeros = np.broadcast_to(0.0, n)
        return Separable(
            resource=np.broadcast_to(np.int32(-1), n),
            demand=self.paths.pair,
            cost=np.full(n, cost),
            quadratic=zeros,
            lower=zeros,
            upper=np.where(idle, 0.0, np.inf) if np.any(idle) else np.broadcast_to(np.inf, n),
            scalar_cost=np.full(scalars, scalar_cost),
            scalar_lower=np.zeros(scalars),
            scalar_upper=np.full(scalars, np.inf),
            rows=rows,
            resource_names=self.network.link_names,
            demand_names=self.paths.pair_names,
            scalar_names=() if scalar is None else (scalar,),
            maximize=cost < 0 or scalar_cost < 0,
            objective=objective,
            namer=self._entry_name,
            keys=self._keys,
        )

    def _keys(self) -> Longs:
        return self.paths.keys

    def _entry_name(self, path: int) -> str:
        names = self.network.node_names
        return "flow on " + "->".join(names[v] for v in self.paths.nodes_of(path).tolist())


def _matrix(paths: Paths, blocks: tuple[_Block, ...], asked: Bools) -> sp.csc_array:
    """A column for each path: how often it takes each link, then its coefficient in each block."""
    m, n = paths.network.links, paths.count
    more = len(blocks)
    size = len(paths.links) + more * n
    kind: type[np.int32 | np.int64] = np.int32 if size < 2**31 else np.int64
    indptr: npt.NDArray[Any] = (paths.pointer + more * np.arange(n + 1)).astype(kind)
    indices: npt.NDArray[Any] = np.empty(size, dtype=kind)
    path_columns(paths.pointer, paths.links, indptr, indices)
    data = np.ones(size)
    for k, block in enumerate(blocks):
        at = indptr[1:] - (more - k)
        indices[at] = m + k * paths.pairs + paths.pair
        data[at] = block.coefficient
    matrix = sp.csc_array((data, indices, indptr), shape=(m + more * paths.pairs, n))
    if not np.all(asked):
        kept = np.concatenate([np.ones(m, dtype=np.bool_), *(asked for _ in blocks)])
        matrix = sp.csc_array(matrix[np.flatnonzero(kept)])
    matrix.has_sorted_indices = True
    matrix.sum_duplicates()  # of a path that takes a link twice
    return matrix


def check_network(network: Network, paths: Paths) -> None:
    """Refuse paths that belong to another network.

    Args:
        network: The network.
        paths: Candidate paths.

    Raises:
        InputError: The network has other nodes or links.
    """
    of_kind(network, Network, "network")
    of_kind(paths, Paths, "paths")
    if paths.network is not network and paths.network.shape_hash != network.shape_hash:
        raise InputError(
            f"belong to a network of {paths.network.nodes} nodes and {paths.network.links} links",
            where="paths",
            allowed=f"paths of {network.name}: {network.nodes} nodes, {network.links} links",
            remedy="find them again with candidate_paths(network)",
        )
