"""Synthetic stand-ins for the wide-area networks: growth by nearness and degree, fitted to them.

Nodes lie uniformly in the unit square and join one after the other; node i draws its neighbour j
among the earlier ones, and further edges are drawn likewise, with probability proportional to

    degree_j^hub exp(-distance_ij / reach)

(preference for hubs and for what is near; Yook, Jeong and Barabasi 2002). Every edge is a link each
way with a capacity of its own, lognormal and rounded to a step. ``FITTED`` holds the estimates, as
printed by ``walras data fit te_topologies`` (or ``topology_zoo``) on the measured sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csgraph

from walras.data.formats.graphs import Graph
from walras.data.te_topologies import NAME, ZOO_FILES, ZOO_NAME, Topologies
from walras.types import Floats, Ints, Longs

_HUBS = (0.0, 0.5, 1.25)
_SOURCES = 64  # nodes from which hops are counted
_REACHES = (0.02, 0.05, 0.1, 0.5, 2.0)


@dataclass(frozen=True)
class GraphModel:
    """The parameters of one network.

    Attributes:
        nodes: Number of nodes.
        edges: Number of edges, each a link both ways.
        hub: Exponent of the degree.
        reach: Distance over which the chance of an edge falls to 1/e.
        log_capacity: Mean of the logarithm of the capacity; None where links have none.
        capacity_sd: Its standard deviation.
        step: Capacities are multiples of it.
    """

    nodes: int
    edges: int
    hub: float
    reach: float
    log_capacity: float | None = None
    capacity_sd: float = 0.0
    step: float = 1.0


@dataclass(frozen=True)
class Model:
    """The parameters of a set of networks, by name."""

    graphs: tuple[tuple[str, GraphModel], ...]


FITTED = Model(
    graphs=(
        ("B4", GraphModel(12, 19, 0.5, 0.5, 8.5172, 0.0, 5000.0)),
        ("UsCarrier", GraphModel(158, 189, 0.0, 0.05, 6.1889, 1.1608, 50.0)),
        ("Kdl", GraphModel(754, 895, 0.0, 0.05, 8.3693, 1.2109, 500.0)),
        ("ASN2k", GraphModel(1739, 4279, 1.25, 0.1, 6.6566, 0.8398, 250.0)),
    )
)
FITTED_ZOO = Model(
    graphs=(
        ("Cogentco", GraphModel(197, 243, 0.0, 0.02)),
        ("Colt", GraphModel(153, 177, 1.25, 0.05)),
        ("Deltacom", GraphModel(113, 161, 0.0, 0.02)),
        ("DialtelecomCz", GraphModel(193, 192, 0.0, 0.05)),
        ("GtsCe", GraphModel(149, 193, 0.0, 0.02)),
        ("Interoute", GraphModel(110, 146, 0.0, 0.02)),
        ("Ion", GraphModel(125, 146, 0.0, 0.05)),
        ("Kdl", GraphModel(754, 895, 0.0, 0.05)),
        ("TataNld", GraphModel(145, 186, 0.0, 0.02)),
        ("Uninett2010", GraphModel(74, 101, 0.5, 0.05)),
        ("UsCarrier", GraphModel(158, 189, 0.0, 0.05)),
        ("b4-teavar", GraphModel(12, 19, 0.5, 0.5, 8.5172, 0.0, 5000.0)),
        ("erdos-renyi-1260231677", GraphModel(997, 2538, 0.0, 2.0, 6.9078, 0.0, 1000.0)),
    )
)


def stand_in(seed: int, model: Model | None = None) -> Topologies:
    """Networks with the sizes, hops and capacities of Teal's and DeDe's.

    Args:
        seed: Of the random numbers.
        model: Parameters; those fitted to the measured set when left out.
    """
    return _draw(NAME, seed, FITTED if model is None else model)


def stand_in_zoo(seed: int, model: Model | None = None) -> Topologies:
    """Networks with the sizes of the Topology Zoo's. Arguments as of :func:`stand_in`."""
    return _draw(ZOO_NAME, seed, FITTED_ZOO if model is None else model)


def _draw(name: str, seed: int, model: Model) -> Topologies:
    random = np.random.default_rng(seed)
    graphs = {graph: grow(parameters, random) for graph, parameters in model.graphs}
    origin = f"{name} model fitted to the set, seed {seed}"
    return Topologies(graphs, "synthetic stand-in", origin)


