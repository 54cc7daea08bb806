"""The objectives of traffic engineering in path form, each stated directly as arrays.

All of them choose a flow f_p >= 0 on every candidate path p. A link e carries
``load_e = sum_(p takes e) f_p``, a pair k of nodes is served ``y_k = sum_(p joins k) f_p``.

Common arguments:
    network: The network; its links are the resources.
    demand: (nodes, nodes) traffic from row to column, >= 0, zero on the diagonal.
    paths: Candidate paths of the same network. A pair without demand carries nothing.

The solution's ``x`` is the flow on each path, in the order of ``paths``; its resource prices are
those of the links. Every function raises :class:`~walras.errors.InputError` on data that cannot be
used: a matrix that does not fit, a negative demand, a demand between nodes that no path joins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from walras.domains.traffic_engineering import matrices
from walras.domains.traffic_engineering.matrices import Demand
from walras.domains.traffic_engineering.network import Floats, Longs, Network
from walras.domains.traffic_engineering.paths import Paths
from walras.errors import InputError
from walras.kernels import paths as kernels
from walras.separable import Family, Leximin, Rows, Separable, Side, Utility


def max_total_flow(network: Network, demand: Demand, paths: Paths) -> Separable:
    """Maximise the traffic served: ``sum_k y_k`` with ``load <= capacity`` and ``y <= demand``.

    Source: Xu et al., OSDI 2025, section 5.2. Arguments as in this module's head.
    """
    case = _Case.of(network, demand, paths)
    rows = case.rows(
        _Block("demand", np.ones(paths.count), upper=np.where(case.asked, case.demand, np.inf))
    )
    return case.state("total flow", rows, cost=-1.0)


def min_max_utilisation(network: Network, demand: Demand, paths: Paths) -> Separable:
    """Minimise the largest link utilisation ``max_e load_e / capacity_e`` with all demand served.

    It may exceed 1: then the demand does not fit. Source: Xu et al., OSDI 2025, section 5.2.
    Arguments as in this module's head.
    """
    case = _Case.of(network, demand, paths)
    block = _Block(
        "demand",
        np.ones(paths.count),
        lower=np.where(case.asked, case.demand, -np.inf),
        upper=np.where(case.asked, case.demand, np.inf),
    )
    return case.state(
        "maximum link utilisation", case.rows(block, link_scalar=True), scalar="utilisation",
        scalar_cost=1.0,
    )  # fmt: skip


def max_concurrent_flow(network: Network, demand: Demand, paths: Paths) -> Separable:
    """Maximise the share t of every demand that is served at once: ``y_k >= t demand_k``.

    t may exceed 1: then all demands could grow to t times what they are. Source: Shahrokhi and
    Matula, 1990. Arguments as in this module's head.
    """
    case = _Case.of(network, demand, paths)
    share = np.where(case.asked, case.demand, 1.0)
    alone = paths.served(paths.bottleneck()) / share
    return case.state(
        "concurrent flow",
        case.rows(case.shortfall(share)),
        scalar="served share",
        scalar_cost=-1.0,
        scalar_upper=float(np.min(alone[case.asked])),
    )


def max_min_fair(
    network: Network,
    demand: Demand,
    paths: Paths,
    weight: Demand | None = None,
    *,
    levels: int = 10,
) -> Leximin:
    """Raise the least ``y_k / weight_k``, then the least of the rest, at most ``levels`` times.

    No pair is served more than its demand. The default weights are the demands: what is raised is
    then the share of each demand that is served; with all weights 1 it is the rate itself. Source:
    Danna, Mandal and Singh, INFOCOM 2012; Ogryczak and Sliwinski, 2006 (for the levels).

    Args:
        network: The network.
        demand: (nodes, nodes) traffic.
        paths: Candidate paths.
        weight: (nodes, nodes) weights, > 0 where there is demand; the demands when None.
        levels: Levels at most.
    """
    case = _Case.of(network, demand, paths)
    share = case.demand if weight is None else case.weights(weight)
    share = np.where(case.asked, share, 1.0)
    cap = _Block("demand", np.ones(paths.count), upper=np.where(case.asked, case.demand, np.inf))
    most = np.minimum(case.demand, paths.served(paths.bottleneck())) / share
    problem = case.state(
        "max-min fair flow",
        case.rows(cap, case.shortfall(share)),
        scalar="least rate",
        scalar_cost=-1.0,
        scalar_upper=float(np.min(most[case.asked])),
    )
    return Leximin(problem, "rate", levels)


@dataclass(frozen=True, eq=False)
class _Block:
    """One row a pair, after the links' rows.

    Attributes:
        name: The family's name.
        coefficient: (paths,) of each path in its pair's row.
        lower: (pairs,) bounds; none when None.
        upper: (pairs,) bounds.
        scalar: (pairs,) coefficient of the shared scalar, or 0.
    """

    name: str
    coefficient: Floats
    upper: Floats
    lower: Floats | None = None
    scalar: Floats | float = 0.0


@dataclass(frozen=True, eq=False)
class _Case:
    """Checked data of one problem.

    Attributes:
        network: The network.
        paths: Candidate paths.
        demand: (pairs,) traffic.
        asked: (pairs,) True where there is any.
    """

    network: Network
    paths: Paths
    demand: Floats
    asked: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, network: Network, demand: Demand, paths: Paths) -> _Case:
        """Check that the three belong together."""
        _check_network(network, paths)
        traffic = matrices.traffic(demand, network)
        matrices.check_joined(traffic, paths)
        own = paths.demands(traffic)
        return cls(network, paths, own, own > 0)

    def weights(self, weight: Demand) -> Floats:
        """(pairs,) checked weights, 1 where there is no demand."""
        own = self.paths.demands(matrices.traffic(weight, self.network, "weight"))
        bad = self.asked & (own <= 0)
        if np.any(bad):
            raise InputError(
                "is 0", where=f"weight[{self.paths.pair_names[int(np.argmax(bad))]}]",
                allowed="> 0 wherever there is demand", remedy="give the pair a positive weight",
            )  # fmt: skip
        return own

    def shortfall(self, share: Floats) -> _Block:
        """``t - y_k / share_k <= 0`` for the pairs that ask."""
        return _Block(
            "rate",
            -1.0 / share[self.paths.pair],
            upper=np.where(self.asked, 0.0, np.inf),
            scalar=1.0,
        )

    def rows(self, *blocks: _Block, link_scalar: bool = False) -> Rows:
        """A capacity row a link, then the blocks' rows.

        With ``link_scalar`` a link's row reads ``load - t capacity <= 0``.
        """
        m, pairs = self.network.links, self.paths.pairs
        matrix = _matrix(self.paths, blocks)
        none = np.full(pairs, -np.inf)
        own = np.arange(pairs, dtype=np.int32)
        scalars = int(link_scalar or any(np.any(block.scalar) for block in blocks))
        column = np.concatenate(
            [
                -self.network.capacity if link_scalar else np.zeros(m),
                *(np.broadcast_to(block.scalar, pairs) for block in blocks),
            ]
        )
        count = m + len(blocks) * pairs
        names = self.paths.pair_names
        starts = range(m, count, pairs)
        return Rows(
            matrix=matrix,
            scalar_matrix=column[:, None] if scalars else np.zeros((count, 0)),
            lower=np.concatenate(
                [np.full(m, -np.inf), *(none if b.lower is None else b.lower for b in blocks)]
            ),
            upper=np.concatenate(
                [np.zeros(m) if link_scalar else self.network.capacity, *(b.upper for b in blocks)]
            ),
            side=np.repeat(np.array([Side.RESOURCE, Side.DEMAND], dtype=np.int8), [m, count - m]),
            owner=np.concatenate([np.arange(m, dtype=np.int32), *(own for _ in blocks)]),
            utility=np.full(count, Utility.NONE, dtype=np.int8),
            weight=np.ones(count),
            parameter=np.zeros(count),
            families=(
                Family("capacity", 0, m, self.network.link_names),
                *(Family(b.name, s, s + pairs, names) for b, s in zip(blocks, starts, strict=True)),
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
        scalar_upper: float = np.inf,
    ) -> Separable:
        """The problem with its names; paths of pairs without demand are fixed at zero."""
        n, scalars = self.paths.count, 0 if scalar is None else 1
        idle = ~self.asked[self.paths.pair]
        upper = np.where(idle, 0.0, np.inf) if np.any(idle) else np.broadcast_to(np.inf, n)
        zeros = np.broadcast_to(0.0, n)
        return Separable(
            resource=np.broadcast_to(np.int32(-1), n),
            demand=self.paths.pair,
            cost=np.full(n, cost),
            quadratic=zeros,
            lower=zeros,
            upper=upper,
            scalar_cost=np.full(scalars, scalar_cost),
            scalar_lower=np.zeros(scalars),
            scalar_upper=np.full(scalars, scalar_upper),
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


def _matrix(paths: Paths, blocks: tuple[_Block, ...]) -> sp.csc_array:
    """A column a path: ones in its links' rows, then its coefficient in each block."""
    m, n = paths.network.links, paths.count
    more = len(blocks)
    size = len(paths.links) + more * n
    kind: type[np.int32 | np.int64] = np.int32 if size < 2**31 else np.int64
    indptr: npt.NDArray[Any] = (paths.pointer + more * np.arange(n + 1)).astype(kind)
    indices: npt.NDArray[Any] = np.empty(size, dtype=kind)
    kernels.path_columns(paths.pointer, paths.links, indptr, indices)
    data = np.ones(size)
    for k, block in enumerate(blocks):
        at = indptr[1:] - (more - k)
        indices[at] = m + k * paths.pairs + paths.pair
        data[at] = block.coefficient
    matrix = sp.csc_array((data, indices, indptr), shape=(m + more * paths.pairs, n))
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = True
    return matrix


def _check_network(network: Network, paths: Paths) -> None:
    if paths.network is not network and paths.network.shape_hash != network.shape_hash:
        raise InputError(
            f"belong to a network of {paths.network.nodes} nodes and {paths.network.links} links",
            where="paths",
            allowed=f"paths of {network.name}: {network.nodes} nodes, {network.links} links",
            remedy="find them again with candidate_paths(network)",
        )
