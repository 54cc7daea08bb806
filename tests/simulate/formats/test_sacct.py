"""Slurm's accounting, by hand after the manual of sacct."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from walras import DataError
from walras.simulate import import_trace
from walras.simulate.formats.sacct import COMMAND

HEADER = COMMAND.rpartition(" ")[2].replace(",", "|")
DAY = "2026-03-02T"


def _row(job: str, state: str, submit: str, start: str, elapsed: str, cpus: str = "4") -> str:
    return f"{job}|train|gpu|{state}|{DAY}{submit}|{start}||{elapsed}|{cpus}"


def _write(tmp_path: Path, *rows: str) -> Path:
    path = tmp_path / "jobs.txt"
    path.write_text("\n".join((HEADER, *rows)) + "\n", encoding="utf-8")
    return path


def test_jobs_that_ran_are_taken_whatever_their_end(tmp_path: Path) -> None:
    path = _write(
        tmp_path,
        _row("7", "COMPLETED", "09:10:00", f"{DAY}09:20:00", "01:00:00"),
        _row("8", "CANCELLED by 1000", "09:00:00", f"{DAY}09:00:00", "00:02:00", "16"),
        _row("8.batch", "CANCELLED", "09:00:00", f"{DAY}09:00:00", "00:02:00"),
        _row("9", "CANCELLED", "09:30:00", "None", "00:00:00", "0"),
        _row("10", "RUNNING", "09:30:00", f"{DAY}09:31:00", "00:05:00"),
    )
    found = import_trace(path, "sacct")
    trace = found.trace
    assert (trace.name, trace.kind) == (("8", "7"), ("train", "train"))
    assert (trace.arrival.tolist(), trace.seconds().tolist()) == ([0.0, 600.0], [120.0, 3600.0])
    assert (trace.size.tolist(), trace.types) == ([16, 4], ("cpu",))
    assert dict(found.left_out) == {"step of a job": 1, "has not ended": 1, "never ran": 1}


def test_partitions_are_types_where_they_are_mapped(tmp_path: Path) -> None:
    path = _write(tmp_path, _row("7", "FAILED", "09:10:00", f"{DAY}09:20:00", "01:00:00"))
    trace = import_trace(path, "sacct", columns={"Partition": "type"}).trace
    assert (trace.types, trace.speed.tolist()) == (("gpu",), [[1.0]])


def test_bad_rows_are_named(tmp_path: Path) -> None:
    good = [_row(str(k), "COMPLETED", "09:10:00", "", "60") for k in range(4)]
    bad = _row("8", "COMPLETED", "soon", "", "60"), _row("9", "COMPLETED", "09:10:00", "", "x"), "1"
    found = import_trace(_write(tmp_path, *good, *bad), "sacct")
    assert [(one.row, one.field) for one in found.refused] == [
        (5, "arrival"),
        (6, "seconds"),
        (7, ""),
    ]
    assert str(found.refused[2]) == "row 7: does not fit the header"


def test_json_counts_from_the_first_job(tmp_path: Path) -> None:
    path = tmp_path / "jobs.json"
    job = {
        "job_id": 7,
        "name": "train",
        "partition": "gpu",
        "state": {"current": ["COMPLETED"]},
        "time": {"elapsed": 90, "submission": 1772442000, "start": 1772442600, "end": 1772442690},
        "required": {"CPUs": 8},
    }
    path.write_text(json.dumps({"jobs": [job]}), encoding="utf-8")
    trace = import_trace(path, "sacct").trace
    assert (trace.arrival.tolist(), trace.steps.tolist(), trace.size.tolist()) == (
        [0.0],
        [90.0],
        [8],
    )


def test_a_file_without_times_says_how_to_make_one(tmp_path: Path) -> None:
    path = tmp_path / "jobs.txt"
    path.write_text("JobID|State|Submit\n7|COMPLETED|2026-03-02T09:00:00\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"no field ElapsedRaw or Elapsed or End.*sacct -a"):
        import_trace(path, "sacct")
