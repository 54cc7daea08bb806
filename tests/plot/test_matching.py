"""The figure of a plan, from its frame."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.patches import Rectangle
from tests.matching.rounds import one

import walras as wl
from walras.matching import Decay, match
from walras.plot.matching import matching, plan_frame


@pytest.mark.parametrize("speedup", [None, Decay()])
def test_the_bars_are_the_loads(speedup: Decay | None) -> None:
    plan = match(*one(1, 3, 9), 0.7, speedup, clusters=["a", "b", "c"])
    frame = plan_frame(plan)
    assert len(frame) == 9
    loads = frame.groupby("cluster")["end"].max()
    assert {name: loads.get(name, 0.0) for name in "abc"} == pytest.approx(
        dict(zip("abc", plan.loads, strict=True))
    )
    figure = matching(frame, bound=plan.bound)
    axes = figure.axes[0]
    bars = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert len(bars) == 9
    right = max(bar.get_x() + bar.get_width() for bar in bars)
    assert right == pytest.approx(plan.makespan)
    assert any("no plan ends sooner" in text.get_text() for text in axes.texts)


def test_a_frame_without_its_columns_is_refused() -> None:
    frame = plan_frame(match(*one(1, 3, 5), 0.7)).drop(columns="end")
    with pytest.raises(wl.InputError, match="end"):
        matching(frame)
    assert np.all(plan_frame(match(*one(1, 3, 5), 0.7))["begin"] >= 0)
