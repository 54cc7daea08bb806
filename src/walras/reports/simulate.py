"""A comparison of policies as tables: means over seeds, and everything."""

from __future__ import annotations

import math
from collections.abc import Sequence

from walras.reports.tables import Cell, Table, of_frame
from walras.simulate import Comparison

_TINY = 1e-3  # below this a spread says nothing: gaps


def compared(found: Comparison, measures: Sequence[str] | None = None) -> Table:
    """One row a trace and policy: means over seeds with their standard deviation.

    Args:
        found: The comparison.
        measures: Which; those that people compare by if None.
    """
    frame = found.frame(measures, spread=True)
    names = [name for name in frame.columns if not name.startswith("± ")]
    several = frame.index.get_level_values("trace").nunique() > 1
    cells = [
        [_cell(float(a), float(b)) for a, b in zip(frame[name], frame[f"± {name}"], strict=True)]
        for name in names
    ]
    keys = [frame.index.get_level_values(name).tolist() for name in ("policy", "trace")]
    rows = list(zip(*(keys if several else keys[:1]), *cells, strict=True))
    units = dict(zip(found.measure, found.unit, strict=True))
    heads = [f"{name}, {units[name]}" if units[name] else name for name in names]
    columns = ("policy", "trace", *heads) if several else ("policy", *heads)
    seeds = len(set(found.seed.tolist()))
    title = f"means over {seeds} seeds, ± standard deviation" if seeds > 1 else "one seed"
    return Table(columns, rows, title)


def _cell(mean: float, spread: float) -> Cell:
    """A mean with its spread; a dash where there is nothing to count."""
    if math.isnan(mean):
        return None
    if math.isnan(spread) or spread == 0.0 or abs(mean) < _TINY:
        return f"{mean:.{2 if abs(mean) < _TINY else 4}g}"
    return f"{mean:.4g} ± {float(f'{spread:.2g}'):g}"


def by_class(found: Comparison, most: int | None = None) -> Table:
    """Mean completion by class of jobs, one column a policy: means over seeds, the longest first.

    Args:
        found: The comparison.
        most: How many rows at most; all if None.

    Raises:
        InputError: Its jobs are of one class, or of more than 200.
    """
    frame = found.by_class()
    frame = frame.loc[frame.mean(axis=1).sort_values(ascending=False, kind="stable").index][:most]
    several = frame.index.get_level_values("trace").nunique() > 1
    keys = [frame.index.get_level_values(name).tolist() for name in ("class", "trace")]
    cells = [[_cell(hours, math.nan) for hours in frame[name].tolist()] for name in frame.columns]
    heads = ("class", "trace") if several else ("class",)
    rows = list(zip(*keys[: len(heads)], *cells, strict=True))
    return Table((*heads, *map(str, frame.columns)), rows, "mean completion by class, h")


def everything(found: Comparison) -> Table:
    """The tidy table: one row a trace, policy, seed and measure."""
    return of_frame(found.table)
