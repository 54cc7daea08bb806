"""Figures of traffic engineering: the network with its utilisation, traffic served over time."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from walras.domains.traffic_engineering import Evaluation, Network
from walras.errors import InputError
from walras.network.graph.layout import by_hops
from walras.plot.figures import colour, need
from walras.plot.style import DASHES, FAINT, TEXT, blank, legend, log_scale
from walras.progress import History
from walras.types import Floats

# Empty links are faint, full ones red; links beyond their capacity keep the last colour.
_HEAT = LinearSegmentedColormap.from_list("heat", ["#c9d3e0", "#1f6fd1", "#d1731f", "#c43d3d"])
_NAMED = 30  # networks up to this size show their nodes' names


def utilisation_frame(network: Network, judged: Evaluation) -> pd.DataFrame:
    """Columns ``source``, ``target``, ``capacity``, ``load``, ``utilisation``; one row a link.

    Args:
        network: The network.
        judged: What a flow does to it.

    Returns:
        The frame.

    Example:
        >>> from walras import plot
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> demand, paths = [[0, 4, 8], [0, 0, 3], [0, 0, 0]], te.candidate_paths(net, cache=False)
        >>> found = te.evaluate(demand, paths, te.shortest_path(net, demand, paths).flow)
        >>> frame = plot.utilisation_frame(net, found)
        >>> frame.shape
        (3, 5)
    """
    names = np.array(network.node_names, dtype=object)
    return pd.DataFrame(
        {
            "source": names[network.source],
            "target": names[network.target],
            "capacity": network.capacity,
            "load": judged.load,
            "utilisation": judged.utilisation,
        }
    )


def served_frame(histories: Mapping[str, History], asked: float) -> pd.DataFrame:
    """Columns ``policy``, ``elapsed``, ``satisfied``, ``bound``: shares of the traffic asked for.

    Args:
        histories: The history of each solve of a total flow, by policy. While the primal residual
            is not small, values are those of flows that do not fit. Steps that prove nothing yet
            are left out.
        asked: All traffic asked for, in the flow's unit.

    Returns:
        The frame, one row a policy and step.

    Example:
        >>> import walras as wl
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> demand = [[0, 4, 8], [0, 0, 3], [0, 0, 0]]
        >>> flow = te.max_total_flow(net, demand, te.candidate_paths(net, cache=False))
        >>> s = wl.solve(flow, engine="admm")
        >>> list(wl.plot.served_frame({"admm": s.history}, asked=15.0).columns)
        ['policy', 'elapsed', 'satisfied', 'bound']
    """
    known = {
        name: [step for step in history if math.isfinite(step.value)]
        for name, history in histories.items()
    }
    frames = [
        pd.DataFrame(
            {
                "policy": name,
                "elapsed": [step.elapsed for step in steps],
                "satisfied": [step.value / asked for step in steps],
                "bound": [step.bound / asked for step in steps],
            }
        )
        for name, steps in known.items()
        if steps
    ]
    if not frames:
        return pd.DataFrame(columns=["policy", "elapsed", "satisfied", "bound"])
    return pd.concat(frames, ignore_index=True)


def network_utilisation(
    network: Network, frame: pd.DataFrame, column: str = "utilisation"
) -> Figure:
    """The network, each edge in the colour of the fuller (or dearer) of its two directions.

    Nodes stand at their longitude and latitude; where some have none, all stand so that distances
    come near to hops (stress majorisation; Gansner, Koren and North 2004).

    Args:
        network: The network.
        frame: From :func:`utilisation_frame`; it may have further columns.
        column: What is drawn: the utilisation, or a column of numbers >= 0 such as prices.

    Returns:
        The figure.

    Raises:
        InputError: A column is missing, or the frame is of another network.

    Example:
        >>> from walras import plot
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> demand, paths = [[0, 4, 8], [0, 0, 3], [0, 0, 0]], te.candidate_paths(net, cache=False)
        >>> found = te.evaluate(demand, paths, te.shortest_path(net, demand, paths).flow)
        >>> frame = plot.utilisation_frame(net, found)
        >>> len(plot.network_utilisation(net, frame).axes) >= 1
        True
    """
    need(frame, "source", "target", column)
    if len(frame) != network.links:
        raise InputError(
            f"has {len(frame)} links",
            where="frame",
            allowed=f"{network.links}, one row a link",
            remedy="make it with walras.plot.utilisation_frame of this network",
        )
    at = _positions(network)
    used = frame[column].to_numpy(dtype=np.float64)
    is_share = column == "utilisation"
    most = 1.0 if is_share else max(float(used.max()), 1e-300)
    order = np.argsort(used, kind="stable")  # full links are drawn last, so on top
    lines = np.stack([at[network.source], at[network.target]], axis=1)[order]
    figure, (axes,) = blank(7.6, 5.0)
    drawn = LineCollection(
        list(lines), cmap=_HEAT, linewidths=0.6 + 2.2 * np.clip(used[order] / most, 0.0, 1.0)
    )
    drawn.set_array(used[order])
    drawn.set_clim(0.0, most)
    axes.add_collection(drawn)
    axes.scatter(
        at[:, 0], at[:, 1], s=max(3.0, 400.0 / network.nodes), color=TEXT.stand_in, zorder=3
    )
    if network.nodes <= _NAMED:
        for name, place in zip(network.node_names, at, strict=True):
            axes.annotate(
                name,
                place,
                xytext=(4, 4),
                textcoords="offset points",
                fontsize=9,
                color=TEXT.stand_in,
            )
    axes.grid(False)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_axis_off()
    axes.margins(0.05)
    shares = PercentFormatter(1.0) if is_share else None
    bar = figure.colorbar(drawn, ax=axes, pad=0.01, fraction=0.035, format=shares)
    bar.ax.tick_params(colors=TEXT.stand_in, labelsize=9)
    bar.set_label(column, color=TEXT.stand_in, fontsize=9)
    bar.outline.set_visible(False)
    return figure


def traffic_served(frame: pd.DataFrame, optimum: float | None = None) -> Figure:
    """Share of the traffic served against time, one curve a policy.

    Args:
        frame: From :func:`served_frame`, or any with its columns; a policy of one row, such as a
            heuristic's, is a point.
        optimum: The best share there is, drawn as a line.

    Returns:
        The figure.

    Raises:
        InputError: A column is missing.

    Example:
        >>> import pandas as pd
        >>> from walras import plot
        >>> frame = pd.DataFrame({"policy": ["pop"], "elapsed": [0.2], "satisfied": [0.9],
        ...                       "bound": [1.0]})
        >>> len(plot.traffic_served(frame).axes) >= 1
        True
    """
    need(frame, "policy", "elapsed", "satisfied")
    figure, (axes,) = blank(7.6, 3.6)
    for k, (name, group) in enumerate(frame.groupby("policy", sort=False)):
        alone = len(group) == 1
        axes.plot(
            group["elapsed"],
            group["satisfied"],
            color=colour(k),
            label=str(name),
            linestyle="none" if alone else DASHES[k % len(DASHES)],
            marker="os^Dv<>P"[k % 8] if alone else None,
            markersize=6,
            linewidth=1.7,
        )
    if optimum is not None:
        axes.axhline(optimum, color=FAINT.stand_in, linewidth=1.0, label="optimum")
    positive = frame["elapsed"][frame["elapsed"] > 0]
    if len(positive) and positive.max() > 20 * positive.min():
        log_scale(axes, "x")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel("seconds")
    axes.set_ylabel("traffic served")
    if len(frame):
        legend(axes, outside=True)
    return figure


def _positions(network: Network) -> Floats:
    given = network.position
    if given is not None and np.all(np.isfinite(given)):
        # A degree of longitude is shorter by the cosine of the latitude.
        middle = np.cos(np.radians(np.mean(given[:, 1])))
        return np.asarray(given * np.array([middle, 1.0]))
    return by_hops(network.nodes, network.source, network.target)
