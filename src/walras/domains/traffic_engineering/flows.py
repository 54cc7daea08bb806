"""Flows from a table that ``walras solve traffic -o csv`` has printed."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from walras.data.formats.sheet import Cell, read
from walras.domains.traffic_engineering.paths import Paths
from walras.errors import InputError
from walras.types import Floats


def read_flows(path: Path, paths: Paths) -> Floats:
    r"""Read flows that ``-o csv`` has printed, on the candidate paths of this network.

    Args:
        path: CSV: ``source,target,flow,path``, with spaces between the path's nodes.
        paths: The candidate paths.

    Returns:
        (paths,) flow; NaN on the paths of pairs that the file does not name.

    Raises:
        DataError: The file cannot be read.
        InputError: It is not such a table, or names an unknown node, or has no candidate path.

    Example:
        >>> from pathlib import Path
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> paths = te.candidate_paths(net, k=1, cache=False)
        >>> _ = Path("flows.csv").write_text("source,target,flow,path\na,b,2.5,a b\n")
        >>> te.read_flows(Path("flows.csv"), paths)
        array([2.5, nan, nan])
    """
    net = paths.network
    node = {name: v for v, name in enumerate(net.node_names)}
    pair = np.full((net.nodes, net.nodes), -1, dtype=np.int64)
    pair[paths.source, paths.target] = np.arange(paths.pairs)
    out, known = np.full(paths.count, np.nan), 0
    for line in read(path, "source", ("target", "flow", "path"), (), distinct=False).lines:
        flow = line["flow"].number(positive=False)
        j = pair[_node(line["source"], node), _node(line["target"], node)]
        if j < 0:
            continue  # no path joins them any more
        own = range(paths.first[j], paths.first[j + 1])
        out[own] = np.nan_to_num(out[own])
        for p in own:
            if " ".join(net.node_names[v] for v in paths.nodes_of(p)) == line["path"].text:
                out[p], known = flow, known + 1
    if not known:
        raise InputError(
            "no path in the file is a candidate path",
            where=str(path),
            allowed="at least one common path",
            remedy="use the same network, --k and --kind",
        )
    return out


def _node(cell: Cell, node: dict[str, int]) -> int:
    if cell.text not in node:
        raise InputError(
            f"there is no node '{cell.text}'",
            where=cell.where,
            allowed="names of nodes",
            remedy="use flows of the same network",
        )
    return node[cell.text]
