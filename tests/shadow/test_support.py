"""Logs that cannot support the claim are refused, with the reason."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import walras as wl

SLOTS = {"cluster-a": 4, "cluster-b": 4, "cluster-c": 4}


@cache
def _log(days: int = 12, jobs_a_day: int = 60) -> wl.shadow.JobLog:
    return wl.shadow.read_jobs(wl.shadow.synthetic_log(days, jobs_a_day, slots=4).frame)


def _only(log: wl.shadow.JobLog, which: Any) -> wl.shadow.JobLog:
    arrays = ("cluster", "submit", "start", "end", "slots", "good", "counts", "features")
    names = tuple(name for name, kept in zip(log.name, which, strict=True) if kept)
    return replace(log, name=names, **{name: getattr(log, name)[which] for name in arrays})


@pytest.mark.parametrize("days", [1, 3])
def test_too_few_days_are_refused(days: int) -> None:
    with pytest.raises(wl.DataError, match=f"has jobs on {days} day.*export a longer time"):
        wl.shadow.compare(_log(days=days))


def test_too_few_jobs_in_the_past_are_refused() -> None:
    with pytest.raises(wl.DataError, match=r"jobs that ended in its first 2 days.*at least 50"):
        wl.shadow.compare(_log(days=5, jobs_a_day=20))


def test_one_cluster_is_refused() -> None:
    frame = wl.shadow.synthetic_log(8, 20, clusters=1).frame
    with pytest.raises(wl.DataError, match="has one cluster, cluster-a"):
        wl.shadow.compare(wl.shadow.read_jobs(frame))


@pytest.mark.parametrize("jobs_a_day", [230, 160])
def test_a_saturated_log_is_refused(jobs_a_day: int) -> None:
    log = wl.shadow.read_jobs(wl.shadow.synthetic_log(16, jobs_a_day, slots=2).frame)
    with pytest.raises(wl.DataError, match="is saturated"):
        wl.shadow.compare(log)


def test_kinds_that_each_ran_on_one_cluster_have_no_overlap() -> None:
    log = _log()
    which = np.unique(np.array(log.name), return_inverse=True)[1] % 3 == log.cluster
    with pytest.raises(wl.DataError, match=r"too little overlap.*only_seen"):
        wl.shadow.compare(_only(log, which), slots=SLOTS)
    with pytest.raises(wl.DataError, match=r"leaves no choice: 0\.0%"):
        wl.shadow.compare(_only(log, which), slots=SLOTS, only_seen=True)


def test_a_past_without_a_completed_job_is_refused() -> None:
    log = _log()
    with pytest.raises(wl.DataError, match=r"has 0 completed jobs among the last \d+"):
        wl.shadow.compare(replace(log, good=np.zeros_like(log.good)), slots=SLOTS)
    frame = wl.shadow.synthetic_log(12, 60, slots=4).frame
    for outcome in ("failed", "cancelled"):
        with pytest.raises(wl.DataError, match="has 0 completed jobs"):
            wl.shadow.compare(wl.shadow.read_jobs(frame.assign(outcome=outcome)), slots=SLOTS)


def test_few_completed_jobs_are_enough_to_learn_from() -> None:
    log = _log()
    good = log.good.copy()
    kept = np.flatnonzero(good)[::14]
    good[:] = False
    good[kept] = True
    wl.shadow.compare(replace(log, good=good), slots=SLOTS, resamples=20)


def test_jobs_that_take_no_time_divide_by_nothing() -> None:
    frame = wl.shadow.synthetic_log(12, 60, slots=4).frame
    log = wl.shadow.read_jobs(frame.assign(end=frame["start"]))
    assert wl.shadow.compare(log, resamples=20).load < 1e-3, "a second each"
    at = frame.assign(submit=0.0, start=10.0, end=10.0)
    with pytest.raises(wl.DataError):
        wl.shadow.compare(wl.shadow.read_jobs(at))


def test_slots_that_are_something_else_are_refused() -> None:
    frame = wl.shadow.synthetic_log(12, 60, slots=4).frame
    slots = np.ones(len(frame), np.int64)
    slots[5] = 2_000_000_000
    with pytest.raises(wl.DataError, match=r"took 2000000000; allowed: .*1048576.*--slots-by"):
        wl.shadow.compare(wl.shadow.read_jobs(frame.assign(slots=slots)))
