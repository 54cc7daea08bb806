"""The figure of shadow mode."""

from __future__ import annotations

import numpy as np
import pytest
from tests.shadow.test_result import made

import walras as wl
from walras import plot


def test_each_measure_has_a_panel_with_both_sides() -> None:
    figure = plot.days_compared(made().by_day(), ("waiting", "cost"))
    assert [axes.get_title() for axes in figure.axes] == ["waiting", "cost"]
    for axes in figure.axes:
        assert [line.get_label() for line in axes.get_lines()] == ["log", "policy"]
    drawn = np.asarray(figure.axes[0].get_lines()[1].get_ydata())
    assert drawn.tolist() == [18 / 3600, 9.5 / 3600, 5 / 3600]


def test_a_column_that_is_missing_is_refused() -> None:
    with pytest.raises(wl.InputError, match="speed"):
        plot.days_compared(made().by_day(), ("speed",))
