"""The figure of shadow mode: each day by the log and by the policy."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from walras.plot.figures import colour, need
from walras.plot.style import DASHES, blank, legend

_SIDES = ("log", "policy")


def days_compared(
    frame: pd.DataFrame, measures: Sequence[str] = ("turnaround", "waiting")
) -> Figure:
    """Measures of each day, by the log and by the policy, a panel each.

    Args:
        frame: A frame, one row for each day and side: ``day``, ``side`` (``log`` or ``policy``)
            and the measures, as :meth:`walras.shadow.Shadow.by_day` gives them.
        measures: Columns to draw.

    Returns:
        The figure.

    Raises:
        InputError: A column is missing.

    Example:
        >>> import pandas as pd
        >>> from walras import plot
        >>> frame = pd.DataFrame({"day": [1, 1], "side": ["log", "policy"], "waiting": [60.0, 9.0]})
        >>> len(plot.days_compared(frame, ["waiting"]).axes)
        1
    """
    need(frame, "day", "side", *measures)
    figure, panels = blank(7.6, 3.2, len(measures))
    for axes, name in zip(panels, measures, strict=True):
        for k, side in enumerate(_SIDES):
            mine = frame[frame["side"] == side]
            hours = mine[name] / 3600.0
            axes.plot(
                mine["day"], hours, color=colour(k), linestyle=DASHES[k], marker=".", label=side
            )
        axes.set_title(name)
        axes.set_xlabel("day")
        axes.set_ylabel("hours, mean a job")
        axes.set_ylim(bottom=0.0)
    legend(panels[0])
    return figure
