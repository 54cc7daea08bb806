"""Figures of learning through decisions: one training, methods by setting and by size."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from walras.plot.figures import colour, need
from walras.plot.style import DASHES, blank, legend

METRICS = {
    "elastic_regret": "elastic regret",
    "hard_regret": "regret under the floor",
    "penalised_regret": "penalised regret",
    "reliability": "mean success",
    "utilisation": "utilisation",
}
_MARKS = "osD^v<>P"


def methods_by_setting(frame: pd.DataFrame) -> Figure:
    """Regret, mean success and utilisation of every method in every setting.

    Bars are means over seeds; whiskers one standard deviation, as it is (the paper draws ten).

    Args:
        frame: A frame of :func:`walras.learn.compare`: columns ``method``, ``setting``,
            ``elastic_regret``, ``reliability``, ``utilisation``.

    Returns:
        The figure, one panel a measure.

    Raises:
        InputError: A column is missing.

    Example:
        >>> import pandas as pd
        >>> from walras import plot
        >>> rows = [("tsm", "A", 0, 0.2, 0.9, 0.8), ("mfcp-ad", "A", 0, 0.1, 0.9, 0.8)]
        >>> names = ["method", "setting", "seed", "elastic_regret", "reliability", "utilisation"]
        >>> len(plot.methods_by_setting(pd.DataFrame(rows, columns=names)).axes)
        3
    """
    shown = ("elastic_regret", "reliability", "utilisation")
    need(frame, "method", "setting", *shown)
    methods, settings = list(dict.fromkeys(frame["method"])), list(dict.fromkeys(frame["setting"]))
    figure, panels = blank(11.0, 3.4, panels=3)
    width = 0.8 / len(methods)
    for axes, metric in zip(panels, shown, strict=True):
        for k, method in enumerate(methods):
            own = frame[frame["method"] == method].groupby("setting")[metric]
            means = own.mean().reindex(settings)
            apart = own.std().reindex(settings).fillna(0.0)
            places = [j + (k - (len(methods) - 1) / 2) * width for j in range(len(settings))]
            axes.bar(
                places,
                means,
                width * 0.92,
                yerr=apart,
                color=colour(k),
                label=method,
                error_kw={"elinewidth": 0.8},
            )
        axes.set_xticks(range(len(settings)), [name[:14] for name in settings])
        axes.set_xlabel("setting")
        axes.set_ylabel(METRICS[metric])
    legend(panels[-1], outside=True)
    return figure


def methods_by_size(frame: pd.DataFrame, across: str = "tasks_per_round") -> Figure:
    """Regret and utilisation against a size, a line a method, one standard deviation as whiskers.

    Args:
        frame: A frame of :func:`walras.learn.compare`: columns ``method``, ``elastic_regret``,
            ``utilisation`` and the one that ``across`` names.
        across: The size on the horizontal axis: ``tasks_per_round`` or ``train_tasks``.

    Returns:
        The figure, one panel a measure.

    Raises:
        InputError: A column is missing.

    Example:
        >>> import pandas as pd
        >>> from walras import plot
        >>> rows = [("tsm", 5, 0.2, 0.8), ("tsm", 15, 0.1, 0.9)]
        >>> names = ["method", "tasks_per_round", "elastic_regret", "utilisation"]
        >>> len(plot.methods_by_size(pd.DataFrame(rows, columns=names)).axes)
        2
    """
    shown = ("elastic_regret", "utilisation")
    need(frame, "method", across, *shown)
    figure, panels = blank(9.6, 3.4, panels=2)
    for axes, metric in zip(panels, shown, strict=True):
        for k, (method, own) in enumerate(frame.groupby("method", sort=False)):
            found = own.groupby(across)[metric].agg(["mean", "std"]).fillna(0.0)
            axes.errorbar(
                found.index,
                found["mean"],
                yerr=found["std"],
                color=colour(k),
                linestyle=DASHES[k % len(DASHES)],
                marker=_MARKS[k % len(_MARKS)],
                markersize=4,
                elinewidth=0.8,
                label=str(method),
            )
        axes.set_xlabel(across.replace("_", " "))
        axes.set_ylabel(METRICS[metric])
        axes.set_xticks(sorted(set(frame[across])))
    legend(panels[-1], outside=True)
    return figure


def training(frame: pd.DataFrame) -> Figure:
    """The regret of validation rounds over the steps of a training; what is kept is marked.

    Args:
        frame: A frame with columns ``step``, 0 for the start, and ``regret``.

    Returns:
        The figure.

    Raises:
        InputError: A column is missing.

    Example:
        >>> import pandas as pd
        >>> from walras import plot
        >>> frame = pd.DataFrame({"step": [0, 1, 2], "regret": [0.3, 0.2, 0.1]})
        >>> len(plot.training(frame).axes)
        1
    """
    need(frame, "step", "regret")
    figure, (axes,) = blank(6.4, 3.0)
    step, regret = frame["step"].to_numpy(), 100 * frame["regret"].to_numpy()
    kept = int(regret.argmin())
    axes.plot(step, regret, color=colour(0), marker=".", linewidth=1.4)
    axes.axhline(
        regret[0], color=colour(4), linestyle=DASHES[2], linewidth=1.2, label="two-stage start"
    )
    axes.plot(step[kept], regret[kept], "o", color=colour(1), label="kept")
    axes.set_xlabel("step")
    axes.set_ylabel("validation regret, %")
    legend(axes)
    return figure
