"""``walras solve``: problems from CSV tables, a network or an MPS file."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from typer.core import TyperGroup

from walras.cli.cluster import HELP as CLUSTER_HELP
from walras.cli.cluster import cluster
from walras.cli.common.errors import ended, ending
from walras.cli.common.output import Format, OutputOption, emit
from walras.cli.common.solving import (
    TOLERANCE,
    ShowProgress,
    Threads,
    TimeLimit,
    Tolerance,
    run,
)
from walras.cli.common.streams import put, tell
from walras.cli.traffic import HELP as TRAFFIC_HELP
from walras.cli.traffic import traffic
from walras.reports.solution import facts_of
from walras.reports.tables import Table, to_json
from walras.separable import Separable
from walras.separable.mps import read_mps
from walras.solution import Solution
from walras.solving import solve

_SHOWN = 12  # jobs in the table; json and csv have all of them


class FileOrCommand(TyperGroup):
    """Takes a file name in the place of a sub-command: ``walras solve problem.mps``."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The sub-command named, or the one for files."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            return "FILE", self.commands["FILE"], args
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=FileOrCommand, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False
)


@app.callback()
def root() -> None:
    """Solve a problem from CSV tables, a network or an MPS file.

    Examples:

      walras solve cluster --throughput t.csv --jobs jobs.csv --resources r.csv

      walras solve traffic --network UsCarrier --demand lognormal

      walras solve problem.mps
    """


app.command("cluster", help=CLUSTER_HELP)(cluster)
app.command("traffic", help=TRAFFIC_HELP)(traffic)


@app.command("FILE")
def file(
    path: Annotated[Path, typer.Argument(help=".mps or .lp, plain or .gz.", metavar="FILE")],
    tolerance: Tolerance = None,
    time_limit: TimeLimit = None,
    threads: Threads = None,
    progress: ShowProgress = True,
    output: OutputOption = Format.TABLE,
) -> None:
    """Solve a linear or mixed-integer program from a file, by the exact engine.

    Examples:

      walras solve problem.mps

      walras solve problem.lp.gz --time-limit 60 -o json

    Exit codes: as for walras solve cluster.
    """
    problem = _read_program(path)
    aim = TOLERANCE if tolerance is None else tolerance
    solution = run(
        lambda on_progress: solve(
            problem,
            engine="exact",
            tolerance=aim,
            time_limit=time_limit,
            threads=threads,
            on_progress=on_progress,
        ),
        aim,
        progress,
        f"solving {path.name}",
        time_limit,
    )
    _print_program(solution, output)
    raise typer.Exit(ended(solution.status, solution.gap, tolerance))


def _read_program(path: Path) -> Separable:
    """The program of a file; what is read in HiGHS' own way is said, line by line."""
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        problem = read_mps(path)
    for note in notes:
        tell(f"warning: {note.message}")
    return problem


def _print_program(solution: Solution, output: Format) -> None:
    """Columns by name; on a terminal those that are not zero, largest first."""
    names, x = solution.problem.demand_names, solution.entries
    columns = list(zip(names, x.tolist(), strict=True))
    if output is Format.CSV:
        emit(Table(("column", "value"), columns), output)
        return
    facts = facts_of(solution, solution.certificate.violation)
    if output is Format.JSON:
        rows = solution.problem.rows
        prices = {rows.name(r): float(p) for r, p in enumerate(solution.prices.rows)}
        summary = Table(tuple(facts), [tuple(facts.values())]).records()[0]
        put(to_json({**summary, "columns": dict(columns), "prices": prices}))
        return
    emit(Table(("", "solution"), list(facts.items())))
    largest = [k for k in np.argsort(-np.abs(x), kind="stable")[:_SHOWN].tolist() if x[k]]
    title = f"{len(largest)} of {np.count_nonzero(x)} nonzero columns (of {len(x)})"
    emit(Table(("column", "value"), [columns[k] for k in largest], title))
    tell(ending(solution.status, solution.gap, solution.gap_unit))
