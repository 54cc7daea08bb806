"""The comparison: what it reports, that it stops, and which settings it refuses."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

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
    assert np.isfinite(found.low).all()
    assert [step.iteration for step in seen] == sorted(step.iteration for step in seen)
    with pytest.raises(wl.StoppedError, match="days"):
        wl.shadow.compare(_log(), slots=SLOTS, on_progress=lambda step: True)


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
