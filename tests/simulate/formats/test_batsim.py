"""Batsim's workloads, written by hand after its documentation; the delay of 20.25 s is its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from walras import DataError
from walras.simulate import Imported, import_trace

PROFILES = {
    "wait": {"type": "DelayProfile", "delay": 20.25},
    "old": {"type": "delay", "delay": 100},
    "flops": {"type": "ParallelTaskHomogeneousProfile", "cpu": 10e6, "com": 1e6},
    "empty": {"type": "delay"},
}


def _read(tmp_path: Path, *jobs: Any, **more: Any) -> Imported:
    path = tmp_path / "workload.json"
    content = {"nb_res": 16, "jobs": list(jobs), "profiles": PROFILES} | more
    path.write_text(json.dumps(content), encoding="utf-8")
    return import_trace(path, "batsim")


def _job(name: Any, profile: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "subtime": 5.5, "res": 2, "profile": profile} | more


def test_delays_of_both_versions_are_read_up_to_the_walltime(tmp_path: Path) -> None:
    found = _read(
        tmp_path,
        _job("a", "wait"),
        _job(2, "old", walltime=60),
        _job("c", "old", walltime=-1),
        _job("d", "old", subtime=0, res=16, walltime=300),
    )
    trace = found.trace
    assert (trace.name, trace.kind) == (("d", "a", "2", "c"), ("old", "wait", "old", "old"))
    assert trace.seconds().tolist() == [100.0, 20.25, 60.0, 100.0]
    assert (trace.size.tolist(), trace.arrival.tolist()) == ([16, 2, 2, 2], [0.0, 5.5, 5.5, 5.5])
    assert found.capacity is not None
    assert dict(found.capacity.counts) == {"host": 16}


def test_a_delay_beyond_every_number_is_refused(tmp_path: Path) -> None:
    endless = PROFILES | {"endless": {"type": "delay", "delay": 10**400}}
    found = _read(tmp_path, _job("a", "wait"), _job("b", "endless"), profiles=endless)
    assert str(found.refused[0]).startswith("job 2: seconds is inf, not a number above 0, at most")


def test_other_profiles_and_unknown_ones_are_refused(tmp_path: Path) -> None:
    good = [_job(f"g{k}", "wait") for k in range(5)]
    bad = [_job("x", "flops"), _job("y", "nowhere"), _job("z", "empty"), 7]
    found = _read(tmp_path, *good, *bad)
    assert [str(one) for one in found.refused] == [
        "job 6: profile 'flops' is of type 'ParallelTaskHomogeneousProfile', not delay or "
        "DelayProfile",
        "job 7: profile 'nowhere' is none of the workload's",
        "job 8: profile 'empty' has no delay in seconds",
        "job 9: is no object",
    ]


def test_what_is_no_workload_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no profiles"):
        _read(tmp_path, profiles=[])
    with pytest.raises(DataError, match="it is no list"):
        _read(tmp_path, jobs={})
