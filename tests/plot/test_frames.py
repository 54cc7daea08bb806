"""Tables of figures hold one observation a row."""

from __future__ import annotations

import numpy as np
from tests.plot.histories import history

from walras import plot
from walras.progress import History


def test_frames_are_tidy() -> None:
    x = np.array([[1.0, 0.0], [0.25, 0.5]])
    frame = plot.allocation_frame(x, ["p", "q"], ["a", "b"])
    assert frame.to_numpy().tolist() == [
        ["p", "a", 1.0],
        ["p", "b", 0.0],
        ["q", "a", 0.25],
        ["q", "b", 0.5],
    ]
    y = plot.throughput_frame({"one": np.array([1.0, 2.0]), "two": np.array([3.0, 4.0])})
    assert list(y.columns) == ["policy", "throughput"]
    assert y.groupby("policy")["throughput"].sum().to_dict() == {"one": 3.0, "two": 7.0}
    p = plot.price_frame({"one": np.array([1.0, 2.0])}, ["p", "q"])
    assert p["resource"].tolist() == ["p", "q"]


def test_history_frame_has_one_row_a_step() -> None:
    frame = plot.history_frame({"a": history(3), "none": History(), "b": history(2)})
    assert frame["policy"].tolist() == ["a"] * 3 + ["b"] * 2
    assert frame["gap"].tolist() == [1.0, 0.1, 0.01, 1.0, 0.1]
    assert plot.history_frame({}).empty
