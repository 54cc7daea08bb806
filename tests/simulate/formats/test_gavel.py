"""Gavel's and Shockwave's traces: every form, and lines that cannot be used."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from walras import DataError, InputError, data
from walras.data.gavel import GavelThroughputs
from walras.policies import fifo
from walras.rounds import JobsSnapshot, Shares
from walras.simulate import Cluster, import_trace, load_trace, run, save_trace
from walras.types import Floats

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


@pytest.mark.parametrize("count", [9, 10, 11, 12])
def test_an_slo_is_a_deadline(count: int, tmp_path: Path, speeds: GavelThroughputs) -> None:
    """Gavel's scheduler: arrival + SLO x duration, of the line or else on a V100."""
    path, back = tmp_path / "slo.trace", tmp_path / "back.csv"
    lines = [_columns(count).replace("-1.000000", slo) for slo in ("1.5", "-1.000000", "", "0")]
    path.write_text("\n".join(lines), encoding="utf-8")
    trace = load_trace(path, speeds=speeds)
    seconds = 3600.0 if count == 12 else trace.seconds("v100")[0]
    assert trace.deadline.tolist() == pytest.approx([5.0 + 1.5 * seconds] + [np.inf] * 3)
    save_trace(trace, back)
    assert load_trace(back).deadline.tolist() == pytest.approx(trace.deadline.tolist())
    seen: list[Floats] = []

    def watch(snapshot: JobsSnapshot) -> Shares:
        seen.append(snapshot.deadline)
        return fifo()(snapshot)

    run(trace, Cluster({"v100": 8}), watch)
    assert seen[0].tolist() == trace.deadline.tolist()


@pytest.mark.parametrize(
    ("slo", "duration", "said"),
    [("soon", "3600", "slo is 'soon'"), ("2", "0", "seconds is 0"), ("2", "x", "seconds is 'x'")],
)
def test_an_slo_that_is_no_deadline_is_named(
    slo: str, duration: str, said: str, tmp_path: Path, speeds: GavelThroughputs
) -> None:
    path = tmp_path / "slo.trace"
    bad = _columns(12).replace("-1.000000", slo).replace("3600", duration)
    path.write_text(f"{_columns(12)}\n{bad}", encoding="utf-8")
    with pytest.raises(DataError, match=f"line 2: {said}"):
        load_trace(path, speeds=speeds)


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
        ([_line(), _line(size=3)], r"line 2: size is 3: .* has speeds on \[1, 2, 4, 8\] workers"),
        ([_line(at=5), _line(at=4)], "line 2: arrival is 4, after a job that arrives at 5"),
        ([_line(), _line(at=-1)], "line 2: arrival is -1, not a number 0 or more"),
        ([_line(), _line(at="soon")], "line 2: arrival is 'soon', not a number"),
        ([_line(), _line(at="nan")], "line 2: arrival is nan"),
        ([_line(), _line(steps=0)], "line 2: steps is 0, not a number above 0"),
        ([_line(), _line(size=1.5)], "line 2: size is 1.5, not a whole number above 0"),
        ([_line(), _line(weight=0)], "line 2: weight is 0, not a number above 0"),
        ([_line(), "a\tb"], "line 2: has 2 columns"),
        ([_line(at=-1), _line(), _line(steps=0)], "2 of 3 rows cannot be used"),
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


def test_good_lines_are_read_beside_bad_ones(tmp_path: Path, speeds: GavelThroughputs) -> None:
    path = tmp_path / "mixed.trace"
    lines = [_line(at=0), _line(at=9), _line(at=3), _line(at=9, steps="x"), _line(at=12)]
    path.write_text("\n".join(lines), encoding="utf-8")
    found = import_trace(path, speeds=speeds)
    assert found.trace.arrival.tolist() == [0.0, 9.0, 12.0]
    assert (found.trace.name, found.row.tolist()) == (("1", "2", "5"), [1, 2, 5])
    assert [(bad.row, bad.field) for bad in found.refused] == [(3, "arrival"), (4, "steps")]
    assert "rows refused: 2" in found.trace.source


def test_other_formats_and_missing_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="format"):
        load_trace(tmp_path / "x", format="excel")
    with pytest.raises(DataError, match="cannot be read"):
        load_trace(tmp_path / "x", format="gavel")


def test_shockwave_finds_its_speeds_beside_the_trace(tmp_path: Path) -> None:
    path = tmp_path / "one.trace"
    path.write_text(_columns(12), encoding="utf-8")
    pair = str((KIND, 2))
    speeds = {
        f"{gpu}{suffix}": {pair: {"null": rate}}
        for gpu, rate in (("v100", 4.0), ("p100", 2.0), ("k80", 1.0))
        for suffix in ("", "_unconsolidated")
    }
    (tmp_path / "tacc_throughputs.json").write_text(json.dumps(speeds), encoding="utf-8")
    trace = load_trace(path, "shockwave")
    assert (trace.types, trace.speed.tolist()) == (("v100", "p100", "k80"), [[4.0, 2.0, 1.0]])
    assert trace.seconds("v100").tolist() == [70.0 / 4.0]


def test_shockwave_without_speeds_says_where_they_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WALRAS_DATA", str(tmp_path / "nothing"))
    path = tmp_path / "one.trace"
    path.write_text(_columns(12), encoding="utf-8")
    with pytest.raises(DataError, match=r"tacc_throughputs\.json"):
        load_trace(path, "shockwave")


@pytest.mark.real_data("shockwave")
@pytest.mark.parametrize(("jobs", "last"), [(120, 5011.0), (220, 5956.0), (460, 4749.0)])
def test_shockwaves_own_traces(jobs: int, last: float) -> None:
    """Their numbers of jobs and last arrivals, as counted in the published files."""
    folder = next(folder for folder in data.search_path() if (folder / "shockwave").is_dir())
    trace = load_trace(folder / "shockwave" / f"{jobs}_jobs.trace.gz", "shockwave")
    assert (len(trace), trace.arrival[-1]) == (jobs, last)
    assert trace.speed.min() > 0.0
