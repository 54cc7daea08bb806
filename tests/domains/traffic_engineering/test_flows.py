"""Flows from a table that a solve has printed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.domains.traffic_engineering.networks import diamond

from walras.domains import traffic_engineering as te
from walras.errors import InputError

_CASE = diamond()
_HEAD = "source,target,flow,path\n"


def test_flows_are_matched_by_their_nodes_and_other_pairs_are_unknown(tmp_path: Path) -> None:
    path = tmp_path / "flows.csv"
    path.write_text(f"{_HEAD}n0,n3,2.5,n0 n2 n3\nn0,n3,1,n0 n3\nn3,n0,1,n3 n0\n")
    found = te.read_flows(path, _CASE.paths)
    for p in range(_CASE.paths.count):
        way = tuple(_CASE.paths.nodes_of(p))
        if way == (0, 2, 3):
            assert found[p] == 2.5
        elif (way[0], way[-1]) == (0, 3):
            assert found[p] == 0.0, "its pair is in the file"
        else:
            assert np.isnan(found[p])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("n0,n9,1,n0 n9\n", "there is no node 'n9'"),
        ("n0,n3,1,n0 n3\n", "no path in the file is a candidate path"),
        ("n0,n3,-1,n0 n1 n3\n", "is -1"),
    ],
)
def test_what_is_of_another_network_is_named(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "flows.csv"
    path.write_text(_HEAD + text)
    with pytest.raises(InputError, match=words):
        te.read_flows(path, _CASE.paths)
