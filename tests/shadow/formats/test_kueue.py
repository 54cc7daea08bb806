"""Kueue's workloads and events: times, slots and outcomes of jobs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import walras as wl

DAY = "2026-03-02T"


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


_MANY = '{"kind":"Workload","metadata":{"name":"a"},"spec":{"podSets":[%s]}}'
_ASKS = '{"template":{"spec":{"containers":[{"resources":{"requests":{"cpu":"%s"}}}]}}}'


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        '{"items":' * 100_000,
        _MANY % ('{"count":1' + "0" * 400 + "}"),
        _MANY % (_ASKS % ("9" * 400)),
    ],
)
def test_endless_numbers_and_nesting_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "kueue.json"
    path.write_text(text)
    with pytest.raises(wl.DataError, match=r"cannot be read|has no usable|has no workload"):
        wl.shadow.read_jobs(path, "kueue")
