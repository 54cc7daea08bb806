"""What a result says of itself."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from tests.domains.placement.instances import drawn

import walras as wl
from walras.domains import placement as pl

NODES = pd.DataFrame({"cpu": [8.0, 8.0], "gpus": [2, 1]}, index=["a", "b"])
TASKS = pd.DataFrame(
    {"cpu": [4.0, 1.0, 1.0, 9.0], "gpus": [2, 0.5, 0.4, 1]}, index=["x", "y", "z", "big"]
)


def test_facts_of_a_placement() -> None:
    p = pl.place(NODES, TASKS)
    assert p.node.to_dict() == {"x": "a", "y": "b", "z": "b", "big": ""}
    assert p.gpus.to_dict() == {"x": (0, 1), "y": (0,), "z": (0,), "big": ()}
    assert p.value == pytest.approx(2.9)
    assert p.bound == pytest.approx(2.9)
    assert (p.placed, p.moves, p.violation) == (3, 0, 0.0)
    assert p.idle_gpus == pytest.approx(0.1)
    assert p.fragmentation == pytest.approx(0.1)  # no task is content with a tenth
    assert p.frame().columns.tolist() == ["task", "node", "gpus", "moved_from"]
    assert repr(p) == "Placed(optimal, 3 of 4 tasks, value 2.9, gap 0.0e+00)"


def test_moved_tasks_are_named() -> None:
    p = pl.place(NODES, TASKS, previous={"y": "a"}, move_price=0.1)
    assert p.moves == 1
    assert p.frame().set_index("task")["moved_from"].to_dict()["y"] == "a"
    assert p.value == pytest.approx(2.8)


def test_a_saved_placement_comes_back(tmp_path: Path) -> None:
    nodes, tasks = drawn(4)
    p = pl.place(nodes, tasks)
    p.save(tmp_path / "p.npz")
    again = wl.load(tmp_path / "p.npz")
    assert again.node.equals(p.node)
    assert (again.value, again.bound, again.violation) == (p.value, p.bound, p.violation)
    assert str(again.explain("t1")) == str(p.explain("t1"))
