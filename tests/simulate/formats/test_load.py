"""Options of reading a trace, and which format is taken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from walras import DataError, InputError, data
from walras.simulate import FORMATS, import_trace, load_trace


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "jobs.csv"
    made.write_text("arrival,seconds\n0,5\n1,x\n2,5\n", encoding="utf-8")
    return made


def test_every_format_has_a_title_and_maps_to_arrival() -> None:
    for name, form in FORMATS.items():
        assert form.title
        assert name == "table" or "arrival" in form.columns.values()


def test_the_ending_names_the_format(tmp_path: Path) -> None:
    path = tmp_path / "log.SWF.gz"
    path.write_bytes(b"no gzip")
    with pytest.raises(DataError, match=r"no whole \.gz file"):
        import_trace(path)


def test_a_strict_reader_names_the_first_bad_row(path: Path) -> None:
    with pytest.raises(DataError, match="line 3: seconds is 'x'"):
        load_trace(path)
    assert len(import_trace(path).trace) == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"format": "csv"}, "no format of traces 'csv'"),
        ({"types": []}, "types"),
        ({"types": "gpu"}, "types"),
        ({"types": {"gpu": 0.0}}, "types"),
        ({"types": [3]}, "types"),
        ({"speeds": 3}, "speeds"),
        ({"types": ["v100"], "speeds": data.load("gavel", synthetic=True)}, "one of the two"),
    ],
)
def test_options_that_cannot_be_used(options: dict[str, Any], said: str, path: Path) -> None:
    with pytest.raises(InputError, match=said):
        import_trace(path, **options)


def test_a_map_of_the_user_takes_the_place_of_the_formats(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_text("1 0 5 60 4 -1 -1 4 90 -1 1 12 1 1 3 1 -1 -1\n", encoding="utf-8")
    assert load_trace(path).kind == ("1",)
    assert load_trace(path, columns={"queue": "kind"}).kind == ("3",)
    assert load_trace(path, columns={"requested_time": "seconds"}).steps.tolist() == [90.0]


@pytest.mark.parametrize(
    "bad", [{"columns": 3}, {"columns": {"id": 3}}, {"types": 3}, {"types": {"a": "x"}}]
)
def test_maps_are_maps(tmp_path: Path, bad: dict[str, Any]) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("id,arrival,seconds\na,0,60\n")
    with pytest.raises(InputError, match=next(iter(bad))):
        import_trace(path, **bad)
