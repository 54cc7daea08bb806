"""Networks from files, and files that are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from walras import network as wn
from walras.errors import DataError


def test_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "net.csv"
    path.write_text("0,1\n1,2\n2,3\n3,0\n")
    network = wn.Network.from_file(path)
    assert (network.centres, network.links) == (4, 4)
    path.write_text("0,1,0.5\n1,2,0.25\n")
    assert wn.Network.from_file(path).weight.tolist() == [0.5, 0.25, 0.5, 0.25]
    node_link = {
        "directed": False,
        "nodes": [{"id": "a"}, {"id": "b"}, {"id": "c"}],
        "links": [{"source": "a", "target": "b"}, {"source": "b", "target": "c"}],
    }
    path = tmp_path / "net.json"
    path.write_text(json.dumps(node_link))
    assert wn.Network.from_file(path).links == 2


def test_one_way_edges_among_others_make_a_directed_network(tmp_path: Path) -> None:
    path = tmp_path / "mixed.graphml"
    edges = (
        '<edge source="a" target="b" directed="true"/><edge source="b" target="c"/>'
        '<edge source="c" target="a" directed="true"/>'
    )
    nodes = "".join(f'<node id="{v}"/>' for v in "abc")
    path.write_text(f'<graphml><graph edgedefault="undirected">{nodes}{edges}</graph></graphml>')
    network = wn.Network.from_file(path)
    assert network.directed
    assert sorted(zip(network.tail.tolist(), network.head.tolist(), strict=True)) == [
        (0, 1),
        (1, 2),
        (2, 0),
        (2, 1),
    ]


@pytest.mark.parametrize("content", ["", "0,1\n1,x\n", "0\n"])
def test_files_that_are_no_network_are_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(content)
    with pytest.raises(DataError, match=r"bad\.csv"):
        wn.Network.from_file(path)
