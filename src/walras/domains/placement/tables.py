"""Nodes and tasks read from CSV tables."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from walras.data.formats.sheet import Sheet, read
from walras.domains.placement.inputs import NODE_WORDS, make_instance
from walras.domains.placement.instance import Instance

_TEXTS = ("model", "affinity", "anti_affinity")
_RUNS = "node"  # column of tasks: where it runs now


def read_instance(nodes: Path, tasks: Path, move_price: float | None = None) -> Instance:
    r"""Read nodes and tasks from CSV tables.

    Args:
        nodes: Columns ``node``, and as of :func:`walras.domains.placement.place`: ``gpus``,
            ``model``, and each other one a resource.
        tasks: Columns ``task``, the resources, and as of ``place``: ``gpus``, ``model``,
            ``affinity``, ``anti_affinity``, ``value``; ``node`` is where a task runs now. Empty
            cells of numbers are 0.
        move_price: What it costs to move a running task, or None if they stay.

    Returns:
        The instance.

    Raises:
        InputError: A table lacks a column, or a cell cannot be used.
        DataError: A file cannot be read.

    Example:
        >>> from pathlib import Path
        >>> from walras.domains import placement as pl
        >>> _ = Path("n.csv").write_text("node,cpu,gpus\na,8,1\n")
        >>> _ = Path("t.csv").write_text("task,cpu,gpus\nx,2,0.5\ny,2,0.5\n")
        >>> pl.solve_instance(pl.read_instance(Path("n.csv"), Path("t.csv"))).value
        1.0
    """
    machines = read(nodes, "node", (), None)
    resources = [c for c in machines.columns[1:] if c not in NODE_WORDS]
    asked = read(tasks, "task", resources, None)
    frame = _frame(asked)
    before = frame.pop(_RUNS) if _RUNS in frame.columns else None
    return make_instance(_frame(machines), frame, before, move_price)


def _frame(sheet: Sheet) -> pd.DataFrame:
    """The cells as texts or numbers, labelled by the first column."""
    columns: dict[str, list[str] | list[float]] = {}
    for name in sheet.columns[1:]:
        cells = [line[name] for line in sheet.lines]
        if name in (*_TEXTS, _RUNS):
            columns[name] = [cell.text for cell in cells]
        else:
            columns[name] = [cell.number(positive=False, empty=0.0) for cell in cells]
    return pd.DataFrame(columns, index=pd.Index(sheet.keys, dtype=object))
