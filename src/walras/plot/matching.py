"""The figure of a matching: what each cluster runs, and when the slowest ends."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from walras.matching import Plan
from walras.plot.figures import colour, need
from walras.plot.style import TEXT, blank

_NAMED = 0.06  # of the makespan; shorter tasks carry no name
_LETTER = 0.012  # of the makespan, that a letter takes
_MANY = 40  # clusters up to which each has its label


def plan_frame(plan: Plan) -> pd.DataFrame:
    """Columns ``cluster``, ``task``, ``begin``, ``end``, ``success``; one row a task.

    Tasks of a cluster stand one after the other, the longest first; where they run together each
    stands for its share of the cluster's time.

    Args:
        plan: The plan.

    Returns:
        The frame.

    Example:
        >>> from walras import plot
        >>> from walras.matching import match
        >>> plan = match([[3, 2, 4], [2, 3, 3]], [[0.9] * 3, [0.8] * 3])
        >>> list(plot.plan_frame(plan).columns)
        ['cluster', 'task', 'begin', 'end', 'success']
    """
    r, x = plan.round, plan.assignment
    own = r.times[x, np.arange(len(x))]
    count = np.bincount(x, minlength=r.shape[0])
    own = own * r.zeta[x, count[x]]
    order = np.lexsort((-own, x))
    end = np.empty(len(x))
    for i in range(r.shape[0]):
        there = order[x[order] == i]
        end[there] = np.cumsum(own[there])
    return pd.DataFrame(
        {
            "cluster": [r.cluster_name(int(x[j])) for j in order],
            "task": [r.task_name(int(j)) for j in order],
            "begin": (end - own)[order],
            "end": end[order],
            "success": r.success[x, np.arange(len(x))][order],
        }
    )


def matching(frame: pd.DataFrame, unit: str = "seconds", bound: float | None = None) -> Figure:
    """Every cluster's tasks as bars on a time axis, fainter the less likely they succeed.

    Args:
        frame: From :func:`plan_frame`, or any with its columns.
        unit: Unit of the times.
        bound: The least makespan there can be, drawn as a line.

    Returns:
        The figure.

    Raises:
        InputError: A column is missing.

    Example:
        >>> from walras import plot
        >>> from walras.matching import match
        >>> plan = match([[3, 2, 4], [2, 3, 3]], [[0.9] * 3, [0.8] * 3])
        >>> len(plot.matching(plot.plan_frame(plan), unit="hours").axes) >= 1
        True
    """
    need(frame, "cluster", "task", "begin", "end", "success")
    names = list(dict.fromkeys(frame["cluster"]))
    row = frame["cluster"].map({name: k for k, name in enumerate(names)}).to_numpy()
    span = float(frame["end"].max())
    figure, (axes,) = blank(7.6, min(8.0, 1.2 + 0.36 * len(names)))
    length = (frame["end"] - frame["begin"]).to_numpy()
    low, high = float(frame["success"].min()), float(frame["success"].max())
    depth = 0.35 + 0.55 * (frame["success"].to_numpy() - low) / max(high - low, 1e-12)
    for k in range(len(frame)):
        begin = float(frame["begin"].iloc[k])
        axes.barh(
            row[k],
            length[k],
            left=begin,
            height=0.72,
            color=colour(0),
            alpha=float(depth[k]),
            edgecolor=TEXT.stand_in,
            linewidth=0.5,
        )
        needed = max(_NAMED, _LETTER * len(str(frame["task"].iloc[k])))
        if length[k] > needed * span and len(names) <= _MANY:
            axes.text(
                begin + length[k] / 2,
                row[k],
                str(frame["task"].iloc[k]),
                ha="center",
                va="center",
                fontsize=8,
                color=TEXT.stand_in,
                clip_on=True,
            )
    if bound is not None:
        axes.axvline(bound, color=colour(1), linewidth=1.4, linestyle="--")
        axes.annotate(
            "no plan ends sooner",
            (bound, -0.62),
            xytext=(-4, 0),
            textcoords="offset points",
            ha="right",
            fontsize=8,
            color=colour(1),
            annotation_clip=False,
        )
    axes.set_ylim(len(names) - 0.4, -0.9)
    if len(names) <= _MANY:
        axes.set_yticks(range(len(names)), names)
    axes.grid(False, axis="y")
    axes.set_xlim(0, 1.02 * max(span, bound or 0.0))
    axes.set_xlabel(unit)
    return figure
