"""Rules about good rows, whatever the format."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from walras import DataError, data
from walras.simulate import import_trace, save_trace
from walras.simulate.formats.make import Rules, make
from walras.simulate.formats.raw import Raw

OWN = {name: name for name in ("name", "size", "seconds", "arrival", "weight", "type")}


def _raw(rows: list[dict[str, Any]]) -> Raw:
    return Raw(pd.DataFrame(rows, dtype=object), np.arange(1, len(rows) + 1))


def _rules(raw: Raw, **more: Any) -> Rules:
    return Rules("jobs", {k: v for k, v in OWN.items() if k in raw.table}, **more)


CELLS = st.one_of(
    st.integers(1, 40),
    st.sampled_from(["", "x", "nan", "inf", "-1", "0", "1", "2.5", "1e400", None]),
    st.floats(),
)
ROWS = st.lists(
    st.fixed_dictionaries(dict.fromkeys(("size", "seconds", "arrival", "weight"), CELLS)),
    min_size=1,
    max_size=12,
)


def _number(cell: Any, default: float) -> float:
    if cell is None or cell == "" or cell != cell:
        return default
    return math.nan if cell == "x" else float(cell)


def _is_good(row: dict[str, Any]) -> bool:
    size = _number(row["size"], 1.0)
    seconds, weight = _number(row["seconds"], math.nan), _number(row["weight"], 1.0)
    arrival = _number(row["arrival"], math.nan)
    whole = 1 <= size <= 2**31 and size == int(size)
    return whole and 0 < seconds <= 1e15 and 0 < weight <= 1e15 and 0 <= arrival <= 1e15


@given(ROWS)
def test_every_row_is_a_good_job_or_refused_with_a_reason(rows: list[dict[str, Any]]) -> None:
    raw = _raw(rows)
    good = [k for k, row in enumerate(rows, 1) if _is_good(row)]
    if not good or 2 * len(good) < len(rows):
        with pytest.raises(DataError):
            make(raw, _rules(raw))
        return
    found = make(raw, _rules(raw))
    assert sorted(found.row) == good
    assert sorted([*found.row, *(bad.row for bad in found.refused)]) == list(raw.row)
    assert all(bad.field and bad.reason for bad in found.refused)
    assert (np.diff(found.trace.arrival) >= 0).all()


def test_the_first_field_that_is_wrong_is_named_and_names_stand_once() -> None:
    good: list[dict[str, Any]] = [
        {"name": f"g{k}", "size": 1, "seconds": 5, "arrival": 0} for k in range(4)
    ]
    bad: list[dict[str, Any]] = [
        {"name": "g1", "size": 1, "seconds": 5, "arrival": 0},
        {"name": "b", "size": 2.5, "seconds": -1, "arrival": 0},
        {"name": "c", "size": None, "seconds": "long", "arrival": 0},
        {"name": "d", "size": 1, "seconds": 5, "arrival": ""},
    ]
    raw = _raw(good + bad)
    found = make(raw, _rules(raw))
    assert [str(one) for one in found.refused] == [
        "line 5: name is 'g1', as that of a row before",
        "line 6: size is 2.5, not a whole number above 0",
        "line 7: seconds is 'long', not a number above 0",
        "line 8: arrival is missing, not a number 0 or more",
    ]


@pytest.mark.parametrize(
    ("cells", "kept", "said"),
    [
        ([0, 7, "2026-01-01"], [0.0, 7.0], "line 3: arrival is '2026-01-01', not a number 0 or"),
        (["2026-01-01T00:01", 7, "2026-01-01"], [0.0, 60.0], "line 2: arrival is 7, not a date"),
        ([0, 7, 10**400], [0.0, 7.0], "line 3: arrival is 1000000"),
        ([0, 7, [1]], [0.0, 7.0], "line 3: arrival is "),
    ],
)
def test_arrivals_are_numbers_or_dates(cells: list[Any], kept: list[float], said: str) -> None:
    raw = _raw([{"seconds": 5, "arrival": cell} for cell in cells])
    found = make(raw, _rules(raw))
    assert found.trace.arrival.tolist() == kept
    assert str(found.refused[0]).startswith(said)


def test_deadlines_are_seconds_or_none(tmp_path: Path) -> None:
    rows = [{"seconds": 5, "arrival": 2 - k, "deadline": d} for k, d in enumerate([9, "", "noon"])]
    raw = _raw(rows)
    found = make(raw, Rules("jobs", {name: name for name in ("seconds", "arrival", "deadline")}))
    assert found.trace.deadline.tolist() == [np.inf, 9.0]
    assert str(found.refused[0]) == "line 3: deadline is 'noon', not a number 0 or more"
    save_trace(found.trace, tmp_path / "trace.csv")
    assert import_trace(tmp_path / "trace.csv").trace.deadline.tolist() == [np.inf, 9.0]


def test_numbers_beyond_all_sense_name_the_limit() -> None:
    raw = _raw([{"seconds": 5, "arrival": 0}, {"seconds": 1e16, "arrival": 0}])
    said = "line 2: seconds is 1e+16, not a number above 0, at most 1e+15"
    assert str(make(raw, _rules(raw)).refused[0]) == said


def test_types_may_be_named_with_speeds() -> None:
    raw = _raw([{"seconds": 60, "arrival": 0}])
    trace = make(raw, _rules(raw, types={"v100": 1.0, "k80": 0.4})).trace
    assert trace.seconds("k80").tolist() == [150.0]


def test_a_type_that_is_not_among_the_named_ones_is_refused() -> None:
    rows = [{"seconds": 60, "arrival": 0, "type": name} for name in ("a|b", "", "c")]
    raw = _raw(rows)
    found = make(raw, _rules(raw, types={"b": 2.0}))
    assert found.trace.speed.tolist() == [[2.0], [2.0]]
    assert str(found.refused[0]) == "line 3: type is 'c', none of b"


def test_measured_speeds_serve_any_format_that_names_classes(tmp_path: Path) -> None:
    speeds = data.load("gavel", synthetic=True)
    path = tmp_path / "jobs.csv"
    path.write_text("kind,size,arrival,seconds\nA3C,1,0,10\nA4C,1,0,10\n", encoding="utf-8")
    found = import_trace(path, speeds=speeds)
    column = speeds.throughput[:, speeds.columns(["A3C"], [1])[0]]
    assert found.trace.speed.tolist() == [column.tolist()]
    assert found.trace.seconds().tolist() == pytest.approx([10.0])
    assert str(found.refused[0]) == "line 3: job type 'A4C' is unknown; did you mean 'A3C'?"


@pytest.mark.parametrize("field", ["name", "kind", "type"])
def test_half_a_character_is_refused(field: str, tmp_path: Path) -> None:
    """JSON can state a lone surrogate, and no text file can hold one: no result could be kept."""
    rows = [{"arrival": 0, "seconds": 60, field: text} for text in ("gpu", "\ud800", "x\udfffy")]
    path = tmp_path / "jobs.json"
    path.write_text(json.dumps([*rows, {"arrival": 1, "seconds": 60, field: "cpu"}]), "utf-8")
    found = import_trace(path)
    assert [str(one) for one in found.refused] == [
        f"job {k}: {field} holds half a character" for k in (2, 3)
    ]
    save_trace(found.trace, tmp_path / "again.csv")
    assert import_trace(tmp_path / "again.csv").trace.name == found.trace.name


@pytest.mark.parametrize("field", ["name", "kind", "size", "seconds", "arrival"])
def test_a_long_cell_is_shown_short(field: str) -> None:
    long = {"name": "9" * 5000, "arrival": 0, "seconds": 60, field: "9" * 5000}
    raw = _raw(
        [{"name": str(k), "arrival": 0, "seconds": 60, "kind": "a"} for k in range(3)] + [long] * 2
    )
    found = make(raw, Rules("jobs", {k: k for k in map(str, raw.table)}))
    assert found.refused
    assert all(len(str(one)) < 200 for one in found.refused)
