"""Graphs by name, and the set's own error where one cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from walras.data import te_topologies
from walras.errors import DataError

_GRAPH = {
    "directed": True,
    "nodes": [{"id": 0}, {"id": 1}],
    "links": [{"source": 0, "target": 1, "capacity": 5.0}],
}


def test_every_graph_is_read_by_the_name_of_its_file(tmp_path: Path) -> None:
    for file in te_topologies.FILES:
        (tmp_path / file).write_text(json.dumps(_GRAPH))
    found = te_topologies.read(tmp_path)
    assert list(found.graphs) == ["B4", "UsCarrier", "Kdl", "ASN2k"]
    assert found.graphs["Kdl"].capacity.tolist() == [5.0]
    assert (found.source, found.origin) == ("measured", str(tmp_path))


def test_the_graph_that_is_wrong_is_named_with_its_set(tmp_path: Path) -> None:
    for file in te_topologies.FILES:
        (tmp_path / file).write_text(json.dumps(_GRAPH))
    (tmp_path / "Kdl.json").write_text("{")
    with pytest.raises(DataError, match="cannot be read as data set 'te_topologies'") as raised:
        te_topologies.read(tmp_path)
    assert raised.value.where == str(tmp_path / "Kdl.json")
    assert "walras data fetch te_topologies" in raised.value.remedy
