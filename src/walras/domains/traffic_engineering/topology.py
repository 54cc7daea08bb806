"""Networks from files and from the real data sets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from walras import data
from walras.data.graphs import Graph, read_graph
from walras.data.te_topologies import Topologies
from walras.domains.traffic_engineering.network import Bools, Floats, Network, generator
from walras.errors import InputError

Parallel = Literal["error", "merge"]

_SETS = ("te_topologies", "topology_zoo")
_MEDIAN, _SPREAD, _STEP = 1000.0, 1.2, 50.0


def load_topology(
    source: str | Path,
    *,
    seed: int = 0,
    parallel: Parallel | None = None,
    synthetic: bool | None = None,
) -> Network:
    """A network from a file, or one of the real ones by name.

    Files are node-link JSON (``.json``, as networkx writes it), GraphML (``.graphml``) or SNDlib's
    XML (``.xml``) and native (``.txt``) forms; an edge without direction becomes a link each way
    with its capacity. Links without a capacity, such as all of the Topology Zoo's, get one drawn at
    random: lognormal with median 1,000 and sigma 1.2, in steps of 50, the same both ways; sigma is
    that of the capacities that Teal and DeDe publish for the Zoo's UsCarrier and Kdl. They are
    drawn for all links or for none: a file where only some have a capacity is refused.

    Args:
        source: A path with one of these endings; or ``B4``, ``UsCarrier``, ``Kdl``, ``ASN2k``
            (data set ``te_topologies``), or a graph of ``topology_zoo``, of which
            ``topology_zoo/UsCarrier`` and ``topology_zoo/Kdl`` need the set's name.
        seed: Of the capacities drawn, and of a synthetic stand-in.
        parallel: ``error`` refuses loops and doubled links; ``merge`` leaves loops out and adds the
            capacities of doubled links. ``error`` for files and ``merge`` for names, when None.
        synthetic: For names: as in :func:`walras.data.load`.

    Raises:
        DataError: The file is not there or not of its form, or the data set is wanted and absent.
        InputError: The name is unknown, or the network cannot be used.
    """
    if parallel not in (None, "error", "merge"):
        raise InputError(
            f"is {parallel!r}", where="parallel", allowed="'error', 'merge' or None",
            remedy="choose one of these",
        )  # fmt: skip
    if not isinstance(source, str | Path):
        raise InputError(
            f"is a {type(source).__name__}", where="source", allowed="a path or a name",
            remedy="give a file, or the name of a network such as 'B4'",
        )  # fmt: skip
    path = Path(source)
    if isinstance(source, Path) or path.suffix or path.exists():
        return _network(read_graph(path), path.stem, str(path), seed, parallel or "error")
    name, found = _by_name(str(source), synthetic, seed)
    origin = f"{found.source}: {found.origin}"
    return _network(found.graphs[name], name, origin, seed, parallel or "merge")


def _by_name(wanted: str, synthetic: bool | None, seed: int) -> tuple[str, Topologies]:
    folder, _, name = wanted.rpartition("/")
    known: list[str] = []
    for data_set in (folder,) if folder in _SETS else _SETS:
        found: Topologies = data.load(data_set, synthetic=synthetic, seed=seed)
        if name in found.graphs and (not folder or folder == data_set):
            return name, found
        known += found.graphs
    raise InputError(
        f"there is no network '{wanted}'", where="source",
        allowed=", ".join(dict.fromkeys(known)),
        remedy="use one of these names, or a path that ends in .json, .graphml, .xml or .txt",
    )  # fmt: skip


def _network(graph: Graph, name: str, origin: str, seed: int, parallel: Parallel) -> Network:
    drawn = np.isnan(graph.capacity)
    if np.any(drawn):
        _check_all_drawn(graph, drawn, name)
        origin += f"; {int(drawn.sum())} capacities drawn with seed {seed}"
    graph = replace(graph, capacity=_with_capacity(graph.capacity, seed))
    if not graph.directed:
        graph = _both_ways(graph)
    if parallel == "merge":
        graph = _merged(graph)
    try:
        return Network(
            graph.names, graph.source, graph.target, graph.capacity, name=name, origin=origin,
            position=graph.position if np.any(np.isfinite(graph.position)) else None,
        )  # fmt: skip
    except InputError as error:
        raise InputError(
            error.what, where=f"{name}: {error.where}", allowed=error.allowed, remedy=error.remedy
        ) from error


def _check_all_drawn(graph: Graph, drawn: Bools, name: str) -> None:
    """Refuse capacities that only some links have: drawn ones would not be of their size."""
    if np.all(drawn):
        return
    e = int(np.argmax(drawn))
    ends = f"{graph.names[graph.source[e]]}->{graph.names[graph.target[e]]}"
    raise InputError(
        f"has no capacity (nor have {int(drawn.sum()) - 1} others), but"
        f" {int((~drawn).sum())} links have one",
        where=f"{name}: link {e} ({ends})", allowed="a capacity for every link, or for none",
        remedy="add the capacity, or remove all of them to have them drawn",
    )  # fmt: skip


def _with_capacity(capacity: Floats, seed: int) -> Floats:
    """Capacities with the absent ones drawn; the k-th link's does not depend on the others."""
    random = generator(seed)
    drawn = _MEDIAN * np.exp(_SPREAD * random.standard_normal(len(capacity)))
    steps = np.maximum(np.round(drawn / _STEP), 1.0) * _STEP
    return np.where(np.isnan(capacity), steps, capacity)


def _both_ways(graph: Graph) -> Graph:
    """Each edge as two links, one after the other."""
    ends = np.stack([graph.source, graph.target], axis=1)
    twice = np.stack([ends, ends[:, ::-1]], axis=1).reshape(-1, 2)
    source, target = np.ascontiguousarray(twice.T)
    return replace(graph, source=source, target=target, capacity=np.repeat(graph.capacity, 2))


def _merged(graph: Graph) -> Graph:
    """Without loops; parallel links as one with the sum of their capacities."""
    n = len(graph.names)
    proper = graph.source != graph.target
    key = graph.source[proper].astype(np.int64) * n + graph.target[proper]
    ends, first, place = np.unique(key, return_index=True, return_inverse=True)
    total = np.zeros(len(ends))
    np.add.at(total, place, graph.capacity[proper])
    order = np.argsort(first)  # links stay in the order of the file
    ends = ends[order]
    return replace(
        graph,
        source=(ends // n).astype(np.int32),
        target=(ends % n).astype(np.int32),
        capacity=total[order],
    )
