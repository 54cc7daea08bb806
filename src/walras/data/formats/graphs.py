"""Graphs as network files state them: node-link JSON, GraphML, SNDlib's native and XML forms.

Nothing is checked here but that the file is of its form; what a network may look like is the
business of :class:`walras.domains.traffic_engineering.Network`.
"""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from walras.errors import DataError
from walras.types import Bools, Floats, Ints

_ENDS = ("source", "target", "key", "id", "directed")  # of a link in JSON; the rest are its facts


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes and links as a file gives them.

    Attributes:
        names: (nodes,) labels, distinct.
        source: (links,) node where a link begins.
        target: (links,) node where it ends.
        capacity: (links,) NaN where the file has none.
        position: (nodes, 2) longitude and latitude, NaN where the file has none.
        one_way: (links,) False where a link stands for both directions.
        attributes: What the file calls the facts that it states of links.
    """

    names: tuple[str, ...]
    source: Ints
    target: Ints
    capacity: Floats
    position: Floats
    one_way: Bools
    attributes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for array in (self.source, self.target, self.capacity, self.position, self.one_way):
            array.setflags(write=False)

    def both_ways(self) -> Graph:
        """With a link each way, one after the other, for each that stands for both directions."""
        each = np.where(self.one_way, 1, 2)
        back = np.arange(each.sum()) > np.repeat(np.cumsum(each) - each, each)
        source, target = np.repeat(self.source, each), np.repeat(self.target, each)
        return replace(
            self,
            source=np.where(back, target, source),
            target=np.where(back, source, target),
            capacity=np.repeat(self.capacity, each),
            one_way=np.ones(len(back), dtype=np.bool_),
        )


_Node = tuple[str, str, float, float]  # key, label, longitude, latitude


class _Link(NamedTuple):
    """A link as a file states it: keys of both ends, facts, whether it leads one way only."""

    source: str
    target: str
    facts: Mapping[str, object]
    one_way: bool


def read_graph(path: Path, capacity: str = "capacity") -> Graph:
    """The graph in a file, by the file's ending: ``.json``, ``.graphml``, ``.xml``, ``.txt``.

    Args:
        path: The file.
        capacity: What the file calls a link's capacity; SNDlib's forms have a place for it. In
            GraphML capital letters do not count.

    Raises:
        DataError: The file is not there, or not of its form.
    """
    readers: Mapping[str, Callable[[str, str], Graph]] = {
        ".json": _node_link,
        ".graphml": _graphml,
        ".xml": _sndlib_xml,
        ".txt": _sndlib_native,
    }
    if path.suffix not in readers:
        raise DataError(
            f"has the ending '{path.suffix}'",
            where=str(path),
            allowed=", ".join(readers),
            remedy="give node-link JSON, GraphML, or SNDlib's XML or native form",
        )
    try:
        return readers[path.suffix](path.read_text(encoding="utf-8"), capacity)
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        RecursionError,
        ElementTree.ParseError,
    ) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else error
        raise DataError(
            f"cannot be read as a network: {reason}",
            where=str(path),
            allowed="node-link JSON, GraphML, or SNDlib's XML (.xml) or native form (.txt)",
            remedy="check the file's form and its ending",
        ) from error


def read_demands(path: Path) -> list[tuple[str, str, float]]:
    """The demands in an SNDlib file: names of both nodes, and the traffic.

    Raises:
        DataError: The file is not there, not of its form, or has no demands.
    """
    readers = {".xml": _demands_xml, ".txt": _demands_native}
    try:
        return readers[path.suffix](path.read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError, ElementTree.ParseError) as error:
        raise DataError(
            f"cannot be read as a traffic matrix: {error}",
            where=str(path),
            allowed="SNDlib's XML (.xml) or native form (.txt), with demands",
            remedy="check the file's form and its ending",
        ) from error


def _without_namespaces(text: str) -> ElementTree.Element:
    """The root of an XML text; SNDlib's namespaces differ between versions."""
    root = ElementTree.fromstring(text)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    return root


def _demands_xml(text: str) -> list[tuple[str, str, float]]:
    found = [
        (
            str(demand.findtext("source")).strip(),
            str(demand.findtext("target")).strip(),
            _number(demand.findtext("demandValue")),
        )
        for demand in _without_namespaces(text).iter("demand")
    ]
    if not found:
        raise ValueError("there is no <demand>")
    return found


