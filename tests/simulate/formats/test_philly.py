"""Philly: the job that the authors' README shows, and jobs without ends by hand after its notes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from walras import DataError
from walras.simulate import import_trace


def _job(name: str, *spans: tuple[str | None, str | None], gpus: int = 8) -> dict[str, Any]:
    machine = {"ip": "m47", "gpus": [f"gpu{k}" for k in range(gpus)]}
    attempts = [{"start_time": a, "end_time": b, "detail": [machine]} for a, b in spans]
    return {
        "status": "Pass",
        "vc": "ee9e8c",
        "jobid": name,
        "attempts": attempts,
        "submitted_time": "2017-10-07 01:11:39",
        "user": "ce2f4c",
    }


README = _job(
    "application_1506638472019_14199",
    ("2017-10-07 01:12:09", "2017-10-07 01:13:23"),
    ("2017-10-07 01:13:30", "2017-10-09 06:53:12"),
)


def test_the_job_of_the_readme_works_in_both_attempts(tmp_path: Path) -> None:
    path = tmp_path / "cluster_job_log"
    later = _job("late", ("2017-10-07 02:00:00", "2017-10-07 02:00:30"), gpus=1)
    later["submitted_time"] = "2017-10-07 01:11:49"
    path.write_text(json.dumps([later, README]), encoding="utf-8")
    found = import_trace(path, "philly")
    trace = found.trace
    assert trace.name == ("application_1506638472019_14199", "late")
    assert trace.seconds().tolist() == [74.0 + 193182.0, 30.0]
    assert (trace.size.tolist(), trace.arrival.tolist()) == ([8, 1], [0.0, 10.0])
    assert (trace.kind[0], trace.types, found.row.tolist()) == ("ee9e8c", ("gpu",), [2, 1])
    assert found.notes == ("1 job stood after a later one; it is sorted by arrival",)


def test_jobs_without_attempts_or_ends_are_counted_and_broken_ones_named(tmp_path: Path) -> None:
    path = tmp_path / "cluster_job_log"
    span = ("2017-10-07 01:12:09", "2017-10-07 01:13:23")
    jobs: list[Any] = [
        _job("good", span),
        _job("well", (None, None), span),
        _job("none"),
        _job("on", span, (span[1], "None")),
        _job("zero", (span[0], span[0])),
        _job("bad", ("yesterday", span[1])),
        _job("cpu", span, gpus=0),
        _job("also good", span),
        7,
    ]
    path.write_text(json.dumps(jobs), encoding="utf-8")
    found = import_trace(path, "philly")
    assert found.trace.name == ("good", "well", "also good")
    assert dict(found.left_out) == {"never started": 1, "was still running": 1, "ran for 0 s": 1}
    assert [str(bad) for bad in found.refused] == [
        "job 6: attempts have times that cannot be read: Invalid isoformat string: 'yesterday'",
        "job 7: size is 0, not a whole number above 0",
        "job 9: is no object",
    ]


def test_what_is_no_list_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cluster_job_log"
    for content, said in (("{}", "it is no list"), ("[", "Expecting value")):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(DataError, match=said):
            import_trace(path, "philly")


def test_attempts_of_another_form_are_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "cluster_job_log"
    span = ("2017-10-07 01:12:09", "2017-10-07 01:13:23")
    jobs = [_job(f"good{k}", span) for k in range(5)]
    jobs.append(_job("object", span) | {"attempts": {"start_time": span[0]}})
    jobs.append(_job("text", span) | {"attempts": "abc"})
    jobs.append(_job("bare", span) | {"attempts": [{"start_time": span[0], "end_time": span[1]}]})
    jobs.append(_job("zones", ("2017-10-07T01:12:09+00:00", span[1])))
    path.write_text(json.dumps(jobs), encoding="utf-8")
    reasons = [refusal.reason for refusal in import_trace(path, "philly").refused]
    assert all(reason.startswith("are not a list of objects with") for reason in reasons[:3])
    assert reasons[3:] == [
        "have times that cannot be read: start_time or end_time lacks a time zone"
    ]
