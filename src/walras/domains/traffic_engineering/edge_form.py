"""Maximum total flow in edge form: flows on links, one commodity for each source, no paths."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csgraph

from walras.domains.traffic_engineering import matrices
from walras.domains.traffic_engineering.matrices import Demand
from walras.domains.traffic_engineering.network import Network
from walras.errors import InputError
from walras.separable import Family, Rows, Separable, Side, Utility
from walras.types import Floats, Longs


def max_total_flow_by_link(network: Network, demand: Demand) -> Separable:
    """Maximise the traffic served over all possible paths.

    Flows f_{es} of source s on link e and deliveries 0 <= g_{st} <= demand_{st} with

        sum_s f_es <= capacity_e,    inflow_s(v) - outflow_s(v) = g_sv    for every node v != s.

    Links are the resources and sources are the demands. Every source has a conservation row for
    each node that it reaches, more than the interior point eliminates. So above a few dozen nodes
    this form is for ``engine="exact"``. Its value is an upper bound for any set of candidate paths.
    Source: Zhang and Boyd, 2025.

    Args:
        network: The network.
        demand: (nodes, nodes) traffic.

    Returns:
        The problem, for :func:`walras.solve`.

    Raises:
        InputError: The matrix does not fit, has no demand, or has demand between nodes without a
            path.

    Example:
        >>> import walras as wl
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> demand = [[0, 4, 8], [0, 0, 3], [0, 0, 0]]
        >>> round(wl.solve(te.max_total_flow_by_link(net, demand), engine="exact").value, 3)
        15.0
    """
    traffic = matrices.traffic(demand, network)
    sources = np.flatnonzero(traffic.sum(axis=1) > 0)
    if not len(sources):
        raise InputError(
            "asks for nothing",
            where="demand",
            allowed="at least one positive demand",
            remedy="give the matrix in the unit of the capacities",
        )
    _check_connected(network, traffic, sources)
    s, t = np.nonzero(traffic[sources])
    m, k = network.links, len(sources)
    entries = k * m + len(s)
    link = np.concatenate([np.tile(np.arange(m), k), np.full(len(s), -1)])
    owner = np.concatenate([np.repeat(np.arange(k), m), s])
    names = [network.node_names[v] for v in sources.tolist()]
    return Separable(
        resource=link.astype(np.int32),
        demand=owner.astype(np.int32),
        cost=np.concatenate([np.zeros(k * m), np.full(len(s), -1.0)]),
        quadratic=np.zeros(entries),
        lower=np.zeros(entries),
        upper=np.concatenate([np.full(k * m, np.inf), traffic[sources][s, t]]),
        scalar_cost=np.zeros(0),
        scalar_lower=np.zeros(0),
        scalar_upper=np.zeros(0),
        rows=_rows(network, sources, s, t),
        resource_names=network.link_names,
        demand_names=names,
        maximize=True,
        objective="total flow",
    )


def _check_connected(network: Network, traffic: Floats, sources: Longs) -> None:
    graph = sp.csr_array(
        (np.ones(network.links), (network.source, network.target)), (network.nodes, network.nodes)
    )
    hops = csgraph.shortest_path(graph, unweighted=True, indices=sources)
    lost = (traffic[sources] > 0) & ~np.isfinite(hops)
    if np.any(lost):
        at = np.unravel_index(int(np.argmax(lost)), lost.shape)
        names = network.node_names
        raise InputError(
            f"no path joins these nodes (nor {int(lost.sum()) - 1} other pairs with demand)",
            where=f"demand[{names[int(sources[at[0]])]}, {names[int(at[1])]}]",
            allowed="demand between nodes that paths join",
            remedy="te.joined_traffic(demand, te.candidate_paths(network)) leaves such demands out",
        )


def _rows(network: Network, sources: Longs, s: Longs, t: Longs) -> Rows:
    """The rows: capacities, then conservation at every node but the source, source by source."""
    m, k, n = network.links, len(sources), network.nodes
    place = np.arange(n) - (np.arange(n) > sources[:, None])  # (sources, nodes) row of a node
    count = m + k * (n - 1)
    of, e = np.repeat(np.arange(k), m), np.tile(np.arange(m), k)
    row, column, value = [e], [np.arange(k * m)], [np.ones(k * m)]
    for ends, sign in ((network.target, 1.0), (network.source, -1.0)):
        node = ends[e]
        kept = node != sources[of]
        row.append(m + of[kept] * (n - 1) + place[of[kept], node[kept]])
        column.append(np.flatnonzero(kept))
        value.append(np.full(int(kept.sum()), sign))
    row.append(m + s * (n - 1) + place[s, t])
    column.append(k * m + np.arange(len(s)))
    value.append(np.full(len(s), -1.0))
    where = np.concatenate(row), np.concatenate(column)
    matrix = sp.csc_array((np.concatenate(value), where), shape=(count, k * m + len(s)))
    matrix.sort_indices()
    lower: Floats = np.concatenate([np.full(m, -np.inf), np.zeros(count - m)])
    labels = [
        f"{network.node_names[source]} at {network.node_names[v]}"
        for source in sources.tolist()
        for v in range(n)
        if v != source
    ]
    return Rows(
        matrix=matrix,
        scalar_matrix=np.zeros((count, 0)),
        lower=lower,
        upper=np.concatenate([network.capacity, np.zeros(count - m)]),
        side=np.repeat(np.array([Side.RESOURCE, Side.DEMAND], dtype=np.int8), [m, count - m]),
        owner=np.concatenate([np.arange(m), np.repeat(np.arange(k), n - 1)]).astype(np.int32),
        utility=np.full(count, Utility.NONE, dtype=np.int8),
        weight=np.ones(count),
        parameter=np.zeros(count),
        families=(
            Family("capacity", 0, m, network.link_names),
            Family("conservation", m, count, labels),
        ),
    )
