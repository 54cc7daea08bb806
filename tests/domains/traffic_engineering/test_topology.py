"""Networks and matrices from files: every form, and what they mean."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.data.formats.graph_files import GRAPHML, NATIVE, XML, graphml, three_links

import walras as wl
from walras.domains import traffic_engineering as te


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
