"""Slowdowns of pairs of jobs that share a GPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from walras.data import gavel_pairs, load
from walras.errors import DataError


def test_pairs_stand_in_is_labelled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WALRAS_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    drawn = gavel_pairs.load()
    assert drawn.source == "synthetic stand-in"
    assert np.all((drawn.median() > 0.5) & (drawn.median() < 1.0))
    with pytest.raises(DataError, match="was not found"):
        gavel_pairs.load(synthetic=False)


def test_the_stand_in_slows_both_jobs_alike() -> None:
    found, alone = gavel_pairs.speeds(synthetic=True), load("gavel", synthetic=True)
    relative = found.speed / np.where(alone.throughput > 0, alone.throughput, np.inf).T[:, None, :]
    assert relative == pytest.approx(relative.transpose(1, 0, 2))
    assert found.source == "synthetic stand-in"
    other = found.scale_factors[:, None] != found.scale_factors
    assert not found.speed[other].any()
    assert 0.25 <= relative[relative > 0].min() <= relative.max() <= 1.0


@pytest.mark.real_data("gavel")
def test_measured_speeds_of_pairs_are_the_file_s() -> None:
    """The 676 ordered pairs of one GPU, without the 40, 20 and 87 that do not fit."""
    found, alone = gavel_pairs.speeds(synthetic=False), load("gavel")
    one = found.scale_factors == 1
    speed = found.speed[np.ix_(one, one)]
    assert (speed > 0).sum(axis=(0, 1)).tolist() == [676 - 40, 676 - 20, 676 - 87]
    relative = (speed / alone.throughput.T[one][:, None, :])[:, :, 0]
    both = (relative + relative.T)[relative > 0]
    assert np.median(1 / both) == pytest.approx(0.73, abs=0.005)
