"""``walras match``: place the tasks of a round on clusters, from CSV tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer

from walras.cli.common.errors import ended, ending
from walras.cli.common.output import Format, OutputOption, emit
from walras.cli.common.progress import Interruptible, Stages
from walras.cli.common.solving import TOLERANCE, ShowProgress, Threads, TimeLimit, Tolerance
from walras.cli.common.streams import put, tell
from walras.cli.match_intervals import Ends, check_same, interval
from walras.data.formats.sheet import Sheet, read
from walras.errors import InputError, WalrasError
from walras.matching import MatchSettings, Placement, Plan, Round, match_round
from walras.matching.match import first_step
from walras.progress import Progress
from walras.reports.tables import Cell, Table, show, to_json
from walras.types import Floats

_SHOWN = 20  # tasks in the table; json and csv have all of them
_NAMED = 5  # tasks left out that are named
_ENDS = ("low", "high")

HELP = """Place tasks on clusters: the slowest ends soonest, and enough succeed.

The tables are CSV files with a header line:

  \b
  times       task, then one column a cluster: seconds, or any unit;
              empty where the cluster cannot run the task
  success     task, then the same clusters: chance of success, 0 to 1;
              it may be empty where times is
  speedup     cluster, 1, 2, 3, ...: time of so many tasks together over the
              sum of their times; the last holds for more
  times-low, times-high, success-low, success-high
              ends of intervals, in the form of times and success, for the
              explanations; both of a pair, or neither

Examples:

  walras match --times t.csv --success a.csv --min-success 0.8

  walras match --times t.csv --success a.csv --min-success 0.9 -o csv

  walras match --times t.csv --success a.csv --times-low l.csv --times-high h.csv

