"""Axes in plain text, and the same bytes for the same figure."""

from __future__ import annotations

import re

import numpy as np

from walras import plot
from walras.plot.style import blank, log_scale, to_svg


def ticks(low: float, high: float) -> list[str]:
    figure, (axes,) = blank()
    axes.plot([0, 1], [low, high])
    log_scale(axes, "y")
    figure.draw_without_rendering()
    return [label.get_text() for label in axes.get_yticklabels()]


def test_logarithmic_axes_are_labelled_in_plain_text() -> None:
    assert {"0.5", "1", "2", "5", "10", "20"} <= set(ticks(0.4, 30.0))
    assert {"10⁻⁵", "2·10⁻⁵", "5·10⁻⁵"} <= set(ticks(1e-5, 2e-4))
    wide = ticks(1e-9, 1e5)
    assert 4 <= len(wide) <= 11
    assert all(re.fullmatch("10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|0.01|0.1|10*", label) for label in wide)


def test_drawing_twice_gives_the_same_bytes() -> None:
    frame = plot.price_frame({"a": np.array([2.0, 1.0])}, ["p", "q"])
    assert to_svg(plot.prices(frame), "t") == to_svg(plot.prices(frame), "t")
