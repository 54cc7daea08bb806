"""Traces and runs as tables."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walras import DataError, InputError, policies
from walras.simulate import Cluster, Run, Trace, export_run, load_trace, run, save_trace
from walras.simulate.formats.write import batsim_jobs

TRACE = Trace.of(
    ["a", "b", "c"],
    kind=["x", "y", "x"],
    size=[1, 2, 4],
    steps=[600.5, 0.1, 1e9],
    weight=[1.0, 2.5, 1.0],
    arrival=[1 / 3, 2.0, 2.0],
    types=["v100", "k80"],
    speed=[[3.0, 1 / 7], [2.0, 0.0], [1.0, 0.5]],
)


def _same(one: Trace, other: Trace) -> None:
    pd.testing.assert_frame_equal(one.frame(), other.frame(), check_exact=True)


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_a_trace_is_read_back_as_it_was(ending: str, tmp_path: Path) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"trace.{ending}"
    save_trace(TRACE, path)
    _same(load_trace(path), TRACE)


@settings(max_examples=25)
@given(steps=st.lists(st.floats(1e-9, 1e12), min_size=1, max_size=6))
def test_numbers_keep_every_digit(
    tmp_path_factory: pytest.TempPathFactory, steps: list[float]
) -> None:
    path = tmp_path_factory.mktemp("digits") / "trace.csv"
    trace = Trace.of([f"j{k}" for k in range(len(steps))], steps=steps, arrival=sorted(steps))
    save_trace(trace, path)
    _same(load_trace(path), trace)


@pytest.fixture(scope="module")
def done() -> Run:
    trace = Trace.of(["a", "b", "c"], steps=[600, 60, 9e9], arrival=[0, 10, 20])
    rule = policies.fifo()
    return run(trace, Cluster({"type 0": 1}), rule, round_seconds=0, measured=[0, 1])


def test_a_run_is_tables_and_a_summary(done: Run, tmp_path: Path) -> None:
    export_run(done, tmp_path / "out" / "deep", "json")
    folder = tmp_path / "out" / "deep"
    jobs = json.loads((folder / "jobs.json").read_text(encoding="utf-8"))
    assert [(job["job"], job["ended"]) for job in jobs] == [("a", 600.0), ("b", 660.0), ("c", None)]
    rounds = json.loads((folder / "rounds.json").read_text(encoding="utf-8"))
    assert len(rounds) == len(done.rounds)
    described = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert (described["hash"], described["complete"]) == (done.hash, True)
    assert described["measures"]["mean completion"] == {"value": 625.0 / 3600, "unit": "h"}
    assert "policy" not in described["measures"]


def test_the_same_run_gives_the_same_bytes(done: Run, tmp_path: Path) -> None:
    for name in ("one", "two"):
        export_run(done, tmp_path / name)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_batsims_columns_say_how_long_jobs_ran_waited_and_stayed(done: Run) -> None:
    table = batsim_jobs(done)
    assert table["job_id"].tolist() == ["a", "b"]
    row = table.iloc[1]
    assert (row["submission_time"], row["starting_time"]) == (10.0, 600.0)
    assert (row["finish_time"], row["execution_time"]) == (660.0, 60.0)
    assert (row["waiting_time"], row["turnaround_time"]) == (590.0, 650.0)
    assert np.isclose(row["stretch"], 650.0 / 60.0)
    assert set(table["final_state"]) == {"COMPLETED_SUCCESSFULLY"}


def test_places_that_cannot_be_written(done: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(DataError, match="cannot be made"):
        export_run(done, tmp_path / "file")
    with pytest.raises(InputError, match="table"):
        export_run(done, tmp_path, "xls")
    with pytest.raises(DataError, match="cannot be written"):
        save_trace(TRACE, tmp_path / "none" / "trace.csv")