def _demands_native(text: str) -> list[tuple[str, str, float]]:
    """``DEMANDS ( d ( a b ) unit value length ... )``."""
    line = r"\S+\s*\(\s*(\S+)\s+(\S+)\s*\)\s+\S+\s+(\S+)\s+\S+"
    section = _section(re.sub(r"#.*", "", text), "DEMANDS")
    found = [(a, b, float(value)) for a, b, value in re.findall(line, section)]
    if not found:
        raise ValueError("section DEMANDS has no line of its form")
    return found


def _node_link(text: str, capacity: str) -> Graph:
    """The form of networkx: ``nodes`` with ``id``, ``links`` (or ``edges``) between ids."""
    found = json.loads(text)
    if not isinstance(found, dict) or not isinstance(found.get("nodes"), list):
        raise ValueError("an object with the lists 'nodes' and 'links' is wanted")
    nodes = [_json_node(_record(node, k, "nodes")) for k, node in enumerate(found["nodes"])]
    if all(re.fullmatch(r"-?\d+", key) for key, *_ in nodes):
        nodes.sort(key=lambda node: int(node[0]))  # numbered nodes stand at their number
    name = "links" if "links" in found else "edges"
    if not isinstance(found[name], list):
        raise ValueError(f"'{name}' is no list")
    one_way = _truth(found.get("directed", False))
    links = [
        _json_link(_record(link, k, name), one_way=one_way) for k, link in enumerate(found[name])
    ]
    return _graph(nodes, links, capacity)


def _record(given: object, place: int, name: str) -> Mapping[str, Any]:
    if not isinstance(given, dict):
        keys = "'id'" if name == "nodes" else "'source' and 'target'"
        raise ValueError(f"entry {place} of '{name}' is {given!r:.40}, no object with {keys}")
    return given


def _json_link(link: Mapping[str, Any], *, one_way: bool) -> _Link:
    facts = {key: value for key, value in link.items() if key not in _ENDS}
    own = _truth(link.get("directed", one_way))
    return _Link(str(link["source"]), str(link["target"]), facts, own)


def _json_node(node: Mapping[str, Any]) -> _Node:
    label = node.get("label", node.get("name", node["id"]))
    return str(node["id"]), str(label), _number(node.get("lon")), _number(node.get("lat"))


def _truth(value: object) -> bool:
    """Whether links lead one way only, as JSON or XML say it."""
    known = {"true": True, "1": True, "false": False, "0": False, "none": False}
    word = str(value).lower()
    if word not in known:
        raise ValueError(f"'directed' is {value!r}, neither true nor false")
    return known[word]


def _graphml(text: str, capacity: str) -> Graph:
    """GraphML, as of the Internet Topology Zoo (Knight et al. 2011), which has no capacities."""
    root = ElementTree.fromstring(text)
    space = root.tag[: root.tag.index("}") + 1] if root.tag.startswith("{") else ""
    graph = root.find(f"{space}graph")
    if graph is None:
        raise ValueError("there is no <graph>")
    keys = _Keys(root, space)
    nodes, links = [], []
    for node in graph.iter(f"{space}node"):
        known = {name.lower(): value for name, value in keys.facts(node, "node").items()}
        position = (_number(known.get("longitude")), _number(known.get("latitude")))
        label = known.get("label") or known.get("name") or node.attrib["id"]
        nodes.append((node.attrib["id"], label, *position))
    one_way = graph.get("edgedefault") == "directed"
    for edge in graph.iter(f"{space}edge"):
        own = _truth(edge.get("directed", one_way))
        facts = keys.facts(edge, "edge")
        links.append(_Link(edge.attrib["source"], edge.attrib["target"], facts, own))
    names = dict.fromkeys(name for link in links for name in link.facts)
    alike = (name for name in names if name.lower() == capacity.lower())
    return _graph(nodes, links, capacity if capacity in names else next(alike, capacity))


class _Keys:
    """What GraphML's ``<key>`` elements say of nodes and edges: names of facts, and defaults."""

    def __init__(self, root: ElementTree.Element, space: str) -> None:
        self._space = space
        self._names: dict[str | None, str] = {}
        self._defaults: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
        for key in root.iter(f"{space}key"):
            name = key.get("attr.name") or str(key.get("id"))
            self._names[key.get("id")] = name
            default = (key.findtext(f"{space}default") or "").strip()
            for kind, defaults in self._defaults.items():
                if default and key.get("for", "all") in (kind, "all"):
                    defaults[name] = default

    def facts(self, element: ElementTree.Element, kind: str) -> dict[str, str]:
        """What is stated of a node or an edge, by its name, and else by default."""
        own = {
            self._names.get(item.get("key"), str(item.get("key"))): (item.text or "").strip()
            for item in element.iter(f"{self._space}data")
        }
        return self._defaults[kind] | {name: value for name, value in own.items() if value}


