"""Slurm's accounting: what is read of a job, what is left out, and why."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import walras as wl

HEADER = "JobID|JobName|User|Partition|State|Submit|Start|End|Elapsed|Timelimit|AllocCPUS"
DAY = "2026-03-02T"


def _row(**changed: str) -> str:
    made = {
        "JobID": "7",
        "JobName": "train-12",
        "User": "ann",
        "Partition": "gpu",
        "State": "COMPLETED",
        "Submit": f"{DAY}09:00:00",
        "Start": f"{DAY}09:01:00",
        "End": f"{DAY}10:01:00",
        "Elapsed": "01:00:00",
        "Timelimit": "02:00:00",
        "AllocCPUS": "4",
    }
    return "|".join((made | changed).values())


def _slurm(path: Path, *rows: str, header: str = HEADER) -> wl.shadow.JobLog:
    path.write_text("\n".join((header, *rows)) + "\n")
    return wl.shadow.read_jobs(path, "slurm")


def test_a_job_of_slurm_has_its_times_slots_kind_and_limit(tmp_path: Path) -> None:
    log = _slurm(tmp_path / "jobs.txt", _row(), _row(JobID="8", JobName="train-13"), _row())
    assert log.name[0] == "ann:train-#"
    assert log.clusters == ("gpu",)
    assert log.seconds.tolist() == [3600.0] * 3
    assert (log.start - log.submit).tolist() == [60.0] * 3
    assert log.slots.tolist() == [4, 4, 4]
    assert log.feature_names == ("log_limit",)
    assert log.features[0, 0] == pytest.approx(np.log(7200.0))
    assert log.days == 1


@pytest.mark.parametrize(
    ("elapsed", "seconds"), [("1-02:00:03", 93603.0), ("02:03.500", 123.5), ("75", 75.0)]
)
def test_an_end_that_is_missing_follows_from_the_elapsed_time(
    elapsed: str, seconds: float, tmp_path: Path
) -> None:
    log = _slurm(tmp_path / "jobs.txt", _row(End="Unknown", Elapsed=elapsed))
    assert log.seconds.tolist() == [seconds]


def test_waiting_begins_when_a_job_is_eligible(tmp_path: Path) -> None:
    header = HEADER.replace("Submit", "Submit|Eligible")
    row = _row(Submit=f"{DAY}08:00:00|{DAY}09:00:30")
    log = _slurm(tmp_path / "jobs.txt", row, header=header)
    assert (log.start - log.submit).tolist() == [30.0]


def test_steps_unfinished_and_never_started_jobs_are_counted(tmp_path: Path) -> None:
    log = _slurm(
        tmp_path / "jobs.txt",
        _row(),
        _row(JobID="7.batch"),
        _row(JobID="9", State="RUNNING", End="Unknown"),
        _row(JobID="10", State="CANCELLED by 1000", Start="Unknown", Elapsed="00:00:00"),
        _row(JobID="11", State="CANCELLED+"),
    )
    assert (len(log), log.steps, log.unfinished, log.never_started) == (2, 1, 1, 1)
    assert log.counts.tolist() == [True, False]
    assert not log.problems


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"State": "DREAMING"}, "unknown state 'dreaming'"),
        ({"Start": f"{DAY}08:00:00"}, "it started before it was submitted"),
        ({"End": f"{DAY}09:00:30"}, "it ended before it started"),
        ({"Submit": "soon"}, "a time is missing or no time"),
        ({"AllocCPUS": "1.5"}, "slots are no whole number"),
        ({"Partition": ""}, "cluster is empty"),
    ],
)
def test_a_row_that_cannot_be_used_is_left_out_with_its_reason(
    changed: dict[str, str], words: str, tmp_path: Path
) -> None:
    log = _slurm(tmp_path / "jobs.txt", _row(), _row(**changed))
    assert len(log) == 1
    assert words in str(log.problems[0])
    assert log.problems[0].rows == (2,)
    assert log.left_out == 1


def test_a_line_with_more_fields_is_left_out(tmp_path: Path) -> None:
    log = _slurm(tmp_path / "jobs.txt", _row(), _row(JobName="a|b"))
    assert "more or fewer fields" in str(log.problems[0])


def test_unsorted_rows_are_put_in_order(tmp_path: Path) -> None:
    log = _slurm(tmp_path / "jobs.txt", _row(Submit=f"{DAY}09:00:59"), _row())
    assert (np.diff(log.submit) > 0).all()


@pytest.mark.parametrize("field", ["Partition", "State", "Submit", "Start"])
def test_a_field_that_is_missing_is_named_with_the_command(field: str, tmp_path: Path) -> None:
    header = HEADER.replace(f"|{field}", "|Other", 1)
    with pytest.raises(wl.DataError, match=f"there is no field '{field}'.*sacct -a -X"):
        _slurm(tmp_path / "jobs.txt", _row(), header=header)


def test_slots_may_be_another_field(tmp_path: Path) -> None:
    path = tmp_path / "jobs.txt"
    path.write_text(f"{HEADER}|NNodes\n{_row()}|2\n")
    assert wl.shadow.read_jobs(path, slots="NNodes").slots.tolist() == [2]
    with pytest.raises(wl.DataError, match="there is no field 'GPUs'"):
        wl.shadow.read_jobs(path, slots="GPUs")


def test_json_of_sacct_may_have_lists_of_states_and_numbers_that_say_whether_they_are_set(
    tmp_path: Path,
) -> None:
    job = {
        "job_id": 7,
        "name": "train",
        "user": "ann",
        "partition": "gpu",
        "state": {"current": ["FAILED"]},
        "time": {"elapsed": 60, "submission": 100, "start": 110, "end": 170},
        "required": {"CPUs": {"set": True, "number": 8}},
    }
    path = tmp_path / "jobs.json"
    path.write_text(json.dumps({"jobs": [job, job | {"state": {"current": "COMPLETED"}}]}))
    log = wl.shadow.read_jobs(path)
    assert log.good.tolist() == [False, True]
    assert log.slots.tolist() == [8, 8]
    assert log.start.tolist() == [110.0, 110.0]
