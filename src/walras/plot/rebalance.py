"""Figures of load balancing: loads before and after, moves and loads over rounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from walras.domains.load_balancing import Rebalanced, Rounds
from walras.errors import InputError
from walras.plot.figures import colour
from walras.plot.style import FAINT, blank, legend


def loads_frame(result: Rebalanced) -> pd.DataFrame:
    """Columns ``server``, ``before``, ``after``, ``lower``, ``upper``: loads over the mean load.

    Args:
        result: A rebalanced round.

    Returns:
        The frame.

    Example:
        >>> from walras import plot
        >>> from walras.domains import load_balancing as lb
        >>> result = lb.rebalance([4, 3, 2, 1], placement=["a", "a", "a", "b"])
        >>> list(plot.loads_frame(result).columns)
        ['server', 'before', 'after', 'lower', 'upper']
    """
    p = result.problem
    mean = float(p.load.sum()) / p.servers
    return pd.DataFrame(
        {
            "server": p.server_names,
            "before": p.loads_now() / mean,
            "after": result.loads / mean,
            "lower": p.lower / mean,
            "upper": p.upper / mean,
        }
    )


def loads_figure(result: Rebalanced) -> Figure:
    """Loads of all servers before and after, in the order of their load before, with the band.

    Args:
        result: The rebalanced round.

    Returns:
        The figure.

    Example:
        >>> from walras import plot
        >>> from walras.domains import load_balancing as lb
        >>> result = lb.rebalance([4, 3, 2, 1], placement=["a", "a", "a", "b"])
        >>> len(plot.loads_figure(result).axes)
        1
    """
    frame = loads_frame(result).sort_values("before", ascending=False, kind="stable")
    figure, (axes,) = blank(7.6, 3.6)
    place = np.arange(len(frame))
    lower, upper = frame["lower"].to_numpy(), frame["upper"].to_numpy()
    axes.fill_between(
        place, lower, upper, color=FAINT.stand_in, alpha=0.25, linewidth=0, label="band"
    )
    axes.plot(place, frame["before"], color=colour(1), linewidth=1.7, label="before")
    axes.plot(
        place,
        frame["after"],
        color=colour(0),
        linestyle="none",
        marker=".",
        markersize=4,
        label=f"after {result.moves} moves",
    )
    axes.set_xlabel("servers, the fullest first")
    axes.set_ylabel("load of the mean")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    legend(axes)
    return figure


def rounds_figure(played: Sequence[Rounds]) -> Figure:
    """Moves of each round with their proved least number, and the range of the servers' loads.

    Args:
        played: One or more policies on the same rounds.

    Returns:
        The figure.

    Raises:
        InputError: There is none.

    Example:
        >>> from walras import plot
        >>> from walras.domains import load_balancing as lb
        >>> played = lb.play(lb.first_round(0.2, servers=4, shards=16), [0.2, 0.4])
        >>> len(plot.rounds_figure([played]).axes)
        2
    """
    if not played:
        raise InputError(
            "is empty", where="played", allowed="at least one policy", remedy="play some rounds"
        )
    figure, (left, right) = blank(11.4, 3.8, panels=2)
    for k, one in enumerate(played):
        frame = one.frame()
        left.plot(
            frame["index"],
            frame["moves"],
            color=colour(k),
            marker="osD^"[k % 4],
            markersize=3,
            linewidth=1.0,
            label=one.policy,
        )
        _bounds(left, frame, k)
        right.fill_between(
            frame["index"],
            frame["lowest"],
            frame["highest"],
            color=colour(k),
            alpha=0.3,
            linewidth=0,
            label=one.policy,
        )
    band = played[0].last.problem.band if played[0].last is not None else 0.0
    for level in (1.0 - band, 1.0 + band):
        right.axhline(level, color=FAINT.stand_in, linewidth=1.0, linestyle="--")
    left.set_yscale("symlog", linthresh=1.0)
    left.set_ylim(bottom=0)
    left.set_ylabel("moves; dashes: proved least")
    right.set_ylabel("least to largest load, of the target")
    right.yaxis.set_major_formatter(PercentFormatter(1.0))
    for axes in (left, right):
        axes.set_xlabel("round")
    legend(right, outside=True)
    return figure


def _bounds(axes: Axes, frame: pd.DataFrame, k: int) -> None:
    axes.plot(
        frame["index"], frame["bound"], color=colour(k), linestyle="none", marker="_", markersize=7
    )
