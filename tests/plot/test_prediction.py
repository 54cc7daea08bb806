"""Figures of predictions: what they draw, and frames they refuse."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from walras import plot, predict
from walras.errors import InputError


def test_predictions_are_drawn_with_their_intervals() -> None:
    measured = np.array([1.0, 2.0, 4.0])
    frame = pd.DataFrame(
        {
            "cluster": ["a", "b", "a"],
            "predicted": measured * 1.1,
            "low": measured,
            "high": measured * 1.2,
            "measured": measured,
        }
    )
    figure = plot.predicted_against_measured(frame)
    (axes,) = figure.axes
    assert axes.get_xscale() == axes.get_yscale() == "log"
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b"]
    endless = frame.assign(low=[0.0, 2.0, 4.0], high=[np.inf, 2.4, 4.8])
    plot.predicted_against_measured(endless).canvas.draw()
    with pytest.raises(InputError, match="no column 'low'"):
        plot.predicted_against_measured(frame.drop(columns="low"))


def test_a_reliability_diagram_has_a_line_for_each_predictor() -> None:
    rng = np.random.default_rng(0)
    chance = rng.random(500)
    drawn = (rng.random(500) < chance).astype(float)
    tables = [predict.reliability_table(chance, drawn, 5).assign(name=name) for name in "ab"]
    (axes,) = plot.reliability_diagram(pd.concat(tables)).axes
    lines = [line for line in axes.lines if len(np.asarray(line.get_xdata())) == 5]
    assert len(lines) == 2
    np.testing.assert_allclose(
        np.asarray(lines[0].get_xdata(), dtype=float), tables[0]["predicted"]
    )
    with pytest.raises(InputError, match="no column 'name'"):
        plot.reliability_diagram(tables[0].drop(columns="name"))
