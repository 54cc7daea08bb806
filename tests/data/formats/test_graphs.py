"""Graphs and demands from files of every form, and files that are of none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.data.formats.graph_files import GRAPHML, NATIVE, XML, graphml, three_links

from walras.data.formats.graphs import Graph, read_demands, read_graph
from walras.errors import DataError


def links(graph: Graph) -> list[str]:
    """The links, each direction apart."""
    both = graph.both_ways()
    ends = zip(both.source, both.target, strict=True)
    return [f"{graph.names[a]}->{graph.names[b]}" for a, b in ends]


def test_a_link_for_both_directions_becomes_two_side_by_side() -> None:
    graph = Graph(
        names=("a", "b", "c"),
        source=np.array([0, 1, 2], np.int32),
        target=np.array([1, 2, 0], np.int32),
        capacity=np.array([5.0, 6.0, np.nan]),
        position=np.full((3, 2), np.nan),
        one_way=np.array([False, True, False]),
        attributes=("capacity",),
    )
    both = graph.both_ways()
    assert links(graph) == ["a->b", "b->a", "b->c", "c->a", "a->c"]
    np.testing.assert_array_equal(both.capacity, [5.0, 5.0, 6.0, np.nan, np.nan])
    assert both.one_way.all()
    assert both.attributes == ("capacity",)
    assert links(both) == links(graph)


def test_labels_that_come_twice_get_the_nodes_id(tmp_path: Path) -> None:
    file = tmp_path / "zoo.graphml"
    file.write_text(GRAPHML)
    graph = read_graph(file)
    assert graph.names == ("Rome", "None 1", "None 2")
    assert len(graph.source) == 4  # parallel links and loops are as the file has them
    assert np.isnan(graph.capacity).all()
    np.testing.assert_array_equal(graph.position[:2], [[12.5, 41.9], [np.nan, np.nan]])


@pytest.mark.parametrize(
    ("name", "text", "demands"),
    [
        ("n.txt", NATIVE, [("Paris", "Lyon", 12.0)]),
        ("n.xml", XML, [("Paris", "Lyon", 9.0), ("Paris", "Lyon", 3.0)]),
    ],
)
def test_demands_of_sndlib(
    name: str, text: str, demands: list[tuple[str, str, float]], tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    assert read_demands(tmp_path / name) == demands


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("n.txt", "NODES ( )", "no section DEMANDS"),
        ("n.txt", "DEMANDS ( )", "no line of its form"),
        ("n.xml", "<network/>", "no <demand>"),
        ("n.xml", "<network>", "cannot be read as a traffic matrix"),
        ("n.json", "{}", "cannot be read as a traffic matrix"),
    ],
)
def test_a_file_without_demands_is_one_clear_error(
    name: str, text: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        read_demands(tmp_path / name)
    assert caught.value.where == str(tmp_path / name)
    assert caught.value.remedy


def test_speeds_of_the_zoo_and_defaults_of_graphml_are_capacities(tmp_path: Path) -> None:
    speeds = (
        '<key id="s" for="edge" attr.name="LinkSpeedRaw" attr.type="double"/>',
        '<edge source="a" target="b"><data key="s">1e9</data></edge>',
        '<edge source="b" target="c"><data key="s">1e10</data></edge>',
    )
    file = tmp_path / "net.graphml"
    file.write_text(graphml(*speeds))
    assert read_graph(file, capacity="LinkSpeedRaw").capacity.tolist() == [1e9, 1e10]
    stated = (
        '<key id="c" for="edge" attr.name="capacity"><default>7</default></key>'
        '<key id="n" for="node" attr.name="capacity"><default>99</default></key>'
    )
    edges = (
        '<edge source="a" target="b"/>',
        '<edge source="b" target="c"><data key="c">3</data></edge>',
    )
    file.write_text(graphml(stated, *edges))
    assert read_graph(file).capacity.tolist() == [7.0, 3.0]


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
        assert links(read_graph(file)) == wanted
    file.write_text(graphml(key, '<edge source="a" target="b" directed="maybe"/>'))
    with pytest.raises(DataError, match="'directed' is 'maybe', neither true nor false"):
        read_graph(file)


@pytest.mark.parametrize(
    ("word", "count"),
    [("false", 6), ("False", 6), (False, 6), (0, 6), (None, 6), ("true", 3), (True, 3), (1, 3)],
)
def test_directed_in_json_may_be_a_word(word: object, count: int, tmp_path: Path) -> None:
    file = tmp_path / "net.json"
    file.write_text(json.dumps({**json.loads(three_links(capacity=1)), "directed": word}))
    assert len(links(read_graph(file))) == count
    file.write_text(json.dumps({**json.loads(three_links(capacity=1)), "directed": "no way"}))
    with pytest.raises(DataError, match="'directed' is 'no way'"):
        read_graph(file)


def test_a_nodes_name_is_its_label(tmp_path: Path) -> None:
    nodes = [{"id": 0, "name": "Rome"}, {"id": 1, "name": "x", "label": "Oslo"}, {"id": 2}]
    links = [{"source": 0, "target": 1, "capacity": 1}, {"source": 1, "target": 2, "capacity": 1}]
    (tmp_path / "net.json").write_text(json.dumps({"nodes": nodes, "links": links}))
    assert read_graph(tmp_path / "net.json").names == ("Rome", "Oslo", "2")
    key = '<key id="n" for="node" attr.name="name"/><key id="c" attr.name="capacity" for="edge"/>'
    text = graphml(key, '<edge source="a" target="b"><data key="c">1</data></edge>')
    text = text.replace('<node id="a"/>', '<node id="a"><data key="n">Rome</data></node>')
    (tmp_path / "net.graphml").write_text(text)
    assert read_graph(tmp_path / "net.graphml").names == ("Rome", "b", "c")


@pytest.mark.parametrize(
    ("name", "text", "capacity"), [("n.txt", NATIVE, 40.0), ("n.xml", XML, 7.5)]
)
def test_sndlib_both_forms(name: str, text: str, capacity: float, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    net = read_graph(tmp_path / name)
    assert net.names == ("Paris", "Lyon")
    assert links(net) == ["Paris->Lyon", "Lyon->Paris"]
    assert net.capacity.tolist() == [capacity]
    assert net.position[1].tolist() == [4.84, 45.76]


FILES = {
    "net.json": ("{", "cannot be read as a network"),
    "list.json": ("[]", "'nodes' and 'links'"),
    "ends.json": (
        '{"nodes": [{"id": 0}], "links": [{"source": 0, "target": 5}]}',
        "'5', which is no node",
    ),
    "twice.json": ('{"nodes": [{"id": 0}, {"id": 0}], "links": []}', "same id"),
    "numbers.json": ('{"nodes": [0, 1], "links": []}', "entry 0 of 'nodes' is 0, no object"),
    "texts.json": ('{"nodes": ["a"], "links": []}', "entry 0 of 'nodes' is 'a', no object"),
    "pairs.json": (
        '{"nodes": [{"id": 0}], "links": [[0, 1]]}',
        r"entry 0 of 'links' is \[0, 1\]",
    ),
    "table.json": ('{"nodes": [{"id": 0}], "links": {}}', "'links' is no list"),
    "deep.json": ("[" * 100_000, "cannot be read as a network"),
    "nan.json": (
        '{"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1, "capacity": NaN}]}',
        "the link from '0' to '1' has the capacity nan",
    ),
    "null.json": (
        '{"nodes": [{"id": 0}, {"id": 1}],'
        ' "links": [{"source": 0, "target": 1, "capacity": null}]}',
        "the link from '0' to '1' has the capacity None",
    ),
    "nan.graphml": (
        '<graphml><key attr.name="capacity" for="edge" id="c"/><graph><node id="a"/><node id="b"/>'
        '<edge source="a" target="b"><data key="c">NaN</data></edge></graph></graphml>',
        "the link from 'a' to 'b' has the capacity 'NaN'",
    ),
    "word.json": (
        '{"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1, "capacity": "x"}]}',
        "the link from '0' to '1' has the capacity 'x', no number",
    ),
    "no.json": ('{"nodes": [{"id": 0}]}', "lacks 'edges'"),
    "net.graphml": ("<graphml>", "cannot be read"),
    "bare.graphml": ("<graphml/>", "no <graph>"),
    "net.txt": ("NODES (", "does not end"),
    "other.txt": ("hello", "no section NODES"),
    "net.yaml": ("", "ending '.yaml'"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_no_network_is_one_clear_error(name: str, tmp_path: Path) -> None:
    text, message = FILES[name]
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        read_graph(tmp_path / name)
    assert str(tmp_path / name) in caught.value.where
    assert caught.value.remedy
