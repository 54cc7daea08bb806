"""Figures of a network of centres: gaps, training, shares, the audit, the graph, spectra."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from walras.network import Network
from walras.network.epoch import Epoch
from walras.plot.figures import colour, need
from walras.plot.style import DASHES, FAINT, TEXT, blank, legend, log_scale

Across = Literal["step", "bits", "seconds"]
_LABELS = {
    "step": "steps",
    "bits": "bits sent by all centres",
    "seconds": "seconds",
    "cost_gap": "cost gap",
    "consensus_error": "consensus error",
    "loss": "loss of the mean model",
    "loss_gap": "loss of the mean model over the least",
    "accuracy": "test accuracy",
}
_SMALLEST = 1e-16
_NARROW = 0.02  # of accuracy, the least that an axis spans
_NAMED = 40  # centres, at most, whose numbers are written


def progress_of_methods(
    frame: pd.DataFrame, value: str = "cost_gap", across: Across = "step"
) -> Figure:
    """One curve a method, on a logarithmic scale; a band where there are several seeds.

    Args:
        frame: Rows of :meth:`walras.network.Run.frame`, columns ``method``, ``value``, ``across``,
            and ``seed`` where there are several.
        value: What is drawn.
        across: Against what.

    Raises:
        InputError: A column is missing.
    """
    figure, (axes,) = blank(6.8, 3.8)
    _curves(axes, frame, value, across)
    legend(axes, outside=True)
    return figure


def training(
    frame: pd.DataFrame, across: Across = "step", reference: Mapping[str, float] | None = None
) -> Figure:
    """Loss and test accuracy of the mean model, one curve a method.

    Args:
        frame: Rows of :meth:`walras.network.Run.frame` with a test set.
        across: Against what.
        reference: Accuracies to be reached, by method: fine lines in the method's colour.

    Raises:
        InputError: A column is missing.
    """
    figure, (upper, lower) = blank(9.2, 3.4, panels=2)
    for axes, value in ((upper, "loss"), (lower, "accuracy")):
        _curves(axes, frame, value, across)
    names = list(frame["method"].unique())
    for name, accuracy in (reference or {}).items():
        lower.axhline(
            accuracy, color=colour(names.index(name)), linewidth=0.8, label=f"{name}, centralised"
        )
    low, high = lower.get_ylim()
    spare = max(0.0, _NARROW - (high - low)) / 2.0
    lower.set_ylim(low - spare, high + spare)  # single samples are no curve
    legend(lower, outside=True)
    return figure


def _curves(axes: Axes, frame: pd.DataFrame, value: str, across: Across) -> None:
    """A curve a method, where the value was looked at; a band over several seeds."""
    need(frame, "method", value, across)
    seen = frame.dropna(subset=[value])
    seen = seen.assign(**{value: seen[value].abs()})  # gaps are signed
    for k, (name, own) in enumerate(seen.groupby("method", sort=False)):
        if "seed" in own and own["seed"].nunique() > 1:
            grouped = own.groupby("step")
            x = grouped[across].mean().to_numpy()
            low, middle, high = (
                np.maximum(grouped[value].quantile(q).to_numpy(), _SMALLEST)
                for q in (0.1, 0.5, 0.9)
            )
            axes.fill_between(x, low, high, color=colour(k), alpha=0.15, linewidth=0)
        else:
            x, middle = own[across].to_numpy(), np.maximum(own[value].to_numpy(), _SMALLEST)
        axes.plot(
            x,
            middle,
            label=str(name),
            color=colour(k),
            linestyle=DASHES[k % len(DASHES)],
            linewidth=1.7,
        )
    if value != "accuracy":
        log_scale(axes, "y")
    if across != "step":
        log_scale(axes, "x")
    axes.set_xlabel(_LABELS[across])
    axes.set_ylabel(_LABELS.get(value, value))


def shares_over_time(frame: pd.DataFrame, optimum: np.ndarray | None = None) -> Figure:
    """Every centre's share, and where it should end.

    Args:
        frame: Columns ``step``, ``centre``, ``share``.
        optimum: (centres,) the best shares, as ticks at the right.

    Raises:
        InputError: A column is missing.
    """
    need(frame, "step", "centre", "share")
    figure, (axes,) = blank(6.8, 3.8)
    for k, (_, own) in enumerate(frame.groupby("centre", sort=False)):
        axes.plot(own["step"], own["share"], color=colour(k), linewidth=1.0, alpha=0.85)
    if optimum is not None:
        end = frame["step"].max()
        axes.scatter(
            np.full(len(optimum), 1.015 * end),
            optimum,
            marker="_",
            color=TEXT.stand_in,
            s=40,
            label="optimum",
            clip_on=False,
            zorder=3,
        )
        legend(axes)
    axes.set_xlabel(_LABELS["step"])
    axes.set_ylabel("CPU share")
    return figure


def epochs(found: Epoch) -> Figure:
    """Seconds of every centre's epoch as decided, and at equal shares; the slowest is a line.

    Args:
        found: What :attr:`walras.network.Run.epoch` holds.
    """
    figure, (axes,) = blank(6.8, 3.2)
    order = np.argsort(-found.equal, kind="stable")
    place = np.arange(len(order))
    for k, (name, seconds) in enumerate(
        (("equal shares", found.equal), ("decided shares", found.seconds))
    ):
        own = seconds[order]
        axes.bar(place + 0.4 * k - 0.2, own, 0.38, color=colour(1 - k), label=name)
        axes.axhline(own.max(), color=colour(1 - k), linewidth=0.9, linestyle=DASHES[1 - k])
    if len(order) <= _NAMED:
        axes.set_xticks(place, [str(c) for c in found.centres[order]])
    axes.set_xlabel("centre")
    axes.set_ylabel("seconds an epoch")
    legend(axes)
    return figure


def budget_audit(frame: pd.DataFrame, budget: float) -> Figure:
    """What the living hold, what is under way, and their sum less the budget: zero.

    Args:
        frame: Columns ``step``, ``held``, and ``audit`` where every step was audited.
        budget: All CPU.

    Raises:
        InputError: A column is missing.
    """
    need(frame, "step", "held")
    audited = "audit" in frame
    figure, panels = blank(7.6 if audited else 6.8, 3.0, panels=2 if audited else 1)
    step, held = frame["step"].to_numpy(), frame["held"].to_numpy()
    upper = panels[0]
    upper.plot(step, held / budget, color=colour(0), linewidth=1.4, label="held by the living")
    upper.fill_between(
        step,
        held / budget,
        1.0,
        color=colour(1),
        alpha=0.3,
        linewidth=0,
        label="under way or not yet settled",
    )
    upper.ticklabel_format(useOffset=False)
    upper.set_ylabel("part of the budget")
    upper.set_xlabel(_LABELS["step"])
    legend(upper)
    if audited:
        lower = panels[1]
        lower.plot(step, frame["audit"], color=colour(2), linewidth=1.4)
        lower.set_ylim(-1.5, 1.5)
        lower.set_yticks([-1, 0, 1])
        lower.set_ylabel("quanta over the budget")
        lower.set_xlabel(_LABELS["step"])
    return figure


def graph(network: Network, shares: np.ndarray | None = None) -> Figure:
    """The centres on a circle, their links, and discs as large as their shares.

    Args:
        network: The graph at the first step is drawn.
        shares: (centres,); equal discs when left out.
    """
    now = network.at(0)
    angle = 2.0 * np.pi * np.arange(now.centres) / now.centres + np.pi / 2.0
    place = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    figure, (axes,) = blank(4.6, 4.6)
    ends = np.stack([place[now.tail[: now.links]], place[now.head[: now.links]]], axis=1)
    axes.add_collection(LineCollection(list(ends), colors=FAINT.stand_in, linewidths=0.7))
    size = np.ones(now.centres) if shares is None else np.maximum(shares, 0.0)
    axes.scatter(
        place[:, 0],
        place[:, 1],
        s=160.0 * size / max(size.mean(), 1e-300),
        color=colour(0),
        zorder=2,
    )
    if now.centres <= _NAMED:
        for number, (x, y) in enumerate(1.13 * place):
            axes.text(x, y, str(number), ha="center", va="center", color=TEXT.stand_in, fontsize=8)
    axes.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25), aspect="equal")
    axes.set_axis_off()
    return figure


def spectrum(values: dict[str, np.ndarray]) -> Figure:
    """Eigenvalues of the linearised dynamics in the complex plane; left of zero is stable.

    Args:
        values: Eigenvalues by what they belong to, such as ``alpha = 0.1``.
    """
    figure, (axes,) = blank(6.4, 3.6)
    for k, (name, own) in enumerate(values.items()):
        axes.scatter(own.real, own.imag, s=14, color=colour(k), label=name, alpha=0.8, linewidths=0)
    axes.axvline(0.0, color=TEXT.stand_in, linewidth=0.8)
    axes.set_xlabel("real part")
    axes.set_ylabel("imaginary part")
    legend(axes, outside=True)
    return figure
