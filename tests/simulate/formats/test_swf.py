"""The Standard Workload Format. The lines are written by hand after its definition."""

from __future__ import annotations

from pathlib import Path

import pytest

from walras import DataError
from walras.simulate import Imported, import_trace


def _line(job: int, submit: float, run: float, **more: float) -> str:
    """A line of 18 fields, of which all but the given ones are unknown."""
    given = {0: job, 1: submit, 3: run, 4: 4, 7: 8, 10: 1}
    places = {"allocated": 4, "requested": 7, "status": 10, "executable": 13, "queue": 14}
    given |= {places[name]: value for name, value in more.items()}
    return " ".join(f"{given.get(k, -1):g}" for k in range(18))


def _read(tmp_path: Path, *lines: str, **options: object) -> Imported:
    path = tmp_path / "log.swf"
    path.write_text("; Version: 2.2\n; MaxProcs: 128\n" + "\n".join(lines), encoding="utf-8")
    return import_trace(path, **options)  # type: ignore[arg-type]


def test_fields_are_taken_and_unknown_ones_have_defaults(tmp_path: Path) -> None:
    found = _read(
        tmp_path,
        _line(1, 0, 60, executable=7),
        _line(2, 30.5, 90, allocated=-1),
        _line(3, 40, 5, requested=-1) + " 99 extra",
    )
    trace = found.trace
    assert (trace.name, trace.kind) == (("1", "2", "3"), ("7", "job", "job"))
    assert (trace.size.tolist(), trace.steps.tolist()) == ([4, 8, 4], [60.0, 90.0, 5.0])
    assert (trace.arrival.tolist(), trace.types) == ([0.0, 30.5, 40.0], ("cpu",))
    assert found.capacity is not None
    assert dict(found.capacity.counts) == {"cpu": 128}
    assert found.row.tolist() == [3, 4, 5]  # after two comments


def test_lines_that_are_no_job_are_left_out_and_counted(tmp_path: Path) -> None:
    found = _read(
        tmp_path,
        _line(1, 0, 60),
        _line(1, 0, 20, status=2),
        _line(1, 20, 40, status=3),
        _line(2, 5, -1, status=5),
        _line(3, 6, 0),
    )
    assert found.trace.name == ("1",)
    assert dict(found.left_out) == {
        "part of a job that has its own line": 2,
        "cancelled before it ran": 1,
        "ran for 0 s": 1,
    }


def test_bad_lines_are_refused_with_field_and_reason(tmp_path: Path) -> None:
    found = _read(
        tmp_path,
        *(_line(k, k, 60) for k in range(1, 5)),
        _line(5, -1, 60),
        _line(6, 6, -1),
        "1 2 3",
        _line(8, 7, 60, allocated=0, requested=-1),
    )
    assert [(bad.row, bad.field) for bad in found.refused] == [
        (7, "arrival"),
        (8, "seconds"),
        (9, ""),
        (10, "size"),
    ]
    assert str(found.refused[0]) == "line 7: arrival is -1, not a number 0 or more"


def test_a_file_that_is_mostly_bad_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"line 4: has 3 fields.*2 of 3 rows"):
        _read(tmp_path, _line(1, 0, 60), "1 2 3", "4 5 6")


def test_a_queue_may_be_the_type_of_workers(tmp_path: Path) -> None:
    found = _read(
        tmp_path,
        _line(1, 0, 60, queue=1),
        _line(2, 0, 60, queue=2),
        _line(3, 0, 60),
        columns={"queue": "type"},
    )
    assert (found.trace.types, found.capacity) == (("1", "2"), None)
    assert found.trace.speed.tolist() == [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
