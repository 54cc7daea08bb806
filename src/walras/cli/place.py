"""``walras place``: tasks with CPU, memory and GPUs on real machines, with a proved bound."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from walras.cli.common.errors import ended
from walras.cli.common.output import Format, OutputOption, emit
from walras.cli.common.progress import Interruptible, Stages
from walras.cli.common.solving import ShowProgress, TimeLimit
from walras.cli.common.streams import put, tell
from walras.domains import placement as pl
from walras.reports.place import facts_of, message_of, reasons, tasks_table
from walras.reports.tables import Table, record, to_json

_SHOWN = 20  # tasks in the table; json and csv have all of them
_AIM = 1e-3  # relative gap that is aimed at where no tolerance is asked for
_REASONS = 5  # types of tasks of which the table says why they are not placed

HELP = """Place tasks with CPU, memory and GPUs on nodes, so that what is placed is worth most.

The tables are CSV files:

  nodes   node; gpus, model; every other column is a resource, such as cpu

  tasks   task, and the resources of the nodes; optional: gpus (a share below 1,
          or a whole number), model (T4|A10: either; empty: any), affinity
          (tasks of one label are on one node), anti_affinity (a node holds one
          task of a label), value (its GPUs if left out), node (where it runs
          now)

Tasks that run stay where they are, unless --move-price says what a move costs,
in the unit of the values.

Examples:

  walras place --nodes n.csv --tasks t.csv

  walras place --nodes n.csv --tasks t.csv --move-price 0.1 -o csv

  walras place --nodes n.csv --tasks t.csv --tolerance 0 --time-limit 60 -o json

Exit codes: 0 done, 2 bad input, 5 the tolerance was not reached, 6 file not
found, 130 interrupted.
"""


def place(
    nodes: Annotated[Path, typer.Option(help="CSV table of the nodes.")],
    tasks: Annotated[Path, typer.Option(help="CSV table of the tasks.")],
    move_price: Annotated[
        float | None, typer.Option(help="Cost of moving a task that runs; left out: all stay.")
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(help="Certified gap that must be reached; left out: 0.001."),
    ] = None,
    attempts: Annotated[int, typer.Option(help="Attempts of the local search, a node.")] = 40,
    time_limit: TimeLimit = None,
    seed: Annotated[int, typer.Option(help="Of the search.")] = 0,
    progress: ShowProgress = True,
    output: OutputOption = Format.TABLE,
) -> None:
    """Place tasks with CPU, memory and GPUs on nodes, so that what is placed is worth most."""
    aim = _AIM if tolerance is None else tolerance
    with (
        Interruptible() as interrupt,
        Stages(
            {"placing": 1.0}, max(aim, 1e-9), interrupt, shown=progress, limit=time_limit
        ) as stages,
    ):
        options = pl.Options(
            tolerance=aim,
            attempts=attempts,
            time_limit=time_limit,
            seed=seed,
            on_progress=stages.begin("placing"),
        )
        placed = pl.solve_instance(pl.read_instance(nodes, tasks, move_price), options)
    _print(placed, output)
    raise typer.Exit(ended(placed.status, placed.gap, tolerance))


def _print(placed: pl.Placed, output: Format) -> None:
    if output is Format.CSV:
        emit(tasks_table(placed), output)
        return
    facts = facts_of(placed)
    if output is Format.JSON:
        put(to_json({**record(facts).records()[0], "placement": tasks_table(placed).records()}))
        return
    emit(Table(("", "placed"), list(facts.items())))
    emit(tasks_table(placed, _SHOWN))
    for reason in reasons(placed, _REASONS):
        tell(reason)
    tell(message_of(placed))


app = typer.Typer(add_completion=False)
app.command("place", help=HELP)(place)