def grow(model: GraphModel, random: np.random.Generator) -> Graph:
    """One network.

    Args:
        model: Its parameters.
        random: Source of random numbers.
    """
    n = model.nodes
    position = random.random((n, 2))
    degree = np.zeros(n)
    joined = np.zeros((n, n), dtype=np.bool_)
    edges: list[tuple[int, int]] = []
    while len(edges) < model.edges:
        tree = len(edges) < n - 1
        i = len(edges) + 1 if tree else int(random.integers(n))
        free = ~joined[i, : i if tree else n]
        if not tree:
            free[i] = False
        others = np.flatnonzero(free)
        if len(others):
            j = _neighbour(model, position, degree, i, others, random)
            joined[i, j] = joined[j, i] = True
            degree[[i, j]] += 1
            edges.append((i, j))
    ends = np.array(edges, dtype=np.int32)
    source, target = np.concatenate((ends, ends[:, ::-1])).T
    return Graph(
        names=tuple(map(str, range(n))),
        source=np.ascontiguousarray(source),
        target=np.ascontiguousarray(target),
        capacity=_capacities(model, len(source), random),
        position=position,
        one_way=np.ones(len(source), dtype=np.bool_),
    )


def _neighbour(
    model: GraphModel,
    position: Floats,
    degree: Floats,
    i: int,
    others: Longs,
    random: np.random.Generator,
) -> int:
    distance = np.linalg.norm(position[others] - position[i], axis=1)
    nearness = (distance - distance.min()) / model.reach
    weight = np.maximum(degree[others], 1.0) ** model.hub * np.exp(-nearness)
    return int(random.choice(others, p=weight / weight.sum()))


def _capacities(model: GraphModel, links: int, random: np.random.Generator) -> Floats:
    if model.log_capacity is None:
        return np.full(links, np.nan)
    drawn = np.exp(random.normal(model.log_capacity, model.capacity_sd, links))
    return np.maximum(np.round(drawn / model.step), 1.0) * model.step


def fit(data: Topologies) -> Model:
    """Estimate every network; hub and reach by the mean hops and the largest degree."""
    return Model(tuple((name, _fit(graph)) for name, graph in data.graphs.items()))


def fit_zoo(data: Topologies) -> Model:
    """As :func:`fit`; capacities only where the file has them."""
    order = [Path(file).stem for file in ZOO_FILES]
    return Model(tuple((name, _fit(data.graphs[name])) for name in order))


def _fit(graph: Graph) -> GraphModel:
    n = len(graph.names)
    low, high = np.minimum(graph.source, graph.target), np.maximum(graph.source, graph.target)
    edges = len(np.unique(low[low != high].astype(np.int64) * n + high[low != high]))
    known = graph.capacity[np.isfinite(graph.capacity)]
    capacity: dict[str, float] = {}
    if len(known):
        log = np.log(known)
        step = float(np.gcd.reduce(np.round(known).astype(np.int64)))
        capacity = {
            "log_capacity": round(float(log.mean()), 4),
            "capacity_sd": round(float(log.std()), 4),
            "step": step,
        }
    edges = max(edges, n - 1)  # the model's networks hang together
    wanted = _summary(n, low, high)
    tried = [GraphModel(n, edges, hub, reach, **capacity) for hub in _HUBS for reach in _REACHES]
    return min(tried, key=lambda model: _miss(model, wanted))


def _miss(model: GraphModel, wanted: Floats) -> float:
    """Squared distance in the logarithms of mean hops and largest degree."""
    graph = grow(model, np.random.default_rng(0))
    found = _summary(model.nodes, graph.source, graph.target)
    return float(np.sum((np.log(found) - np.log(wanted)) ** 2))


def _summary(n: int, source: Ints, target: Ints) -> Floats:
    """Mean hops from some nodes to those joined with them, and the largest degree."""
    one = np.ones(len(source))
    links = sp.csr_array((one, (source, target)), shape=(n, n))
    links = sp.csr_array(links + links.T)
    hops = csgraph.shortest_path(links, unweighted=True, indices=np.arange(0, n, -(-n // _SOURCES)))
    reached = hops[np.isfinite(hops) & (hops > 0)]
    return np.array([reached.mean(), np.diff(links.indptr).max()])