Exit codes: 0 optimal, 2 bad input, 3 no placement reaches the floor, 5 a limit
came before the tolerance, 6 a file cannot be read, 130 interrupted; 5 and 130
still print a plan with its certified gap.
"""


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command("match", help=HELP)
def match(
    times: Annotated[Path, typer.Option(help="CSV: task, then a column a cluster.")],
    success: Annotated[Path, typer.Option(help="CSV: task, then a column a cluster.")],
    min_success: Annotated[float, typer.Option(help="Least mean chance over the tasks.")] = 0.8,
    shortfall_price: Annotated[
        float | None, typer.Option(help="Price of a unit of missing success; a soft floor.")
    ] = None,
    speedup: Annotated[Path | None, typer.Option(help="CSV: cluster, 1, 2, ...")] = None,
    times_low: Annotated[Path | None, typer.Option(help="CSV: lower ends of times.")] = None,
    times_high: Annotated[Path | None, typer.Option(help="CSV: their upper ends.")] = None,
    success_low: Annotated[Path | None, typer.Option(help="CSV: lower ends of chances.")] = None,
    success_high: Annotated[Path | None, typer.Option(help="CSV: their upper ends.")] = None,
    keep_good: Annotated[
        bool, typer.Option("--keep-good", help="Leave out tasks whose lines are bad.")
    ] = False,
    method: Annotated[str, typer.Option(help="auto, branch-and-bound, search or milp.")] = "auto",
    seed: Annotated[int, typer.Option(help="Of the search.")] = 0,
    tolerance: Tolerance = None,
    time_limit: TimeLimit = None,
    threads: Threads = None,
    progress: ShowProgress = True,
    output: OutputOption = Format.TABLE,
) -> None:
    """Place tasks on clusters: the slowest ends soonest, and enough succeed."""
    read_tables = _read(times, success, keep_good=keep_good)
    given = _round(
        read_tables,
        min_success,
        shortfall_price,
        speedup,
        (times_low, times_high),
        (success_low, success_high),
    )
    aim = TOLERANCE if tolerance is None else tolerance
    first = f"matching: {first_step(given, method)}"
    with (
        Interruptible() as interrupt,
        Stages(
            {first: 1.0}, max(aim, 1e-12), interrupt, shown=progress, limit=time_limit
        ) as stages,
    ):
        heard = stages.begin(first)

        def on_progress(step: Progress) -> bool:
            stages.rename(f"matching: {step.note or 'end'}")
            return heard(step)

        settings = MatchSettings(method, aim, time_limit, threads, seed, on_progress)
        plan = match_round(given, settings)
    _print(plan, read_tables, output)
    raise typer.Exit(ended(plan.status, plan.gap, tolerance))


@dataclass(frozen=True, eq=False)
class _Tables:
    """Times and chances, tasks in rows.

    Attributes:
        times: (tasks, clusters), ``inf`` where a cluster cannot run a task.
        success: (tasks, clusters).
        left_out: Tasks whose lines were bad.
    """

    times: pd.DataFrame
    success: pd.DataFrame
    left_out: tuple[str, ...]


def _read(times: Path, success: Path, *, keep_good: bool) -> _Tables:
    first, second = read(times, "task", (), None), read(success, "task", (), None)
    clusters = first.columns[1:]
    check_same(second.columns[1:], clusters, second, "cluster", str(first.path))
    check_same(second.keys, first.keys, second, "task", str(first.path))
    rows = {line["task"].text: line for line in second.lines}
    seconds: dict[str, list[float]] = {}
    chances: dict[str, list[float]] = {}
    errors: dict[str, WalrasError] = {}
    for line in first.lines:
        task = line["task"].text
        try:
            own = [line[c].number(positive=True, empty=np.inf) for c in clusters]
            chances[task] = [
                rows[task][c].number(positive=False, empty=0.0 if t == np.inf else None)
                for c, t in zip(clusters, own, strict=True)
            ]
            seconds[task] = own
        except InputError as error:
            errors[task] = error
    if errors and not (keep_good and seconds):
        worst = next(iter(errors.values()))
        raise InputError(
            worst.what,
            where=worst.where,
            allowed=worst.allowed,
            remedy=f"correct it, or leave {len(errors)} of {len(first.lines)} tasks out with "
            "--keep-good",
        )
    return _Tables(
        _frame(seconds, clusters), _frame(chances, clusters).loc[list(seconds)], tuple(errors)
    )


def _frame(rows: dict[str, list[float]], clusters: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(clusters))


def _round(
    given: _Tables,
    min_success: float,
    price: float | None,
    speedup: Path | None,
    times: Ends,
    success: Ends,
) -> Round:
    curves = None
    if speedup is not None:
        curves = _curves(read(speedup, "cluster", ("1",), None), given.times)
    usable = np.isfinite(given.times.to_numpy())
    return Round.of(
        given.times.T,
        given.success.T,
        min_success,
        curves,
        shortfall_price=price,
        times_interval=interval("times", times, given.times, usable),
        success_interval=interval("success", success, given.success, usable),
    )


def _curves(sheet: Sheet, times: pd.DataFrame) -> Floats:
    """(clusters, counts) ratios, in the order of the clusters of ``times``."""
    counts = [str(k + 1) for k in range(len(sheet.columns) - 1)]
    if list(sheet.columns[1:]) != counts:
        raise InputError(
            f"the columns are {', '.join(sheet.columns)}",
            where=f"{sheet.path}, line 1",
            allowed="cluster, 1, 2, 3, ...",
            remedy="name the columns by the number of tasks",
        )
    wanted = [str(c) for c in times.columns]
    missing = [label for label in wanted if label not in sheet.keys]
    if missing:
        raise InputError(
            f"has no cluster '{missing[0]}'",
            where=str(sheet.path),
            allowed="one line a cluster of the times",
            remedy="add a line for it",
        )
    lines = {line["cluster"].text: line for line in sheet.lines}
    return np.array([[lines[c][k].number(positive=True) for k in counts] for c in wanted])


def _print(plan: Plan, given: _Tables, output: Format) -> None:
    if given.left_out:
        total = len(given.left_out) + len(given.times)
        names = ", ".join(given.left_out[:_NAMED]) + (", ..." if given.left_out[_NAMED:] else "")
        tell(f"left out {len(given.left_out)} of {total} tasks: {names}")
    placements = _placements(plan)
    if output is Format.CSV:
        emit(placements, output)
        return
    facts = _facts(plan, len(given.left_out))
    if output is Format.JSON:
        told = Table(tuple(facts), [tuple(facts.values())]).records()[0]
        clusters = _clusters(plan).records()
        put(to_json({**told, "clusters": clusters, "placements": placements.records()}))
        return
    emit(Table(("", "plan"), list(facts.items())))
    emit(_clusters(plan))
    emit(_shown(placements))
    tell(ending(plan.status, plan.gap))


def _shown(placements: Table) -> Table:
    """The first placements as people read them: both ends of an interval in one cell."""
    names = ("task", "cluster", "time", "success", "runner_up", "makespan_if_moved", "reason")
    columns: list[str] = []
    rows: list[list[Cell]] = [[] for _ in placements.rows[:_SHOWN]]
    for name in names:
        columns.append(name.replace("_", " "))
        ends = [f"{name}_{end}" for end in _ENDS]
        at = [placements.columns.index(c) for c in (name, *ends) if c in placements.columns]
        for row, full in zip(rows, placements.rows, strict=False):
            row.append(full[at[0]])
            row += ["-".join(show(full[k]) for k in at[1:])] if at[1:] else []
        columns += ["from-to"] if at[1:] else []
    title = f"placements of {len(rows)} of {len(placements.rows)} tasks"
    return Table(tuple(columns), rows, title)


def _facts(plan: Plan, left_out: int) -> dict[str, Cell]:
    price = plan.round.shortfall_price
    return {
        "status": str(plan.status),
        "tasks": plan.round.shape[1],
        "tasks left out": left_out,
        "clusters": plan.round.shape[0],
        "makespan": plan.makespan,
        "mean success": plan.mean_success,
        "floor": plan.round.min_success,
        "shortfall price": price,
        "objective": plan.value,
        "bound": plan.bound,
        "gap": plan.gap,
        "utilisation": plan.utilisation,
        "what binds": "; ".join(plan.binding),
        "price of the floor, estimated": plan.floor_price_estimate,
        "method": plan.method,
        "seconds": plan.seconds,
    }


def _clusters(plan: Plan) -> Table:
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


def _placements(plan: Plan) -> Table:
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
