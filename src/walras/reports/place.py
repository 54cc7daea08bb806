"""What a placement came to: facts and tables."""

from __future__ import annotations

import numpy as np

from walras.domains import placement as pl
from walras.reports.tables import Cell, Table, of_frame
from walras.status import Status

_NONE = 1e-8  # relative gap that counts as none


def facts_of(placed: pl.Placed) -> dict[str, Cell]:
    """What a placement came to, by the name of the fact."""
    instance = placed.instance
    gpus = int(instance.gpus.sum())
    facts: dict[str, Cell] = {
        "nodes": len(instance.nodes),
        "tasks": len(instance.tasks),
        "placed": placed.placed,
        "moved": placed.moves,
        "status": str(placed.status),
        "value": placed.value,
        "bound": placed.bound,
        "gap": placed.gap,
    }
    if gpus:
        facts |= {
            "GPUs": gpus,
            "GPUs in use": gpus - placed.idle_gpus,
            "idle GPUs that a task, drawn from these, could not use": placed.fragmentation,
        }
    on = placed.home >= 0
    used = instance.types.need[instance.kind[on]].sum(axis=0)
    for name, part in zip(instance.resources, used.tolist(), strict=True):
        facts[f"{name} in use"] = part
    return facts | {"seconds": placed.seconds}


def tasks_table(placed: pl.Placed, most: int | None = None) -> Table:
    """Where each task is; the first ``most`` of them, or all."""
    frame = placed.frame()
    table = of_frame(frame if most is None else frame.head(most))
    if most is None or len(frame) <= most:
        return table
    title = f"the first {most} of {len(frame)} tasks; -o csv has all"
    return Table(table.columns, table.rows, title)


def reasons(placed: pl.Placed, most: int) -> list[str]:
    """Why tasks are not placed: one sentence a type of task, for the first few types."""
    out: dict[int, str] = {}
    instance = placed.instance
    kind = np.empty(len(instance.tasks), dtype=np.int64)
    kind[instance.task] = np.repeat(instance.kind, np.diff(instance.task_ptr))
    for task in np.flatnonzero(placed.node_number < 0).tolist():
        if int(kind[task]) not in out:
            if len(out) == most:
                break
            out[int(kind[task])] = str(placed.explain(str(instance.tasks[task])))
    return list(out.values())


def message_of(placed: pl.Placed) -> str:
    """What the status says about the value."""
    if placed.placed == len(placed.instance.tasks):
        return "Every task is placed."
    if placed.gap < _NONE:
        return "No placement is worth more."
    if placed.status is Status.OPTIMAL:
        return f"No placement is worth more than {100 * placed.gap:.2g} % above this one."
    return (
        "The placement keeps all limits; the bound leaves open whether more can be placed. "
        f"Gap: {100 * placed.gap:.2g} %."
    )
