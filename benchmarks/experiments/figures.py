"""Figures of the studies, as PNG files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from walras.plot.style import DASHES, SERIES, blank, legend

MARKERS = "osD^v<>P"
_NAMES = {
    "normalised": "traffic served / optimum",
    "served": "share of traffic served",
    "speedup": "speed-up",
}


def lines(frame: pd.DataFrame, path: Path, *, label: str, value: str) -> None:
    """A line a method through its means at each point, and the range where there are several.

    Args:
        frame: Columns ``x``, ``method`` and the value's.
        path: The PNG file.
        label: Of the x axis.
        value: Column shown.
    """
    figure, (axes,) = blank(7.2, 3.6)
    for k, (method, own) in enumerate(frame.groupby("method", sort=False)):
        found = own.groupby("x")[value].agg(["mean", "min", "max"])
        draw(axes, k, str(method), list(found.index), list(found["mean"]))
        axes.fill_between(
            found.index, found["min"], found["max"], color=SERIES[k].stand_in, alpha=0.12, lw=0
        )
    finish(figure, axes, path, label, _NAMES[value])


def traces(frame: pd.DataFrame, path: Path, *, value: str = "normalised") -> None:
    """Value against time, a line a method; the time axis is logarithmic."""
    figure, (axes,) = blank(7.2, 3.6)
    for k, (method, own) in enumerate(frame.groupby("method", sort=False)):
        colour, dash = SERIES[k].stand_in, DASHES[k]
        steps = own.sort_values("seconds")
        axes.step(
            steps["seconds"],
            steps[value],
            where="post",
            color=colour,
            linestyle=dash,
            label=str(method),
        )
    axes.set_xscale("log")
    axes.set_ylim(top=1.02)
    finish(figure, axes, path, "seconds", _NAMES[value])


def draw(axes: Axes, k: int, name: str, x: Sequence[float], y: Sequence[float]) -> None:
    """The k-th line of a figure."""
    axes.plot(
        x,
        y,
        color=SERIES[k].stand_in,
        linestyle=DASHES[k],
        marker=MARKERS[k],
        markersize=4,
        label=name,
    )


def finish(figure: Figure, axes: Axes, path: Path, label: str, value: str) -> None:
    """Label the axes, add the legend and write the file."""
    axes.set_xlabel(label)
    axes.set_ylabel(value)
    legend(axes, outside=True)
    figure.savefig(path, dpi=130, facecolor="white")