def _sndlib_xml(text: str, _: str) -> Graph:
    """SNDlib's XML form (Orlowski et al. 2010); the capacity installed, or the first module's."""
    root, nodes, links = _without_namespaces(text), [], []
    for node in root.iter("node"):
        at = (_number(node.findtext(".//x")), _number(node.findtext(".//y")))
        nodes.append((node.attrib["id"], node.attrib["id"], *at))
    for link in root.iter("link"):
        capacity = _number(link.findtext("preInstalledModule/capacity"))
        if not capacity > 0:
            capacity = _number(link.findtext("additionalModules/addModule/capacity"))
        ends = str(link.findtext("source")).strip(), str(link.findtext("target")).strip()
        links.append(_sndlib_link(*ends, capacity))
    return _graph(nodes, links)


def _sndlib_native(text: str, _: str) -> Graph:
    """SNDlib's native form: ``NODES ( a ( x y ) ... )`` and ``LINKS ( l ( a b ) pre ... )``."""
    plain = re.sub(r"#.*", "", text)
    number = r"[-+.\deE]+"
    nodes = [
        (key, key, _number(x), _number(y))
        for key, x, y in re.findall(
            rf"(\S+)\s*\(\s*({number})\s+({number})\s*\)", _section(plain, "NODES")
        )
    ]
    links = []
    line = rf"\S+\s*\(\s*(\S+)\s+(\S+)\s*\)\s+({number})(?:\s+{number}){{3}}\s*\(([^)]*)\)"
    for a, b, installed, modules in re.findall(line, _section(plain, "LINKS")):
        capacity = _number(installed)
        first = modules.split()
        known = capacity if capacity > 0 else _number(first[0] if first else None)
        links.append(_sndlib_link(a, b, known))
    return _graph(nodes, links)


def _sndlib_link(a: str, b: str, capacity: float) -> _Link:
    return _Link(a, b, {} if capacity != capacity else {"capacity": capacity}, one_way=False)


def _section(text: str, name: str) -> str:
    """What stands between the parentheses after a section's name."""
    begin = re.search(rf"^\s*{name}\s*\(", text, re.MULTILINE)
    if begin is None:
        raise ValueError(f"there is no section {name}")
    depth = 1
    for at in range(begin.end(), len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return text[begin.end() : at]
    raise ValueError(f"section {name} does not end")


def _number(value: object) -> float:
    return float("nan") if value is None or value == "" else float(str(value))


def _capacity(link: _Link, name: str) -> float:
    """A capacity that a file states, which NaN is not: a link without one has no such entry."""
    if name not in link.facts:
        return float("nan")
    value = link.facts[name]
    try:
        found = _number(value)
    except ValueError:
        found = float("nan")
    if found != found:
        ends = f"'{link.source}' to '{link.target}'"
        raise ValueError(f"the link from {ends} has the capacity {value!r}, no number")
    return found


def _graph(nodes: list[_Node], links: list[_Link], capacity: str = "capacity") -> Graph:
    place = {key: k for k, (key, *_) in enumerate(nodes)}
    if len(place) < len(nodes):
        raise ValueError("two nodes have the same id")
    unknown = next((end for a, b, *_ in links for end in (a, b) if end not in place), None)
    if unknown is not None:
        raise ValueError(f"a link ends at '{unknown}', which is no node")
    return Graph(
        names=_distinct([label for _, label, *_ in nodes], [key for key, *_ in nodes]),
        source=np.array([place[link.source] for link in links], dtype=np.int32),
        target=np.array([place[link.target] for link in links], dtype=np.int32),
        capacity=np.array([_capacity(link, capacity) for link in links], dtype=np.float64),
        position=np.array([node[2:] for node in nodes], dtype=np.float64).reshape(-1, 2),
        one_way=np.array([link.one_way for link in links], dtype=np.bool_),
        attributes=tuple(dict.fromkeys(name for link in links for name in link.facts)),
    )


def _distinct(labels: list[str], keys: list[str]) -> tuple[str, ...]:
    """Labels, with the node's id where several have the same; the Zoo has many 'None'."""
    often: dict[str, int] = {}
    for label in labels:
        often[label] = often.get(label, 0) + 1
    return tuple(
        label if often[label] == 1 else f"{label} {key}"
        for label, key in zip(labels, keys, strict=True)
    )
