"""A comparison of policies as tables: means over seeds, and everything."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from walras.reports.tables import Cell, Table, of_frame
from walras.simulate import Comparison
from walras.simulate.compare.comparison import refused_label
from walras.simulate.metrics import BY_CLASS

_TINY = 1e-3  # below this a spread says nothing: gaps


def compared(found: Comparison, measures: Sequence[str] | None = None) -> Table:
    """One row a trace and policy: means over seeds with their standard deviation.

    Args:
        found: The comparison.
        measures: Which; those that people compare by if None.
    """
    frame = found.frame(measures, spread=True)
    names = [name for name in frame.columns if not name.startswith("± ")]
    several = len(found.traces) > 1
    cells = [
        [_cell(float(a), float(b)) for a, b in zip(frame[name], frame[f"± {name}"], strict=True)]
        for name in names
    ]
    refused = found.refused("trace", "policy")
    shares = [refused.get(key, 0.0) for key in frame.index]
    policies = frame.index.get_level_values("policy").tolist()
    labels = [
        f"{n} ({refused_label(s)})" if s else n for n, s in zip(policies, shares, strict=True)
    ]
    keys = [labels, frame.index.get_level_values("trace").tolist()]
    rows = list(zip(*(keys if several else keys[:1]), *cells, strict=True))
    units = dict(zip(found.measure, found.unit, strict=True))
    heads = [f"{name}, {units[name]}" if units[name] else name for name in names]
    columns = ("policy", "trace", *heads) if several else ("policy", *heads)
    return Table(columns, rows, title(found, names))


def title(found: Comparison, measures: Sequence[str]) -> str:
    """Over which seeds means are, of which runs, and whether times are not the policy's own.

    Args:
        found: The comparison.
        measures: The columns; none where there is no spread.
    """
    seeds = len(found.seeds)
    spread = ", ± standard deviation" if measures else ""
    said = [f"means over {seeds} seeds{spread}" if seeds > 1 else "one seed"]
    said += [f"{name} over {note} that all have" for name, note in found.notes(measures).items()]
    if found.missing:
        said.append(f"{found.runs} of {found.runs + len(found.missing)} runs")
    if len(found.refused()):
        said.append(REFUSED)
    return "; ".join(said)


REFUSED = "a refused decision is not carried out: the times there are not the policy's own"


def _cell(mean: float, spread: float) -> Cell:
    """A mean with its spread; a dash where there is nothing to count."""
    if math.isnan(mean):
        return None
    if math.isnan(spread) or spread == 0.0 or abs(mean) < _TINY:
        return f"{mean:.{2 if abs(mean) < _TINY else 4}g}"
    return f"{mean:.4g} ± {float(f'{spread:.2g}'):g}"


def by_class(found: Comparison) -> Table:
    """Mean completion by class of jobs, one column a policy: means over seeds.

    Rows of a class stand together, the class of the longest jobs first.

    Args:
        found: The comparison.

    Raises:
        InputError: Its jobs are of one class, or of more than 200.
    """
    frame = found.by_class()
    longest = frame.mean(axis=1).groupby(level="class", sort=False).mean()
    order = longest.sort_values(ascending=False, kind="stable").index
    rank = order.get_indexer(frame.index.get_level_values("class"))
    frame = frame.iloc[np.argsort(rank, kind="stable")]
    several = len(found.traces) > 1
    keys = [frame.index.get_level_values(name).tolist() for name in ("class", "trace")]
    cells = [[_cell(hours, math.nan) for hours in frame[name].tolist()] for name in frame.columns]
    heads = ("class", "trace") if several else ("class",)
    rows = list(zip(*keys[: len(heads)], *cells, strict=True))
    labels = found.labels
    policies = [f"{n} ({labels[n]})" if n in labels else n for n in map(str, frame.columns)]
    return Table(
        (*heads, *policies), rows, f"mean completion by class, h; {title(found, ())}{_fewer(found)}"
    )


def _fewer(found: Comparison) -> str:
    """Of how many classes means are over fewer seeds than all: none of its jobs may be measured."""
    names = {name for name in found.measure if name.startswith(BY_CLASS)}
    few = len(found.notes([*names]))
    return f"; of {few} of {len(names)} classes over fewer seeds" if few else ""


def everything(found: Comparison) -> Table:
    """The tidy table: one row a trace, policy, seed and measure."""
    return of_frame(found.table)
