"""Stand-ins for the released paths: edge-disjoint paths of the stand-in networks."""

from __future__ import annotations

import numpy as np

from walras.data.formats.graphs import Graph
from walras.data.synthetic import te_topologies as te_topologies_stand_in
from walras.data.synthetic.te_topologies import Model, fit
from walras.data.te_paths import NAME, NETWORKS, PathSet, ReleasedPaths

__all__ = ["fit", "stand_in"]

_K = 4


def stand_in(seed: int, model: Model | None = None) -> ReleasedPaths:
    """Up to four edge-disjoint paths a pair of the networks of the same seed.

    Args:
        seed: Of the networks.
        model: Parameters of the networks; those fitted to the measured ones when left out.
    """
    known = (te_topologies_stand_in.FITTED if model is None else model).graphs
    # The networks are drawn one after the other; the later, larger ones are not needed.
    first = Model(tuple(named for named in known if named[0] in NETWORKS))
    networks = te_topologies_stand_in.stand_in(seed, first)
    paths = {name: _paths(graph) for name, graph in networks.graphs.items()}
    origin = f"{NAME}: edge-disjoint paths of the networks fitted to the set, seed {seed}"
    return ReleasedPaths(paths, "synthetic stand-in", origin)


def _paths(graph: Graph) -> PathSet:
    # Imported here: compiled code takes a second to load; listing data sets need not wait for it.
    from walras.kernels.paths import disjoint as kernels  # noqa: PLC0415

    n = len(graph.names)
    links = kernels.make_graph(n, graph.source, graph.target)
    work = kernels.make_work(n, len(graph.source))
    found = [kernels.disjoint_from(links, work, source, _K) for source in range(n)]
    hops = np.concatenate([part[1] for part in found]).astype(np.int64)
    taken = np.concatenate([part[2] for part in found])
    offset = np.concatenate(([0], np.cumsum(hops + 1)))
    nodes = np.empty(int(offset[-1]), dtype=np.int32)
    inner = np.ones(len(nodes), dtype=np.bool_)
    inner[offset[1:] - 1] = False
    nodes[inner] = graph.source[taken]
    nodes[~inner] = graph.target[taken[np.cumsum(hops) - 1]]
    return PathSet(nodes, offset)
