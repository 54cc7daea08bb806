"""Figures of predictions: against what was measured, and of what probabilities mean."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from walras.plot.figures import colour, need
from walras.plot.style import FAINT, blank, legend, log_scale

_MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")


def predicted_against_measured(frame: pd.DataFrame, unit: str = "s") -> Figure:
    """Predicted times with their intervals against measured ones, one mark a task and cluster.

    Args:
        frame: A frame with columns ``cluster``, ``predicted``, ``low``, ``high``, ``measured``.
        unit: Unit of the times.

    Returns:
        The figure.

    Raises:
        InputError: A column is missing.

    Example:
        >>> import pandas as pd
        >>> from walras import plot
        >>> frame = pd.DataFrame({"cluster": ["a100"], "predicted": [2.0], "low": [1.0],
        ...                       "high": [3.0], "measured": [2.5]})
        >>> len(plot.predicted_against_measured(frame).axes) >= 1
        True
    """
    need(frame, "cluster", "predicted", "low", "high", "measured")
    figure, (axes,) = blank(7.6, 4.2)
    ends = np.array([frame["measured"].min(), frame["measured"].max()])
    axes.plot(ends, ends, color=FAINT.stand_in, linewidth=1.0, linestyle="--")
    for k, (name, group) in enumerate(frame.groupby("cluster", sort=False)):
        predicted = group["predicted"].to_numpy()
        # An interval without ends, of too few measurements, is drawn beyond all that is measured.
        low = group["low"].mask(group["low"] == 0, ends[0] / 10.0)
        high = group["high"].mask(np.isinf(group["high"]), ends[1] * 10.0)
        reach = np.maximum(np.array([predicted - low, high - predicted]), 0.0)
        axes.errorbar(
            group["measured"],
            predicted,
            yerr=reach,
            fmt=_MARKS[k % len(_MARKS)],
            markersize=3.5,
            color=colour(k),
            ecolor=colour(k),
            elinewidth=0.7,
            alpha=0.75,
            label=str(name),
        )
    log_scale(axes, "x")
    log_scale(axes, "y")
    axes.set_xlabel(f"measured time ({unit})")
    axes.set_ylabel(f"predicted time ({unit})")
    legend(axes, outside=True)
    return figure


def reliability_diagram(frame: pd.DataFrame) -> Figure:
    """Predicted probability against observed frequency; on the diagonal they agree.

    Args:
        frame: A frame with columns ``name``, ``predicted``, ``observed``, ``error``: one row a bin,
            as of :func:`walras.predict.reliability_table`, under the name of what predicts.

    Returns:
        The figure.

    Raises:
        InputError: A column is missing.

    Example:
        >>> import pandas as pd
        >>> from walras import plot
        >>> frame = pd.DataFrame({"name": ["linear"], "predicted": [0.8], "observed": [0.7],
        ...                       "error": [0.1]})
        >>> len(plot.reliability_diagram(frame).axes) >= 1
        True
    """
    need(frame, "name", "predicted", "observed", "error")
    figure, (axes,) = blank(7.6, 3.8)
    ends = [
        float(frame[["predicted", "observed"]].to_numpy().min()),
        float(frame[["predicted", "observed"]].to_numpy().max()),
    ]
    axes.plot(ends, ends, color=FAINT.stand_in, linewidth=1.0, linestyle="--")
    for k, (name, group) in enumerate(frame.groupby("name", sort=False)):
        axes.errorbar(
            group["predicted"],
            group["observed"],
            yerr=group["error"],
            color=colour(k),
            marker=_MARKS[k % len(_MARKS)],
            markersize=4,
            linewidth=1.2,
            elinewidth=0.8,
            label=str(name),
        )
    axes.set_xlabel("predicted chance of success")
    axes.set_ylabel("share that succeeded")
    legend(axes, outside=True)
    return figure
