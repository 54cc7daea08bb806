"""A comparison as an object: one line, frames, a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import walras as wl


def made(**changed: Any) -> wl.shadow.Shadow:
    """A comparison of three days."""
    given: dict[str, Any] = {
        "log": np.array([9.0, 8.0, 7.0, 0.5, 2.0]),
        "policy": np.array([8.0, 9.0, 7.0, 0.25, 1.0]),
        "low": np.array([-2.0, 0.5, -1.0, -0.5, -2.0]),
        "high": np.array([-0.5, 2.0, 1.0, 0.1, -0.5]),
        "bound": np.array([5.0, 0.0, 7.5, 0.1, 0.5]),
        "daily": np.arange(30.0).reshape(2, 5, 3),
        "jobs": np.array([1, 2, 4]),
        "level": 0.9,
        "clusters": ("a", "b"),
        "slots": np.array([2, 3]),
        "shares": np.array([[0.5, 0.5], [0.25, 0.75]]),
        "load": 0.4,
        "moved": 0.25,
        "overlap": 0.9,
        "moved_overlap": 0.8,
        "learned_from": 99,
        "left_out": 1,
        "round_seconds": 60.0,
        "rounds": 50,
        "origin": "jobs.csv",
    }
    return wl.shadow.Shadow(**given | changed)


def test_the_frames_have_the_numbers() -> None:
    frame = made().frame().set_index("measure")
    assert frame.loc["makespan", "difference"] == -1.0
    assert frame["most_saved"].tolist() == [4.0, 8.0, 0.0, 0.4, 1.5]
    days = made().by_day()
    policy = days[days["side"] == "policy"]
    assert policy["makespan"].tolist() == [15.0, 16.0, 17.0]
    assert policy["waiting"].tolist() == [18.0, 9.5, 5.0]


def test_it_has_one_line_and_is_read_back(tmp_path: Path) -> None:
    found = made()
    assert repr(found) == "Shadow(feasible, 7 jobs on 3 days, turnaround +0 s [-1, 1])"
    assert found.value == 7.0
    found.save(tmp_path / "shadow.npz")
    again = wl.load(tmp_path / "shadow.npz")
    pd.testing.assert_frame_equal(again.by_day(), found.by_day())
    assert again.status is found.status
    with pytest.raises(wl.DataError, match="cannot be written"):
        found.save(tmp_path / "missing" / "shadow.npz")
