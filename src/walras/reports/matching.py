"""What a plan came to: facts, clusters and placements as tables."""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np

from walras.matching import Placement, Plan, Reason
from walras.reports.tables import Cell, Table, show

_ENDS = ("low", "high")


def facts_of(plan: Plan, left_out: int) -> dict[str, Cell]:
    """What a plan is worth and how that is proved, by the name of the fact.

    Args:
        plan: The plan.
        left_out: Tasks whose rows could not be used.
    """
    price, terms = plan.round.shortfall_price, plan.round.terms
    moved = (
        None
        if terms is None or not terms.previous.max() >= 0
        else terms.moved(plan.assignment.astype(np.int64))
    )
    return {
        "status": str(plan.status),
        "tasks": plan.round.shape[1],
        "tasks left out": left_out,
        "clusters": plan.round.shape[0],
        "makespan": plan.makespan,
        "mean success": plan.mean_success,
        "floor": plan.round.min_success,
        "shortfall price": price,
        "moved tasks": None if moved is None else int(moved.sum()),
        "objective": plan.value,
        "bound": plan.bound,
        "gap": plan.gap,
        "utilisation": plan.utilisation,
        "what binds": "; ".join(plan.binding),
        "price of the floor, estimated": plan.floor_price_estimate,
        "method": plan.method,
        "seconds": plan.seconds,
    }


def clusters(plan: Plan) -> Table:
    """Tasks and load of each cluster."""
    m, _ = plan.round.shape
    count = np.bincount(plan.assignment, minlength=m)
    rows = [
        (
            plan.round.cluster_name(i),
            int(count[i]),
            float(plan.loads[i]),
            float(plan.loads[i] / plan.makespan),
        )
        for i in range(m)
    ]
    return Table(("cluster", "tasks", "load", "share of the makespan"), rows)


def placements(plan: Plan) -> Table:
    """One row a task, every field of its explanation; of intervals that were given, both ends."""
    ends = [
        name
        for name, given in (
            ("time_interval", plan.round.times_interval),
            ("success_interval", plan.round.success_interval),
        )
        if given is not None
    ]
    names = [f.name for f in fields(Placement) if not f.name.endswith("_interval")]
    columns = [f"{name.removesuffix('_interval')}_{end}" for name in ends for end in _ENDS]
    rows = [
        [*(getattr(p, name) for name in names), *(end for name in ends for end in getattr(p, name))]
        for p in plan.placements()
    ]
    return Table((*names, *columns), [[_plain(cell) for cell in row] for row in rows])


def _plain(cell: Cell) -> Cell:
    """Nothing for a number that is not finite: there is no runner-up."""
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def shown(plan: Plan, most: int) -> Table:
    """The longest placements, each in one line of a terminal.

    Args:
        plan: The plan.
        most: Number of rows.
    """
    found = sorted(plan.placements(), key=lambda p: -p.time)
    rows = [_line(placement, plan) for placement in found[:most]]
    title = f"the {len(rows)} longest of {len(found)} tasks"
    if len(rows) < len(found):
        title = f"{len(rows)} of {len(found)} tasks shown, longest first; -o csv has all"
    return Table(("task", "cluster", "time", "success", "runner-up", "because"), rows, title)


def _line(found: Placement, plan: Plan) -> tuple[Cell, ...]:
    runner = None
    if found.runner_up is not None:
        rise = found.makespan_if_moved - plan.makespan
        runner = f"{found.runner_up} {'floor' if found.breaks_floor else f'{rise:+.3g}'}"
    time, success = show(found.time, 4), show(found.success, 3)
    if found.time_interval is not None:
        time += f" ({'-'.join(show(end, 3) for end in found.time_interval)})"
    if found.success_interval is not None:
        success += f" ({'-'.join(show(end, 3) for end in found.success_interval)})"
    return found.task, found.cluster, time, success, runner, found.reason_code


def legend(plan: Plan, most: int) -> str:
    """What the codes in the table of :func:`shown` mean, those alone that occur there."""
    found = sorted(plan.placements(), key=lambda p: -p.time)[:most]
    codes = [code for code in Reason if any(p.reason_code == code for p in found)]
    because = "; ".join(f"{code}: {code.meaning}" for code in codes)
    floor = ", or 'floor' where it would break the floor of success"
    floor = floor if any(p.breaks_floor for p in found) else ""
    return (
        f"runner-up: the next best cluster, and what moving the task there adds to the "
        f"makespan{floor}. because: {because}."
    )
