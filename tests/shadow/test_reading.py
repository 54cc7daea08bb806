"""Logs of Slurm, Kueue and tables: what is read, what is left out, and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import walras as wl
from walras.shadow.jobs import kinds, peak

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


# ---- Kueue ------------------------------------------------------------------------------------


def _workload(name: str = "job-train-1a2b3", **status: Any) -> dict[str, Any]:
    pod = {"containers": [{"resources": {"requests": {"cpu": "500m", "nvidia.com/gpu": "2"}}}]}
    conditions = [
        {"type": "Admitted", "status": "True", "lastTransitionTime": f"{DAY}09:01:00Z"},
        {
            "type": "Finished",
            "status": "True",
            "lastTransitionTime": f"{DAY}10:01:00Z",
            "reason": "Succeeded",
        },
    ]
    return {
        "kind": "Workload",
        "metadata": {
            "name": name,
            "namespace": "lab",
            "creationTimestamp": f"{DAY}09:00:00Z",
        },
        "spec": {"podSets": [{"count": 2, "template": {"spec": pod}}]},
        "status": {"clusterName": "east", "conditions": conditions} | status,
    }


def test_a_workload_has_its_times_slots_and_cluster(tmp_path: Path) -> None:
    path = tmp_path / "kueue.json"
    path.write_text(json.dumps({"items": [_workload()] * 1 + [_workload("job-train-9f8e7")]}))
    log = wl.shadow.read_jobs(path, "kueue")
    assert log.clusters == ("east",)
    assert log.slots.tolist() == [4, 4]  # two pods of two GPUs
    assert (log.start - log.submit).tolist() == [60.0, 60.0]
    assert log.seconds.tolist() == [3600.0, 3600.0]
    assert log.good.all()


def test_the_last_line_of_a_workload_counts_and_a_watch_is_unpacked(tmp_path: Path) -> None:
    early = _workload(conditions=[])
    lines = [{"type": "ADDED", "object": early}, {"type": "MODIFIED", "object": _workload()}]
    path = tmp_path / "kueue.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n{cut short\n")
    log = wl.shadow.read_jobs(path)
    assert len(log) == 1
    assert log.problems[0].rows == (3,)


def test_events_add_what_a_workload_lacks(tmp_path: Path) -> None:
    about = {"kind": "Workload", "namespace": "lab", "name": "job-train-1a2b3"}
    admitted = {
        "kind": "Event",
        "reason": "Admitted",
        "message": "Admitted by ClusterQueue west, wait time since reservation was 0s",
        "involvedObject": about,
        "lastTimestamp": f"{DAY}09:02:00Z",
    }
    ended = admitted | {
        "reason": "FinishedWorkload",
        "message": "Job failed",
        "lastTimestamp": f"{DAY}09:12:00Z",
    }
    path = tmp_path / "kueue.jsonl"
    bare = _workload(conditions=[], clusterName=None)
    path.write_text("\n".join(map(json.dumps, (bare, admitted, ended))))
    log = wl.shadow.read_jobs(path, "kueue")
    assert log.clusters == ("west",)
    assert log.seconds.tolist() == [600.0]
    assert not log.good.any()


def test_a_workload_that_has_not_ended_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "kueue.json"
    path.write_text(json.dumps([_workload(), _workload("job-b-11111", conditions=[])]))
    assert wl.shadow.read_jobs(path).unfinished == 1


@pytest.mark.parametrize("text", ["[]", "{}", "null", "not json"])
def test_a_file_without_workloads_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "kueue.json"
    path.write_text(text)
    with pytest.raises(wl.DataError, match="kubectl get workloads"):
        wl.shadow.read_jobs(path, "kueue")


# ---- tables -----------------------------------------------------------------------------------

TABLE = "submit,start,end,cluster,outcome,name,slots,layers\n0,1,61,a,completed,x,2,3\n"


def test_further_columns_of_numbers_are_features(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(TABLE + "2026-03-02T09:00:00Z,1772442001,1772442061,b,failed,x,1,\n")
    log = wl.shadow.read_jobs(path)
    assert log.feature_names == ("layers",)
    assert np.isnan(log.features[1, 0])
    assert log.submit[1] == 1772442000.0


@pytest.mark.parametrize("name", ["submit", "start", "end", "cluster", "outcome"])
def test_a_column_that_is_missing_is_named(name: str, tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(TABLE.replace(name, "other", 1))
    with pytest.raises(wl.DataError, match=f"has no column '{name}'"):
        wl.shadow.read_jobs(path)


@pytest.mark.parametrize("text", ["", TABLE.splitlines()[0], '"'])
def test_an_empty_log_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(text)
    with pytest.raises(wl.DataError, match=r"jobs\.csv"):
        wl.shadow.read_jobs(path)


def test_what_is_no_path_and_no_scheduler_is_refused(tmp_path: Path) -> None:
    with pytest.raises(wl.InputError, match="scheduler"):
        wl.shadow.read_jobs(tmp_path, "pbs")  # type: ignore[arg-type]
    with pytest.raises(wl.InputError, match="path"):
        wl.shadow.read_jobs(3)  # type: ignore[arg-type]
    with pytest.raises(wl.DataError, match="missing"):
        wl.shadow.read_jobs(tmp_path / "missing.csv")


def test_kinds_are_sizes_where_names_do_not_recur() -> None:
    table = pd.DataFrame({"name": ["alpha", "beta", "gamma"], "user": ["ann", "ann", "bob"]})
    found = kinds(table, np.array([1, 1, 9]))
    assert found == ("ann1 slots", "ann1 slots", "bob8 slots")


def test_a_job_that_ends_makes_room_for_one_that_starts() -> None:
    start, end = np.array([0.0, 10.0, 5.0]), np.array([10.0, 20.0, 6.0])
    assert peak(start, end, np.array([2, 2, 1])) == 3
    assert peak(np.zeros(0), np.zeros(0), np.zeros(0, np.int64)) == 0
