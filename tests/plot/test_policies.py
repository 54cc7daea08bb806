"""The figure of compared policies: bars for one trace, curves for several, and the bound."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from walras import InputError, plot


def _frame(traces: list[str], bound: bool = True) -> pd.DataFrame:
    rows = [
        (trace, policy, seed, measure, value + seed + k, "h")
        for k, trace in enumerate(traces)
        for policy, value in [("fifo", 4.0), ("las", 3.0), *([("no policy below", 2.0)] * bound)]
        for seed in (0, 1)
        for measure in ("mean completion", "makespan")
    ]
    return pd.DataFrame(rows, columns=["trace", "policy", "seed", "measure", "value", "unit"])


def test_one_trace_has_a_bar_a_policy_and_a_line() -> None:
    left, right = plot.policies_compared(_frame(["t"])).axes
    widths = [bar.get_width() for bar in left.patches]  # type: ignore[attr-defined]
    assert widths == [4.5, 3.5]
    assert [text.get_text() for text in left.get_yticklabels()] == ["fifo", "las"]
    line = next(one for one in left.lines if one.get_label() == "no policy below")
    assert set(np.asarray(line.get_xdata()).tolist()) == {2.5}
    assert right.get_xlabel() == "makespan, h"


def test_several_traces_are_curves() -> None:
    left, right = plot.policies_compared(_frame(["slow", "fast"])).axes
    assert [text.get_text() for text in left.get_xticklabels()] == ["slow", "fast"]
    curves = {tuple(np.asarray(one.get_ydata()).tolist()) for one in left.lines}
    assert {(4.5, 5.5), (3.5, 4.5), (2.5, 3.5)} <= curves
    legend = right.get_legend()
    assert legend is not None
    assert {text.get_text() for text in legend.get_texts()} == {"fifo", "las", "no policy below"}


def test_notes_stand_behind_names() -> None:
    notes = {"las": "9 % refused", "makespan": "1 of 2 seeds"}
    left, right = plot.policies_compared(_frame(["t"]), notes=notes).axes
    assert [text.get_text() for text in left.get_yticklabels()] == ["fifo", "las (9 % refused)"]
    assert [axes.get_xlabel() for axes in (left, right)] == [
        "mean completion, h",
        "makespan, h (1 of 2 seeds)",
    ]
    legend = plot.policies_compared(_frame(["a", "b"]), notes=notes).axes[1].get_legend()
    assert legend is not None
    assert "las (9 % refused)" in {text.get_text() for text in legend.get_texts()}


@pytest.mark.parametrize("count", [2, 20])
def test_marks_of_spread_stand_side_by_side(count: int) -> None:
    one = _frame(["slow", "fast"], bound=False).query("policy == 'fifo'")
    frame = pd.concat([one.assign(policy=f"p{k}") for k in range(count)])
    axes = plot.policies_compared(frame).axes[0]
    curves = [np.asarray(one.get_xdata()).tolist() for one in axes.lines]
    at = {xs[0] for xs in curves if len(xs) == 2}
    assert len(at) == count
    assert max(map(abs, at)) <= 0.15


def test_without_a_bound_there_is_no_legend_for_bars() -> None:
    left, _ = plot.policies_compared(_frame(["t"], bound=False)).axes
    assert left.get_legend() is None


def test_a_frame_without_a_column_is_refused() -> None:
    with pytest.raises(InputError):
        plot.policies_compared(_frame(["t"]).drop(columns="seed"))
