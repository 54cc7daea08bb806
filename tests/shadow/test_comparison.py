"""The comparison: what it reports, when it refuses, that it stops, and that intervals hold."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks.shadow import Setting, coverage

import walras as wl
from walras.progress import Progress

SLOTS = {"cluster-a": 4, "cluster-b": 4, "cluster-c": 4}


@cache
def _log(days: int = 12, jobs_a_day: int = 60, **more: Any) -> wl.shadow.JobLog:
    return wl.shadow.read_jobs(wl.shadow.synthetic_log(days, jobs_a_day, slots=4, **more).frame)


@cache
def _found() -> wl.shadow.Shadow:
    return wl.shadow.compare(_log(), slots=SLOTS, resamples=100)


def test_the_result_has_all_measures_with_intervals_and_bounds() -> None:
    found = _found()
    frame = found.frame()
    assert tuple(frame["measure"]) == wl.shadow.MEASURES
    assert (frame["low"] < frame["difference"]).all()
    assert (frame["difference"] < frame["high"]).all()
    assert (frame["bound"] <= frame["log"] + 1e-9).all()
    assert (frame["bound"] <= frame["policy"] + 1e-9).all()
    assert found.shares.sum(axis=1) == pytest.approx([1.0, 1.0])
    assert repr(found).startswith("Shadow(feasible, ")
    assert "\n" not in repr(found)
    days = found.by_day()
    assert len(days) == 2 * len(found.jobs)
    mine = days[days["side"] == "log"]
    assert np.average(mine["waiting"], weights=mine["jobs"]) == pytest.approx(found.log[1])


def test_the_log_side_is_what_the_log_says() -> None:
    log, found = _log(), _found()
    cut = (log.submit.min() // 86400 + 6) * 86400
    mine = log.submit >= cut
    assert found.log[1] == pytest.approx((log.start - log.submit)[mine].mean())
    assert found.log[2] == pytest.approx((log.end - log.submit)[mine].mean())
    assert found.log[3] == pytest.approx(1.0 - log.good[mine].mean())
    assert found.log[4] == pytest.approx((log.slots * log.seconds)[mine].mean() / 3600.0)
    assert found.jobs.sum() == mine.sum()


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    again = wl.shadow.compare(_log(), slots=SLOTS, resamples=100)
    _found().save(tmp_path / "one.npz")
    again.save(tmp_path / "two.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    back = wl.load(tmp_path / "one.npz")
    assert repr(back) == repr(_found())
    pd.testing.assert_frame_equal(back.frame(), _found().frame())


def test_prices_weigh_the_cost_and_jobs_may_be_kept_where_their_kind_ran() -> None:
    found = wl.shadow.compare(
        _log(), slots=SLOTS, prices={"cluster-a": 2.0}, only_seen=True, resamples=20
    )
    assert found.log[4] > _found().log[4]
    assert found.moved_overlap > 0.9


def test_the_hook_counts_and_true_stops_with_the_days_so_far() -> None:
    seen: list[Progress] = []

    def hook(step: Progress) -> bool:
        seen.append(step)
        return step.share > 0.6

    found = wl.shadow.compare(_log(), slots=SLOTS, resamples=20, on_progress=hook)
    assert str(found.status) == "interrupted"
    assert 3 <= len(found.jobs) < 6
    assert [step.iteration for step in seen] == sorted(step.iteration for step in seen)
    with pytest.raises(wl.StoppedError, match="days"):
        wl.shadow.compare(_log(), slots=SLOTS, on_progress=lambda step: True)


# ---- refusals ---------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"slots": {"cluster-z": 4}}, "cluster-z"),
        ({"slots": {"cluster-a": 1}}, "took 2 slots there"),
        ({"slots": {"cluster-a": 2}}, "in use at once"),
        ({"prices": {"cluster-a": -1.0}}, r"prices\[cluster-a\]"),
        ({"train": 1.0}, "train"),
        ({"level": 0.0}, "level"),
        ({"least_overlap": 2.0}, "least_overlap"),
        ({"resamples": 1}, "resamples"),
        ({"round_seconds": 0.0}, "round_seconds"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_settings_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(wl.InputError, match=words):
        wl.shadow.compare(_log(), **given)


def test_what_is_no_log_is_refused() -> None:
    with pytest.raises(wl.InputError, match="read_jobs"):
        wl.shadow.compare("jobs.txt")  # type: ignore[arg-type]


# ---- coverage ---------------------------------------------------------------------------------


def test_intervals_hold_about_as_often_as_they_say() -> None:
    """Of 12 logs at a chance of 0.9, fewer than 8 hold with a chance of one in 200."""
    frame = coverage(range(12), Setting(days=16, jobs_a_day=40, slots=3, resamples=100))
    assert (frame["coverage"] >= 8 / 12).all(), frame.to_string()


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_intervals_hold_in_nine_of_ten_logs() -> None:
    """90 % +- 3 %, and two standard errors of the share itself."""
    frame = coverage(range(1000, 1400), Setting(), workers=2)
    allowed = 0.03 + 2.0 * np.sqrt(0.9 * 0.1 / 400)
    assert ((frame["coverage"] - 0.9).abs() <= allowed).all(), frame.to_string()
