"""Traffic matrices from files: SNDlib's demands, and tables that are matched by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.data.formats.graph_files import NATIVE, XML
from tests.domains.traffic_engineering.networks import diamond

import walras as wl
from walras.domains import traffic_engineering as te


@pytest.mark.parametrize(("name", "text"), [("n.txt", NATIVE), ("n.xml", XML)])
def test_sndlib_demands(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    net = te.load_topology(tmp_path / name)
    assert te.load_traffic(tmp_path / name, net).tolist() == [[0.0, 12.0], [0.0, 0.0]]
    (tmp_path / name).write_text(text.replace("Lyon", "Nice"))
    with pytest.raises(wl.InputError, match="there is no node 'Nice'"):
        te.load_traffic(tmp_path / name, net)
    (tmp_path / name).write_text(text.replace("D1 ( Paris", "( Paris").replace("demand", "other"))
    with pytest.raises(wl.DataError, match=r"there is no <demand>|no line of its form"):
        te.load_traffic(tmp_path / name, net)
    with pytest.raises(wl.DataError, match="cannot be read as a traffic matrix"):
        te.load_traffic(tmp_path / f"none{name[1:]}", net)


def test_matrices_from_files_are_matched_by_name(tmp_path: Path) -> None:
    case = diamond()
    np.save(tmp_path / "m.npy", case.demand)
    assert np.array_equal(te.load_traffic(tmp_path / "m.npy", case.net), case.demand)
    names = list(case.net.node_names)
    frame = pd.DataFrame(case.demand, names, names).iloc[::-1]
    frame.to_csv(tmp_path / "m.csv")
    assert np.array_equal(te.load_traffic(tmp_path / "m.csv", case.net), case.demand)
