"""Tables of any columns: CSV, JSON and Parquet."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from walras import DataError, EngineError, InputError
from walras.simulate import import_trace


def _write(tmp_path: Path, text: str, name: str = "jobs.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_columns_are_mapped_and_names_of_fields_need_no_map(tmp_path: Path) -> None:
    path = _write(tmp_path, "id,when,seconds,gpus,note\na,5,60,2,x\nb,0,30,1,y\n")
    trace = import_trace(path, columns={"id": "name", "when": "arrival", "gpus": "size"}).trace
    assert (trace.name, trace.size.tolist()) == (("b", "a"), [1, 2])
    assert (trace.arrival.tolist(), trace.steps.tolist()) == ([0.0, 5.0], [30.0, 60.0])
    assert (trace.types, trace.weight.tolist(), trace.kind) == (
        ("worker",),
        [1.0, 1.0],
        ("job",) * 2,
    )


def test_speeds_by_type_make_seconds_those_of_the_fastest(tmp_path: Path) -> None:
    path = _write(tmp_path, "arrival,seconds,speed v100,speed k80\n0,10,4,1\n1,10,,2\n")
    trace = import_trace(path).trace
    assert (trace.types, trace.speed.tolist()) == (("v100", "k80"), [[4.0, 1.0], [0.0, 2.0]])
    assert trace.steps.tolist() == [40.0, 20.0]


def test_dates_count_from_the_first_job(tmp_path: Path) -> None:
    path = _write(tmp_path, "arrival,seconds\n2026-01-01T10:00:30,5\n2026-01-01T10:00:00Z,5\n")
    assert import_trace(path).trace.arrival.tolist() == [0.0, 30.0]


def test_json_is_a_list_of_objects(tmp_path: Path) -> None:
    rows = [{"arrival": 0, "seconds": 5, "kind": "lm"}, {"arrival": 3, "seconds": 2.5}]
    trace = import_trace(_write(tmp_path, json.dumps(rows), "jobs.json")).trace
    assert (trace.kind, trace.steps.tolist()) == (("lm", "job"), [5.0, 2.5])


def test_parquet_holds_the_same(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "jobs.parquet"
    pd.DataFrame({"arrival": [0.0, 3.0], "seconds": [5, 2], "size": [1, 8]}).to_parquet(path)
    trace = import_trace(path).trace
    assert (trace.arrival.tolist(), trace.size.tolist()) == ([0.0, 3.0], [1, 8])
    path.write_bytes(b"PAR1")
    with pytest.raises(DataError, match="cannot be read"):
        import_trace(path)


def test_parquet_without_pyarrow_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(EngineError, match="pyarrow is not installed") as refused:
        import_trace(tmp_path / "jobs.parquet")
    assert "[parquet]" in str(refused.value)


def test_ragged_rows_are_refused_by_their_line(tmp_path: Path) -> None:
    found = import_trace(_write(tmp_path, "arrival,seconds\n0,5\n\n1,5,9\n2,5\n"))
    assert [str(bad) for bad in found.refused] == [
        "line 4: does not have the 2 cells of the header"
    ]
    assert found.row.tolist() == [2, 5]


def test_times_of_parquet_are_seconds(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "jobs.parquet"
    moments = pd.Series(pd.to_datetime(["2026-01-01T09:00", "2026-01-01T10:00"]))
    table = pd.DataFrame({"at": moments, "seconds": pd.to_timedelta([60, 90], unit="s")})
    table["local"] = moments.dt.tz_localize("Asia/Tokyo")
    table.to_parquet(path)
    for column in ("at", "local"):
        trace = import_trace(path, columns={column: "arrival"}).trace
        assert (trace.arrival.tolist(), trace.steps.tolist()) == ([0.0, 3600.0], [60.0, 90.0])


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_other_marks_between_cells_are_found_in_the_header(mark: str, tmp_path: Path) -> None:
    path = _write(tmp_path, f"arrival{mark}seconds\n0{mark}5\n")
    assert import_trace(path).trace.steps.tolist() == [5.0]


@pytest.mark.parametrize(
    ("columns", "error", "said"),
    [
        ({}, DataError, "no column for the field 'seconds'"),
        ({"time": "seconds"}, DataError, "has no column 'time'"),
        ({"len": "length"}, InputError, "maps 'len' to 'length'"),
    ],
)
def test_maps_that_cannot_be_used(
    columns: dict[str, str], error: type[Exception], said: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=said):
        import_trace(_write(tmp_path, "arrival,len\n0,5\n"), columns=columns)


def test_files_that_are_no_tables(tmp_path: Path) -> None:
    for name, text in (
        ("a.csv", ""),
        ("d.csv", "arrival,arrival,seconds\n"),
        ("b.json", "{}"),
        ("c.json", "[["),
    ):
        with pytest.raises(DataError, match="cannot be read"):
            import_trace(_write(tmp_path, text, name))
