"""Rounds from real data, and from the stand-ins when there are none."""

from __future__ import annotations

import numpy as np
import pytest

from walras.domains import cluster_scheduling as cs
from walras.domains.cluster_scheduling import rounds
from walras.errors import InputError


def check(r: rounds.Round, m: int, n: int) -> None:
    assert r.throughput.shape == (m, n)
    assert r.size.shape == (n,)
    assert np.all(r.capacity > 0)
    cs.max_min(r.throughput, r.size, r.capacity)  # usable as it is


@pytest.mark.real_data("gavel", "gavel_traces")
def test_round_of_a_real_trace() -> None:
    r = rounds.gavel(120, seed=3)
    check(r, 3, 120)
    assert r.source == "measured"
    assert list(r.throughput.index) == ["v100", "p100", "k80"]
    assert 1.5 < r.load < 2.5
    assert (r.jobs["steps_left"] > 0).all()
    again = rounds.gavel(120, seed=3)
    assert again.title == r.title
    np.testing.assert_array_equal(again.throughput, r.throughput)


@pytest.mark.real_data("gavel", "gavel_traces")
def test_jobs_are_active_at_the_moment() -> None:
    r = rounds.gavel(60, seed=1)
    hour = float(r.title.rsplit(" ", 1)[1])
    assert (r.jobs["arrival_time"] <= (hour + 1) * 3600).all()


def test_stand_in_when_there_are_no_data(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("WALRAS_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    r = rounds.gavel(300)  # more than are ever active there at full speed
    check(r, 3, 300)
    assert r.source == "synthetic stand-in"
    assert "synthetic stand-in" in rounds.dede_like(20, 50).source


def test_more_jobs_than_any_trace_has() -> None:
    with pytest.raises(InputError, match="half of the longest trace"):
        rounds.gavel(10**6)
    with pytest.raises(InputError, match="jobs"):
        rounds.gavel(1)


@pytest.mark.real_data("dede_cluster")
def test_round_like_dedes_has_its_statistics() -> None:
    r = rounds.dede_like(100, 1500, seed=1)
    check(r, 100, 1500)
    assert r.load == pytest.approx(8)
    runs = r.throughput.to_numpy() > 0
    assert np.mean(~runs.all(axis=0)) == pytest.approx(0.348, abs=0.04)
    assert runs[:, ~runs.all(axis=0)].mean() == pytest.approx(0.5, abs=0.02)
    # log T - type - job - 0.626 log2(size) is noise of s.d. 0.163.
    full = np.log(r.throughput.to_numpy()[:, runs.all(axis=0)])
    noise = full - full.mean(0) - full.mean(1, keepdims=True) + full.mean()
    assert noise.std() == pytest.approx(0.163, rel=0.05)
