"""Traces from files: the forms of Gavel's format, and lines that cannot be used."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from walras import DataError, InputError, data
from walras.data.gavel import GavelThroughputs
from walras.simulate import load_trace

KIND = "ResNet-18 (batch size 16)"


@pytest.fixture(scope="module")
def speeds() -> GavelThroughputs:
    found = data.load("gavel", synthetic=True)
    assert isinstance(found, GavelThroughputs)
    return found


def _line(kind: Any = KIND, steps: Any = 90, size: Any = 1, weight: Any = 1, at: Any = 0) -> str:
    cells = (kind, "run", "folder", "--steps", 1, steps, size, weight, "-1.000000", at)
    return "\t".join(map(str, cells))


def _columns(count: int) -> str:
    cells = _line(steps=70, size=2, weight=3, at=5).split("\t")
    if count == 9:
        cells.pop(2)
    if count >= 11:
        cells.insert(7, "static")
    if count == 12:
        cells.insert(10, "3600")
    return "\t".join(cells)


@pytest.mark.parametrize("count", [9, 10, 11, 12])
def test_every_form_is_read(count: int, tmp_path: Path, speeds: GavelThroughputs) -> None:
    path = tmp_path / "one.trace"
    path.write_text(_columns(count) + "\n\n", encoding="utf-8")
    trace = load_trace(path, speeds=speeds)
    assert (trace.kind, trace.size.tolist(), trace.steps.tolist()) == ((KIND,), [2], [70.0])
    assert (trace.weight.tolist(), trace.arrival.tolist()) == ([3.0], [5.0])
    column = speeds.columns([KIND], [2])[0]
    assert trace.speed.tolist() == [speeds.throughput[:, column].tolist()]


def test_packed_files_are_unpacked(tmp_path: Path, speeds: GavelThroughputs) -> None:
    path = tmp_path / "one.trace.gz"
    path.write_bytes(gzip.compress(_line().encode()))
    assert len(load_trace(path, speeds=speeds)) == 1
    path.write_bytes(b"\x1f\x8b no")
    with pytest.raises(DataError, match="cannot be read"):
        load_trace(path, speeds=speeds)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([_line(), _line(kind="ResNet-18 (batch size 17)")], "line 2: job type .* is unknown; did"),
        ([_line(size=3)], r"line 1: .* no speed on 3 workers, only on \[1, 2, 4, 8\]"),
        ([_line(at=5), _line(at=4)], "line 2: arrives at 4 s, after a job that arrives at 5 s"),
        ([_line(at=-1)], "line 1: arrival is -1, not 0 or more"),
        ([_line(at="soon")], "line 1: arrival is 'soon', no number"),
        ([_line(at="nan")], "line 1: arrival is nan"),
        ([_line(steps=0)], "line 1: steps is 0, not a whole number above 0"),
        ([_line(steps=1.5)], "line 1: steps is 1.5"),
        ([_line(weight=0)], "line 1: weight is 0, not above 0"),
        (["a\tb"], "line 1: has 2 columns"),
        ([_line(at=-1), _line(), _line(steps=0)], "1 more lines cannot be used"),
        ([], "holds no job"),
    ],
)
def test_bad_lines_are_named(
    lines: list[str], said: str, tmp_path: Path, speeds: GavelThroughputs
) -> None:
    path = tmp_path / "bad.trace"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(DataError, match=said):
        load_trace(path, speeds=speeds)


def test_other_formats_and_missing_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="format"):
        load_trace(tmp_path / "x", format="excel")
    with pytest.raises(DataError, match="cannot be read"):
        load_trace(tmp_path / "x")
