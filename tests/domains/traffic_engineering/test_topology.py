"""Networks and matrices from files: every form, and what they mean."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import walras as wl
from walras.domains import traffic_engineering as te

GRAPHML = """<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key attr.name="label" for="node" id="d1"/><key attr.name="Longitude" for="node" id="d2"/>
<key attr.name="Latitude" for="node" id="d3"/><graph edgedefault="undirected">
<node id="0"><data key="d1">Rome</data><data key="d2">12.5</data><data key="d3">41.9</data></node>
<node id="1"><data key="d1">None</data></node><node id="2"><data key="d1">None</data></node>
<edge source="0" target="1"/><edge source="1" target="2"/><edge source="2" target="1"/>
<edge source="2" target="2"/></graph></graphml>"""


NATIVE = """?SNDlib native format; type: network; version: 1.0
# a comment ( with brackets
NODES (
  Paris ( 2.35 48.86 )
  Lyon ( 4.84 45.76 )
)
LINKS (
  L1 ( Paris Lyon ) 0.00 0.00 0.00 115.00 ( 40.00 19.00 160.00 30.00 )
)
DEMANDS (
  D1 ( Paris Lyon ) 1 12.0 UNLIMITED
)
"""


XML = """<?xml version="1.0"?><network xmlns="http://sndlib.zib.de/network" version="1.0">
<networkStructure><nodes coordinatesType="geographical">
<node id="Paris"><coordinates><x>2.35</x><y>48.86</y></coordinates></node>
<node id="Lyon"><coordinates><x>4.84</x><y>45.76</y></coordinates></node></nodes>
<links><link id="L1"><source>Paris</source><target>Lyon</target>
<preInstalledModule><capacity>7.5</capacity><cost>0</cost></preInstalledModule></link></links>
</networkStructure><demands><demand id="D1"><source>Paris</source><target>Lyon</target>
<demandValue>9.0</demandValue></demand><demand id="D2"><source> Paris </source><target>Lyon</target>
<demandValue>3.0</demandValue></demand></demands></network>"""


def test_node_link_json_puts_numbered_nodes_at_their_number(tmp_path: Path) -> None:
    text = {
        "directed": True,
        "nodes": [{"id": 0}, {"id": 2}, {"id": 1}],
        "links": [{"source": 0, "target": 2, "capacity": 5.0}],
    }
    file = tmp_path / "net.json"
    file.write_text(json.dumps(text))
    net = te.load_topology(file)
    assert net.node_names == ("0", "1", "2")
    assert (net.source.tolist(), net.target.tolist()) == ([0], [2])
    assert net.capacity.tolist() == [5.0]
    assert net.link_names == ("0->2",)
    file.write_text(json.dumps({**text, "directed": False}))
    assert te.load_topology(str(file)).link_names == ("0->2", "2->0")


def test_graphml_gets_seeded_capacities_where_they_are_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "zoo.graphml"
    file.write_text(GRAPHML)
    net, again, other = (
        te.load_topology(file, parallel="merge", draw_capacities=seed) for seed in (1, 1, 2)
    )
    assert net.node_names == ("Rome", "None 1", "None 2")
    assert net.link_names == ("Rome->None 1", "None 1->Rome", "None 1->None 2", "None 2->None 1")
    assert np.array_equal(net.capacity, again.capacity)
    assert not np.array_equal(net.capacity, other.capacity)
    assert np.all(net.capacity % 50 == 0)
    assert net.capacity[0] == net.capacity[1]
    assert "capacities drawn with seed 1" in net.origin
    assert net.position is not None
    assert net.position[0].tolist() == [12.5, 41.9]


def three_links(**facts: object) -> str:
    """Node-link JSON of a triangle whose links have some attributes."""
    links = [{"source": a, "target": b, **facts} for a, b in ("ab", "bc", "ac")]
    return json.dumps({"nodes": [{"id": v} for v in "abc"], "links": links})


def graphml(keys: str, *edges: str, default: str = "undirected") -> str:
    """GraphML of three nodes."""
    nodes = "".join(f'<node id="{v}"/>' for v in "abc")
    return (
        f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{keys}'
        f'<graph edgedefault="{default}">{nodes}{"".join(edges)}</graph></graphml>'
    )


@pytest.mark.parametrize("name", ["bandwidth", "Capacity", "cap", "bw", "capacity_gbps", "speed x"])
@pytest.mark.parametrize("form", ["json", "graphml"])
def test_a_capacity_by_another_name_is_asked_for_not_drawn(
    form: str, name: str, tmp_path: Path
) -> None:
    file = tmp_path / f"net.{form}"
    edge = '<edge source="a" target="b"><data key="e">1</data><data key="f">x</data></edge>'
    keys = f'<key id="e" for="edge" attr.name="{name}"/><key id="f" for="edge" attr.name="kind"/>'
    text = three_links(**{name: 1, "kind": "x"}) if form == "json" else graphml(keys, edge)
    file.write_text(text)
    if form == "graphml" and name == "Capacity":  # where capital letters do not count
        assert te.load_topology(file).capacity.tolist() == [1.0] * 2
    else:
        with pytest.raises(wl.InputError, match="states no capacities") as caught:
            te.load_topology(file)
        assert f"its links have: {name}, kind" in str(caught.value)
        assert "--capacity-attribute" in caught.value.remedy
        assert "--draw-capacities" in caught.value.remedy
        assert str(file) in caught.value.where
    net = te.load_topology(file, capacity=name)
    assert set(net.capacity.tolist()) == {1.0}
    drawn = te.load_topology(file, draw_capacities=4)
    assert "drawn with seed 4" in drawn.origin
    assert np.all(drawn.capacity % 50 == 0)
    with pytest.raises(wl.DataError, match="has the capacity 'x', no number"):
        te.load_topology(file, capacity="kind")
    with pytest.raises(wl.InputError, match="no link has 'none'"):
        te.load_topology(file, capacity="none")


def test_files_without_any_attribute_say_so(tmp_path: Path) -> None:
    bare = {
        "net.json": three_links(),
        "net.graphml": GRAPHML,
        "net.xml": XML.replace("<capacity>7.5</capacity>", ""),
        "net.txt": NATIVE.replace("( 40.00 19.00 160.00 30.00 )", "( )"),
    }
    for name, text in bare.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(wl.InputError, match="links have no attributes") as caught:
            te.load_topology(tmp_path / name)
        assert "--draw-capacities" in caught.value.remedy


def test_speeds_of_the_zoo_and_defaults_of_graphml_are_capacities(tmp_path: Path) -> None:
    speeds = (
        '<key id="s" for="edge" attr.name="LinkSpeedRaw" attr.type="double"/>',
        '<edge source="a" target="b"><data key="s">1e9</data></edge>',
        '<edge source="b" target="c"><data key="s">1e10</data></edge>',
    )
    file = tmp_path / "net.graphml"
    file.write_text(graphml(*speeds))
    assert (
        te.load_topology(file, capacity="LinkSpeedRaw").capacity.tolist() == [1e9] * 2 + [1e10] * 2
    )
    stated = (
        '<key id="c" for="edge" attr.name="capacity"><default>7</default></key>'
        '<key id="n" for="node" attr.name="capacity"><default>99</default></key>'
    )
    edges = (
        '<edge source="a" target="b"/>',
        '<edge source="b" target="c"><data key="c">3</data></edge>',
    )
    file.write_text(graphml(stated, *edges))
    assert te.load_topology(file).capacity.tolist() == [7.0, 7.0, 3.0, 3.0]


@pytest.mark.parametrize("word", ["true", "1"])
def test_an_edge_of_graphml_may_differ_from_the_graph_in_direction(
    word: str, tmp_path: Path
) -> None:
    file, key = (
        tmp_path / "net.graphml",
        '<key id="c" attr.name="capacity"><default>1</default></key>',
    )
    other = {"true": "false", "1": "0"}[word]
    one = f'<edge source="a" target="b" directed="{word}"/>'
    two = f'<edge source="b" target="c" directed="{other}"/>'
    for default, last in (("undirected", "a->c c->a"), ("directed", "a->c")):
        file.write_text(graphml(key, one, two, '<edge source="a" target="c"/>', default=default))
        wanted = f"a->b b->c c->b {last}".split()
        assert list(te.load_topology(file).link_names) == wanted
    file.write_text(graphml(key, '<edge source="a" target="b" directed="maybe"/>'))
    with pytest.raises(wl.DataError, match="'directed' is 'maybe', neither true nor false"):
        te.load_topology(file)


@pytest.mark.parametrize(
    ("word", "links"),
    [("false", 6), ("False", 6), (False, 6), (0, 6), (None, 6), ("true", 3), (True, 3), (1, 3)],
)
def test_directed_in_json_may_be_a_word(word: object, links: int, tmp_path: Path) -> None:
    file = tmp_path / "net.json"
    file.write_text(json.dumps({**json.loads(three_links(capacity=1)), "directed": word}))
    assert te.load_topology(file).links == links
    file.write_text(json.dumps({**json.loads(three_links(capacity=1)), "directed": "no way"}))
    with pytest.raises(wl.DataError, match="'directed' is 'no way'"):
        te.load_topology(file)


def test_a_nodes_name_is_its_label(tmp_path: Path) -> None:
    nodes = [{"id": 0, "name": "Rome"}, {"id": 1, "name": "x", "label": "Oslo"}, {"id": 2}]
    links = [{"source": 0, "target": 1, "capacity": 1}, {"source": 1, "target": 2, "capacity": 1}]
    (tmp_path / "net.json").write_text(json.dumps({"nodes": nodes, "links": links}))
    assert te.load_topology(tmp_path / "net.json").node_names == ("Rome", "Oslo", "2")
    key = '<key id="n" for="node" attr.name="name"/><key id="c" attr.name="capacity" for="edge"/>'
    text = graphml(key, '<edge source="a" target="b"><data key="c">1</data></edge>')
    text = text.replace('<node id="a"/>', '<node id="a"><data key="n">Rome</data></node>')
    (tmp_path / "net.graphml").write_text(text)
    assert te.load_topology(tmp_path / "net.graphml").node_names == ("Rome", "b", "c")


@pytest.mark.parametrize(
    ("name", "text", "capacity"), [("n.txt", NATIVE, 40.0), ("n.xml", XML, 7.5)]
)
def test_sndlib_both_forms(name: str, text: str, capacity: float, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    net = te.load_topology(tmp_path / name)
    assert net.node_names == ("Paris", "Lyon")
    assert net.link_names == ("Paris->Lyon", "Lyon->Paris")
    assert net.capacity.tolist() == [capacity] * 2
    assert net.position is not None
    assert net.position[1].tolist() == [4.84, 45.76]


@pytest.mark.parametrize("name", ["B4", "UsCarrier", "Colt", "topology_zoo/UsCarrier"])
def test_networks_by_name_come_with_their_origin(name: str) -> None:
    net = te.load_topology(name, synthetic=True)
    assert net.origin.startswith("synthetic stand-in")
    assert np.all(net.capacity > 0)


@pytest.mark.real_data("te_topologies", "topology_zoo")
def test_every_real_network_loads() -> None:
    sizes = {"B4": 38, "UsCarrier": 378, "Kdl": 1790, "ASN2k": 8558}
    for name, links in sizes.items():
        assert te.load_topology(name, synthetic=False).links == links
    for name in ("Cogentco", "Colt", "DialtelecomCz", "Interoute", "topology_zoo/Kdl"):
        net = te.load_topology(name, synthetic=False)
        assert net.origin.startswith("measured")
        assert net.position is not None


@pytest.mark.real_data("te_topologies", "te_paths")
def test_released_paths_are_as_many_and_never_shorter_in_all() -> None:
    from walras import data

    for name in ("B4", "UsCarrier"):
        net = te.load_topology(name, synthetic=False)
        given = data.load("te_paths", synthetic=False).paths[name]
        released = te.Paths.of_nodes(net, given.nodes, given.offset)
        own = te.candidate_paths(net, cache=False)
        assert np.array_equal(np.diff(own.first), np.diff(released.first))
        assert np.array_equal(own.source, released.source)
        hops = [np.add.reduceat(paths.hops, paths.first[:-1]) for paths in (own, released)]
        assert np.all(hops[0] <= hops[1])
