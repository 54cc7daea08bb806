"""The figures, each from one tidy table (see :mod:`walras.plot.frames`)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from walras.errors import InputError
from walras.plot.style import DASHES, FADE, SERIES, TEXT, blank, legend, log_scale

_FEW = 24  # more resources than this are drawn as a curve, sorted by price
_SMALLEST_GAP = 1e-12


def allocation_map(frame: pd.DataFrame) -> Figure:
    """Who runs where: one column a demand, one row a resource, darker for a larger share of time.

    Demands stand by their main resource, and by the share of time there.

    Args:
        frame: A frame with columns ``resource``, ``demand``, ``share``.

    Returns:
        The figure.

    Raises:
        InputError: A column is missing.

    Example:
        >>> import numpy as np
        >>> from walras import plot
        >>> frame = plot.allocation_frame(np.array([[0.5, 1.0]]), ["a100"], ["lab", "web"])
        >>> drawing = plot.allocation_map(frame)
        >>> len(drawing.axes) >= 1
        True
    """
    need(frame, "resource", "demand", "share")
    wide = frame.pivot_table(
        index="resource", columns="demand", values="share", aggfunc="sum", sort=False
    )
    x = wide.to_numpy()
    order = np.lexsort((-x.max(axis=0), x.argmax(axis=0)))
    m, n = x.shape
    figure, (axes,) = blank(7.6, min(6.0, 1.3 + 0.34 * m))
    image = axes.imshow(
        x[:, order], aspect="auto", cmap=FADE, vmin=0, vmax=1, interpolation="nearest"
    )
    axes.grid(False)
    if m <= _FEW:
        axes.set_yticks(range(m), [str(name) for name in wide.index])
    axes.set_xlabel(f"{n:,} jobs, by the type they run on most")
    bar = figure.colorbar(image, ax=axes, pad=0.01, fraction=0.05, ticks=[0, 0.5, 1])
    bar.ax.set_facecolor("none")
    bar.ax.tick_params(colors=TEXT.stand_in, labelsize=9)
    bar.set_label("share of time", color=TEXT.stand_in, fontsize=9)
    bar.outline.set_visible(False)
    return figure


def throughput_distribution(
    frame: pd.DataFrame, unit: str = "throughput relative to an equal share"
) -> Figure:
    """Share of jobs with at most a given throughput, one curve a policy.

    Args:
        frame: A frame with columns ``policy``, ``throughput``.
        unit: Label of the horizontal axis.

    Returns:
        The figure.

    Raises:
        InputError: A column is missing.

    Example:
        >>> import pandas as pd
        >>> from walras import plot
        >>> frame = pd.DataFrame({"policy": ["fair"] * 2, "throughput": [1.0, 2.0]})
        >>> len(plot.throughput_distribution(frame).axes)
        1
    """
    need(frame, "policy", "throughput")
    figure, (axes,) = blank(7.6, 3.6)
    for k, (name, group) in enumerate(frame.groupby("policy", sort=False)):
        y = np.sort(group["throughput"].to_numpy())
        axes.step(
            np.concatenate((y[:1], y)),
            np.arange(len(y) + 1) / len(y),
            where="post",
            color=colour(k),
            linestyle=DASHES[k % len(DASHES)],
            label=str(name),
            linewidth=1.7,
        )
    positive = frame["throughput"][frame["throughput"] > 0]
    if len(positive) and positive.max() > 10 * positive.min():
        log_scale(axes, "x")
    axes.set_ylim(0, 1)
    axes.set_xlabel(unit)
    axes.set_ylabel("share of jobs")
    legend(axes, outside=True)
    return figure


def convergence(frame: pd.DataFrame) -> Figure:
    """The relative gap between value and bound against iterations and against time.

    Args:
        frame: A frame with columns ``policy``, ``iteration``, ``elapsed``, ``gap``.

    Returns:
        The figure.

    Raises:
        InputError: A column is missing.

    Example:
        >>> import pandas as pd
        >>> from walras import plot
        >>> frame = pd.DataFrame({"policy": ["fair"] * 2, "iteration": [1, 2],
        ...                       "elapsed": [0.1, 0.2], "gap": [1e-1, 1e-3]})
        >>> len(plot.convergence(frame).axes)
        2
    """
    need(frame, "policy", "iteration", "elapsed", "gap")
    figure, panels = blank(7.6, 3.2, panels=2)
    for axes, along, label in zip(
        panels, ("iteration", "elapsed"), ("iteration", "seconds"), strict=True
    ):
        for k, (name, group) in enumerate(frame.groupby("policy", sort=False)):
            known = group[np.isfinite(group["gap"])]
            axes.plot(
                known[along],
                np.maximum(known["gap"], _SMALLEST_GAP),
                color=colour(k),
                linestyle=DASHES[k % len(DASHES)],
                marker=".",
                markersize=4,
                label=str(name),
                linewidth=1.4,
            )
        log_scale(axes, "y")
        axes.set_xlabel(label)
    panels[0].set_ylabel("relative gap")
    if len(frame):
        legend(panels[0])
    return figure


def prices(frame: pd.DataFrame, unit: str = "price of one more GPU") -> Figure:
    """What one more unit of each resource is worth.

    Args:
        frame: A frame with columns ``policy``, ``resource``, ``price``.
        unit: Label of the axis.

    Returns:
        The figure.

    Raises:
        InputError: A column is missing.

    Example:
        >>> import pandas as pd
        >>> from walras import plot
        >>> frame = pd.DataFrame({"policy": ["fair"], "resource": ["a100"], "price": [0.3]})
        >>> len(plot.prices(frame).axes)
        1
    """
    need(frame, "policy", "resource", "price")
    figure, (axes,) = blank(7.6, 3.0)
    groups = list(frame.groupby("policy", sort=False))
    few = frame["resource"].nunique() <= _FEW
    width = 0.8 / max(1, len(groups))
    for k, (name, group) in enumerate(groups):
        price = group["price"].to_numpy()
        if few:
            at = np.arange(len(price)) + (k - (len(groups) - 1) / 2) * width
            axes.bar(at, price, width * 0.92, color=colour(k), label=str(name))
        else:
            axes.step(
                np.arange(1, len(price) + 1),
                np.sort(price)[::-1],
                where="mid",
                color=colour(k),
                linestyle=DASHES[k % len(DASHES)],
                label=str(name),
                linewidth=1.7,
            )
    if few and groups:
        names = groups[0][1]["resource"].astype(str).tolist()
        axes.set_xticks(range(len(names)), names)
    else:
        axes.set_xlabel("types, dearest first")
    axes.set_ylabel(unit)
    axes.set_ylim(bottom=0)
    if groups:
        legend(axes)
    return figure


def colour(k: int) -> str:
    """Colour of the k-th curve."""
    return SERIES[k % len(SERIES)].stand_in


def need(frame: pd.DataFrame, *columns: str) -> None:
    """Refuse a frame without some columns.

    Raises:
        InputError: One is missing.
    """
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise InputError(
            f"has no column '{missing[0]}'",
            where="frame",
            allowed=", ".join(columns),
            remedy="make it with the functions of walras.plot.frames",
        )
