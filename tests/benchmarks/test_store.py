"""Records on disk: what is written stays, whatever happens to a later write."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.cell import Cell
from benchmarks.instances import Spec
from benchmarks.store import RESULTS, Store, read_lines
from benchmarks.tables import Tables

CELLS = [Cell("toy", Spec("heterogeneous", 8, 24), "max-min", m, 1.0) for m in ("highs", "scs")]


def _record(cell: Cell, status: str = "ran") -> dict[str, object]:
    return {"cell": {"name": cell.name}, "status": status}


def test_a_benchmark_has_one_file_with_a_line_a_cell(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for cell in reversed(CELLS):
        store.write(cell, _record(cell))
    store.write(CELLS[0], _record(CELLS[0], "stopped"))
    assert [path.name for path in tmp_path.iterdir()] == ["toy.jsonl"]
    lines = (tmp_path / "toy.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["status"] for line in lines] == ["stopped", "ran"]
    assert list(store.records(CELLS)) == [cell.name for cell in CELLS]


def test_a_write_that_is_killed_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    store.write(CELLS[0], _record(CELLS[0]))

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            store.write(CELLS[1], _record(CELLS[1]))
    assert list(store.records(CELLS)) == [CELLS[0].name]
    with pytest.raises(ValueError, match="JSON"):  # a number that JSON cannot say
        store.write(CELLS[1], _record(CELLS[1]) | {"value": float("nan")})
    store.write(CELLS[1], _record(CELLS[1]))
    assert list(store.records(CELLS)) == [cell.name for cell in CELLS]


def test_a_table_comes_back_as_it_was_and_leaves_the_others(tmp_path: Path) -> None:
    tables = Tables("toys", tmp_path)
    frame = pd.DataFrame(
        {
            "method": ["a", "b"],
            "gap": [2.9412991234617235e-16, np.nan],
            "seed": [0, 1],
            "left": [np.inf, 1.0],
            "done": [True, False],
        }
    )
    tables.write("one", frame)
    tables.write("two", frame.iloc[:1], digits=3)
    found = tables.read("one")
    assert found is not None
    pd.testing.assert_frame_equal(found, frame, check_exact=True)
    assert tables.read("three") is None
    assert [line["gap"] for line in read_lines(tables.records)][2] == 2.94e-16
    assert all(line["measured"].startswith("20") for line in read_lines(tables.records))


def test_rows_that_stay_keep_their_date_and_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = Tables("toys", tmp_path)
    frame = pd.DataFrame({"method": ["b", "a"], "seed": [0, 0], "gap": [0.1234, 2.0]})
    monkeypatch.setattr("benchmarks.tables._origin", lambda: ("2020-01-01", "an old one", "1"))
    tables.write("one", frame, cell=("method", "seed"))
    monkeypatch.setattr("benchmarks.tables._origin", lambda: ("2021-01-01", "a new one", "2"))
    more = pd.DataFrame({"method": ["c", "a"], "seed": [0, 0], "gap": [3.0, 4.0]})
    tables.write("one", more, digits=2, cell=("method", "seed"))
    kept = [tuple(line.values()) for line in read_lines(tables.records)]
    assert kept == [
        ("one", "a", 0, 4.0, "2021-01-01", "a new one", "2"),
        ("one", "b", 0, 0.1234, "2020-01-01", "an old one", "1"),
        ("one", "c", 0, 3.0, "2021-01-01", "a new one", "2"),
    ]
    found = tables.read("one")
    assert found is not None
    assert list(found) == ["method", "seed", "gap"]


def test_the_records_are_few_files_of_lines() -> None:
    files = [path for path in RESULTS.rglob("*") if path.is_file()]
    assert len(files) <= 80
    lines = [path for path in files if path.suffix == ".jsonl"]
    assert len(lines) >= 20
    assert all(read_lines(path) for path in lines)
