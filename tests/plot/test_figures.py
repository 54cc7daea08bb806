"""Figures draw what is in their tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.plot.histories import history

from walras import plot
from walras.errors import InputError


def test_distribution_curves_are_the_empirical_ones() -> None:
    frame = plot.throughput_frame({"one": np.array([3.0, 1.0]), "two": np.array([2.0, 2.0])})
    figure = plot.throughput_distribution(frame)
    (axes,) = figure.axes
    assert [line.get_label() for line in axes.lines] == ["one", "two"]
    assert axes.lines[0].get_xdata().tolist() == [1.0, 1.0, 3.0]  # type: ignore[union-attr]
    assert axes.lines[0].get_ydata().tolist() == [0.0, 0.5, 1.0]  # type: ignore[union-attr]
    assert axes.get_xscale() == "linear"
    wide = plot.throughput_frame({"one": np.array([0.01, 1.0])})
    figure = plot.throughput_distribution(wide)
    (axes,) = figure.axes
    assert axes.get_xscale() == "log"
    figure.draw_without_rendering()
    assert {"0.5", "1", "2"} <= {label.get_text() for label in axes.get_xticklabels()}


def test_map_sorts_jobs_by_their_main_type() -> None:
    x = np.array([[0.0, 0.9, 0.2, 0.0], [1.0, 0.0, 0.0, 0.3]])
    figure = plot.allocation_map(plot.allocation_frame(x, ["p", "q"], list("abcd")))
    image = figure.axes[0].images[0].get_array()
    assert image is not None
    assert image.tolist() == [[0.9, 0.2, 0.0, 0.0], [0.0, 0.0, 1.0, 0.3]]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["p", "q"]


def test_convergence_shows_gap_against_iterations_and_time() -> None:
    figure = plot.convergence(plot.history_frame({"a": history(4)}))
    left, right = figure.axes
    assert left.lines[0].get_xdata().tolist() == [0, 1, 2, 3]  # type: ignore[union-attr]
    assert right.lines[0].get_xdata() == pytest.approx([0, 0.1, 0.2, 0.3])
    assert left.get_yscale() == "log"
    assert left.lines[0].get_ydata() == pytest.approx([1, 0.1, 0.01, 0.001])
    plot.convergence(plot.history_frame({}))  # nothing to show is no error


def test_prices_are_bars_for_few_types_and_a_curve_for_many() -> None:
    few = plot.prices(plot.price_frame({"a": np.array([2.0, 1.0])}, ["p", "q"])).axes[0]
    assert [bar.get_height() for bar in few.patches] == [2.0, 1.0]  # type: ignore[attr-defined]
    many = np.arange(60.0)
    frame = plot.price_frame({"a": many}, [f"t{i}" for i in many])
    curve = plot.prices(frame).axes[0].lines[0]
    assert curve.get_ydata().tolist() == many[::-1].tolist()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "draw", [plot.allocation_map, plot.throughput_distribution, plot.convergence, plot.prices]
)
def test_a_missing_column_is_named(draw: object) -> None:
    with pytest.raises(InputError, match="has no column"):
        draw(pd.DataFrame({"x": [1]}))  # type: ignore[operator]
