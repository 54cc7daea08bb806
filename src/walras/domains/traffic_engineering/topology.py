"""Networks from files and from real data sets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from walras import checks, data
from walras.data.formats.graphs import Graph, read_graph
from walras.data.te_topologies import Topologies
from walras.domains.traffic_engineering.network import Network, generator
from walras.errors import InputError
from walras.types import Floats

Parallel = Literal["error", "merge"]

_SETS = ("te_topologies", "topology_zoo")
_MEDIAN, _SPREAD, _STEP = 1000.0, 1.2, 50.0
_WITH_ATTRIBUTES = (".json", ".graphml")
_MOST_LISTED = 12  # number of attributes that an error lists
_NAME = "capacity=..., on the command line --capacity-attribute NAME"
_DRAW = "draw_capacities=..., on the command line --draw-capacities SEED"


def load_topology(
    source: str | Path,
    *,
    seed: int = 0,
    parallel: Parallel | None = None,
    synthetic: bool | None = None,
    capacity: str | None = None,
    draw_capacities: int | None = None,
) -> Network:
    """Load a network from a file, or one of the real ones by name.

    Files are node-link JSON (``.json``, as networkx writes it), GraphML (``.graphml``) or SNDlib's
    XML (``.xml``) and native (``.txt``) forms; an undirected edge becomes a link each way with its
    capacity. A file must state the capacity of every link. Capacities are drawn at random on
    request, and for networks by name without capacities, such as those of the Topology Zoo. They
    are lognormal with median 1,000 and sigma 1.2, in steps of 50, equal in both directions. Sigma
    is that of the capacities that Teal and DeDe publish for the Zoo's UsCarrier and Kdl.

    Args:
        source: A path with one of these endings; or ``B4``, ``UsCarrier``, ``Kdl``, ``ASN2k``
            (data set ``te_topologies``), or a graph of ``topology_zoo``;
            ``topology_zoo/UsCarrier`` and ``topology_zoo/Kdl`` need the set's name.
        seed: Seed of a synthetic stand-in, and of the capacities drawn for a network by name.
        parallel: ``error`` refuses loops and doubled links; ``merge`` leaves loops out and adds the
            capacities of doubled links. ``error`` for files and ``merge`` for names, when None.
        synthetic: For names: as in :func:`walras.data.load`.
        capacity: For files of JSON and GraphML: the links' attribute with their capacity,
            ``capacity`` when None.
        draw_capacities: Seed for drawing all capacities, in place of the file's.

    Returns:
        The network.

    Raises:
        DataError: The file does not exist or has another form, or the data set is absent.
        InputError: The name is unknown, or the network cannot be used.

    Example:
        >>> from walras.domains.traffic_engineering import load_topology
        >>> net = load_topology("B4", synthetic=True)
        >>> net.nodes, net.links
        (12, 38)
    """
    if parallel is not None:
        checks.one_of(parallel, "parallel", ("error", "merge"))
    checks.of_kind(
        source,
        (str, Path),
        "source",
        "a path or a name",
        remedy="give a file, or the name of a network such as 'B4'",
    )
    path = Path(source)
    is_file = isinstance(source, Path) or bool(path.suffix) or path.exists()
    _check_capacities(path, capacity, draw_capacities, is_file=is_file)
    if is_file:
        graph = read_graph(path, capacity or "capacity")
        if draw_capacities is None:
            _check_stated(graph, str(path), capacity or "capacity")
        return _network(graph, path.stem, str(path), draw_capacities, parallel or "error")
    name, found = _by_name(str(source), synthetic, seed)
    graph, origin = found.graphs[name], f"{found.source}: {found.origin}"
    if draw_capacities is None and np.any(np.isnan(graph.capacity)):
        draw_capacities = seed
    return _network(graph, name, origin, draw_capacities, parallel or "merge")


def _check_capacities(path: Path, capacity: object, draw: object, *, is_file: bool) -> None:
    """Refuse an attribute for other files, and an attribute together with drawn capacities."""
    if draw is not None:
        checks.whole(draw, "draw_capacities", 0, 2**63)
    if capacity is None:
        return
    if not isinstance(capacity, str) or not capacity:
        raise InputError(
            f"is {capacity!r}",
            where="capacity",
            allowed="the name of an attribute of the links",
            remedy="give it as the file spells it",
        )
    if draw is not None:
        raise InputError(
            f"is {capacity!r}, and capacities are to be drawn",
            where="capacity",
            allowed="an attribute, or a seed to draw by",
            remedy="leave one of the two out",
        )
    if not is_file or path.suffix not in _WITH_ATTRIBUTES:
        raise InputError(
            f"is {capacity!r}, but {path.name} has no attributes to choose from",
            where="capacity",
            allowed="files of node-link JSON and GraphML",
            remedy="leave it out",
        )


def _by_name(wanted: str, synthetic: bool | None, seed: int) -> tuple[str, Topologies]:
    folder, _, name = wanted.rpartition("/")
    known: list[str] = []
    for data_set in (folder,) if folder in _SETS else _SETS:
        found: Topologies = data.load(data_set, synthetic=synthetic, seed=seed)
        if name in found.graphs and (not folder or folder == data_set):
            return name, found
        known += found.graphs
    raise InputError(
        f"there is no network '{wanted}'",
        where="source",
        allowed=", ".join(dict.fromkeys(known)),
        remedy="use one of these names, or a path that ends in .json, .graphml, .xml or .txt",
    )


def _network(graph: Graph, name: str, origin: str, draw: int | None, parallel: Parallel) -> Network:
    if draw is not None:
        graph = replace(graph, capacity=_drawn(len(graph.capacity), int(draw)))
        origin += f"; {len(graph.capacity)} capacities drawn with seed {draw}"
    graph = graph.both_ways()
    if parallel == "merge":
        graph = _merged(graph)
    try:
        return Network(
            graph.names,
            graph.source,
            graph.target,
            graph.capacity,
            name=name,
            origin=origin,
            position=graph.position if np.any(np.isfinite(graph.position)) else None,
        )
    except InputError as error:
        raise InputError(
            error.what, where=f"{name}: {error.where}", allowed=error.allowed, remedy=error.remedy
        ) from error


def _check_stated(graph: Graph, name: str, attribute: str) -> None:
    """Refuse a file with links without capacity, and list the attributes that they have."""
    absent = np.isnan(graph.capacity)
    if not np.any(absent):
        return
    others = [found for found in graph.attributes if found != attribute]
    listed = ", ".join(others[:_MOST_LISTED]) + f" and {len(others) - _MOST_LISTED} more" * (
        len(others) > _MOST_LISTED
    )
    have = f"; its links have: {listed}" if others else "; its links have no attributes"
    if np.all(absent):
        what, where = f"states no capacities: no link has '{attribute}'{have}", name
    else:
        e = int(np.argmax(absent))
        where = f"{name}: link {e} ({graph.names[graph.source[e]]}->{graph.names[graph.target[e]]})"
        what = (
            f"has no capacity (nor have {int(absent.sum()) - 1} others), but"
            f" {int((~absent).sum())} links have one{have if others else ''}"
        )
    raise InputError(
        what,
        where=where,
        allowed=f"'{attribute}' on every link",
        remedy=f"name the attribute that is the capacity ({_NAME}), " * bool(others)
        + f"add what is missing, or have all capacities drawn at random ({_DRAW})",
    )


def _drawn(links: int, seed: int) -> Floats:
    """Draw capacities; each link's does not depend on the other links."""
    drawn = _MEDIAN * np.exp(_SPREAD * generator(seed).standard_normal(links))
    return np.maximum(np.round(drawn / _STEP), 1.0) * _STEP


def _merged(graph: Graph) -> Graph:
    """The graph without loops, with parallel links merged into one of their total capacity."""
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
