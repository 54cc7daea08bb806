"""Which reader a log gets."""

from __future__ import annotations

from pathlib import Path

import pytest

import walras as wl

TABLE = "submit,start,end,cluster,outcome\n0,1,61,a,completed\n"
SLURM = "JobID|Partition|State|Submit|Start|End\n7|a|COMPLETED|0|1|61\n"
SACCT = '{"jobs": [{"job_id": 7, "partition": "a", "state": {"current": ["COMPLETED"]}, "time":'
SACCT += ' {"elapsed": 60, "submission": 100, "start": 101, "end": 161}}]}'


@pytest.mark.parametrize(
    ("name", "text"), [("jobs.csv", TABLE), ("jobs.txt", SLURM), ("jobs", TABLE), ("j.json", SACCT)]
)
def test_the_reader_follows_from_the_file(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    log = wl.shadow.read_jobs(tmp_path / name)
    assert log.seconds.tolist() == [60.0]
    assert log.clusters == ("a",)


def test_what_is_no_path_and_no_scheduler_is_refused(tmp_path: Path) -> None:
    with pytest.raises(wl.InputError, match="scheduler"):
        wl.shadow.read_jobs(tmp_path, "pbs")  # type: ignore[arg-type]
    with pytest.raises(wl.InputError, match="path"):
        wl.shadow.read_jobs(3)  # type: ignore[arg-type]
    with pytest.raises(wl.DataError, match="missing"):
        wl.shadow.read_jobs(tmp_path / "missing.csv")
