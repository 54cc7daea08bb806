"""Policies compared: their measures over seeds, beside what no policy can beat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from walras.plot.figures import colour, need
from walras.plot.style import DASHES, TEXT, blank, legend

_BOUND = "no policy below"
_SHIFT = 0.3  # between the marks of the first policy and the last, of the way between two traces


def policies_compared(
    frame: pd.DataFrame,
    measures: Sequence[str] = ("mean completion", "makespan"),
    *,
    notes: Mapping[str, str] | None = None,
) -> Figure:
    """Measures of policies, a panel each: bars for one trace, curves over several traces.

    Marks of spread are the standard deviation over seeds. A dotted line is what no policy can beat.

    Args:
        frame: A frame with columns ``trace``, ``policy``, ``seed``, ``measure``, ``value`` and
            ``unit``, as :attr:`walras.simulate.Comparison.table`.
        measures: Measures to draw.
        notes: Policy or measure -> what stands in brackets behind its name.

    Returns:
        The figure.

    Raises:
        InputError: A column is missing.

    Example:
        >>> import pandas as pd
        >>> from walras import plot
        >>> frame = pd.DataFrame({"trace": "t", "policy": ["fifo", "las"], "seed": 0,
        ...                       "measure": "makespan", "value": [3.0, 2.0], "unit": "h"})
        >>> len(plot.policies_compared(frame, ["makespan"]).axes)
        1
    """
    need(frame, "trace", "policy", "seed", "measure", "value", "unit")
    traces = list(dict.fromkeys(frame["trace"]))
    names = [name for name in dict.fromkeys(frame["policy"]) if name != _BOUND]
    height = 1.2 + 0.32 * len(names) if len(traces) == 1 else 3.4
    figure, panels = blank(8.2, height, len(measures))
    for k, (axes, measure) in enumerate(zip(panels, measures, strict=True)):
        mine = frame[frame["measure"] == measure]
        groups = mine.groupby(["policy", "trace"])["value"]
        mean, spread = groups.mean(), groups.std().fillna(0.0)
        draw = _bars if len(traces) == 1 else _curves
        said = {name: _noted(name, notes) for name in names}
        draw(axes, mean, spread, said, traces)
        units = [unit for unit in dict.fromkeys(mine["unit"]) if unit]
        label = _noted(f"{measure}, {units[0]}" if units else measure, notes, measure)
        if len(traces) == 1:
            axes.set_xlabel(label)
            axes.set_xlim(left=0.0)
            if k:
                axes.set_yticklabels([])
        else:
            axes.set_ylabel(label)
            axes.set_ylim(bottom=0.0)
    if len(traces) > 1 or _BOUND in set(frame["policy"]):
        legend(panels[-1], outside=True)
    return figure


def _noted(label: str, notes: Mapping[str, str] | None, name: str = "") -> str:
    """A label with the note on its name, or on itself."""
    note = (notes or {}).get(name or label)
    return f"{label} ({note})" if note else label


def _bars(
    axes: Axes, mean: pd.Series, spread: pd.Series, names: Mapping[str, str], traces: Sequence[str]
) -> None:
    """Bars of policies: name -> label."""
    at = np.arange(len(names))[::-1]
    keys = [(name, traces[0]) for name in names]
    axes.barh(
        at,
        mean.reindex(keys),
        0.66,
        xerr=spread.reindex(keys),
        color=colour(0),
        ecolor=TEXT.stand_in,
        error_kw={"linewidth": 1.0, "capsize": 2.5},
    )
    axes.set_yticks(at, list(names.values()))
    if (_BOUND, traces[0]) in mean.index:
        axes.axvline(
            float(mean[_BOUND, traces[0]]),
            color=colour(1),
            linestyle=":",
            linewidth=2.0,
            label=_BOUND,
        )


def _curves(
    axes: Axes, mean: pd.Series, spread: pd.Series, names: Mapping[str, str], traces: Sequence[str]
) -> None:
    """Curves of policies, name -> label: side by side, so that no mark of spread hides another."""
    at = np.arange(len(traces))
    shifts = np.linspace(-0.5, 0.5, len(names)) * min(_SHIFT, 0.06 * (len(names) - 1))
    for k, (name, label) in enumerate(names.items()):
        keys = [(name, trace) for trace in traces]
        axes.errorbar(
            at + shifts[k],
            mean.reindex(keys),
            yerr=spread.reindex(keys),
            color=colour(k),
            linestyle=DASHES[k % len(DASHES)],
            marker=".",
            capsize=2.5,
            label=label,
        )
    below = [(_BOUND, trace) for trace in traces]
    if any(key in mean.index for key in below):
        axes.plot(
            at, mean.reindex(below), color=TEXT.stand_in, linestyle=":", linewidth=2.0, label=_BOUND
        )
    axes.set_xticks(at, traces)
