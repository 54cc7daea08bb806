"""The wide-area networks of Teal and DeDe, and the graphs of NCFlow and POP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from walras.data.dataset import Source
from walras.data.formats.graphs import Graph, read_graph
from walras.data.store import unreadable
from walras.errors import DataError

NAME = "te_topologies"
FILES = ("B4.json", "UsCarrier.json", "Kdl.json", "ASN2k.json")
ZOO_NAME = "topology_zoo"
ZOO_FILES = (
    "Cogentco.graphml", "Colt.graphml", "Deltacom.graphml", "DialtelecomCz.graphml",
    "GtsCe.graphml", "Interoute.graphml", "Ion.graphml", "Kdl.graphml", "TataNld.graphml",
    "Uninett2010.graphml", "UsCarrier.graphml", "b4-teavar.json", "erdos-renyi-1260231677.json",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Topologies:
    """Graphs by name, the name of the file without its ending.

    Attributes:
        graphs: Nodes, links and, where the set has them, capacities.
        source: Whether the numbers are measured or synthetic.
        origin: Where they come from, in words.

    Example:
        >>> import walras as wl
        >>> found = wl.data.load("te_topologies", synthetic=True)
        >>> "B4" in found.graphs
        True
    """

    graphs: Mapping[str, Graph]
    source: Source
    origin: str


def _read(name: str, files: tuple[str, ...], folder: Path) -> Topologies:
    """Read every graph of a set.

    Raises:
        DataError: A file is not what it should be.
    """
    graphs = {}
    for file in files:
        try:
            graphs[Path(file).stem] = read_graph(folder / file)
        except DataError as error:
            raise unreadable(name, folder / file, error.what) from error
    return Topologies(graphs, "measured", str(folder))


read = partial(_read, NAME, FILES)
read_zoo = partial(_read, ZOO_NAME, ZOO_FILES)
