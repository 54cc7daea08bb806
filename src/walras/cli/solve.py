"""``walras solve``: problems from CSV tables, a network or an MPS file."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
import typer
from typer.core import TyperGroup

from walras.cli.common import tables
from walras.cli.common.errors import ended, ending
from walras.cli.common.output import Format, OutputOption, emit
from walras.cli.common.solving import (
    TOLERANCE,
    Collapse,
    Device,
    Engine,
    Mode,
    Parts,
    Polish,
    ShowProgress,
    Threads,
    TimeLimit,
    Tolerance,
    facts_of,
    refuse_unless,
    run,
)
from walras.cli.common.streams import put, tell
from walras.cli.common.tables import Tables
from walras.cli.traffic import HELP as TRAFFIC_HELP
from walras.cli.traffic import traffic
from walras.domains import cluster_scheduling as cs
from walras.errors import InputError
from walras.reports.tables import Cell, Table, to_json
from walras.separable import Leximin, Separable
from walras.separable.mps import read_mps
from walras.solution import Solution
from walras.solving import solve
from walras.types import Floats

_SHOWN = 12  # jobs in the table; json and csv have all of them
_SMALL = 5e-4  # shares of time below this are not worth a word
_NEGLIGIBLE = 1e-9  # shares of time below this are rounding

Problem = Separable | Leximin


class Objective(enum.StrEnum):
    """What ``walras solve cluster`` can aim at."""

    MAX_MIN = "max-min"
    PROPORTIONAL = "proportional"
    ALPHA = "alpha"
    THROUGHPUT = "throughput"
    MAKESPAN = "makespan"
    LEXIMIN = "leximin"


class Unit(enum.StrEnum):
    """Units of throughput, see :func:`walras.domains.cluster_scheduling.normalise`."""

    NONE = "none"
    GPU = "gpu"
    SHARE = "share"


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


_CLUSTER_HELP = """Share a cluster's time among jobs: an allocation, its value, and its proof.

The tables are CSV files with a header line:

  \b
  throughput   job, then one column a resource type: work per second;
               empty or 0 where the job cannot run
  jobs         job, size (GPUs it occupies); optional: weight (priority),
               steps (work left, for makespan), group (for the quota)
  resources    resource, capacity (GPUs of that type)
  quota        group, limit (GPUs its jobs may hold together);
               optional: parent (the group around it)
  previous     as throughput, with shares of time; -o csv prints it so

Examples:

  walras solve cluster --throughput t.csv --jobs j.csv --resources r.csv

  walras solve cluster --throughput t.csv --jobs j.csv --resources r.csv
  --objective proportional --normalise share -o csv

Exit codes: 0 optimal, 2 bad input, 3 infeasible, 4 unbounded, 5 a limit came
before the tolerance, 6 a file cannot be read, 130 interrupted; 5 and 130 still
print an allocation.
"""


Alpha = Annotated[
    float | None, typer.Option(min=0, max=100, help="For --objective alpha: 2 when left out.")
]
Levels = Annotated[
    int | None, typer.Option(help="For --objective leximin: rounds, 10 when left out.")
]
Normalise = Annotated[
    Unit, typer.Option(help="Throughputs in average GPUs (times size), or in equal shares.")
]


@app.command("cluster", help=_CLUSTER_HELP)
def cluster(
    throughput: Annotated[Path, typer.Option(help="CSV: job, then a column a resource type.")],
    jobs: Annotated[Path, typer.Option(help="CSV: job, size[, weight][, steps][, group].")],
    resources: Annotated[Path, typer.Option(help="CSV: resource, capacity.")],
    objective: Annotated[Objective, typer.Option(help="What to aim at.")] = Objective.MAX_MIN,
    alpha: Alpha = None,
    levels: Levels = None,
    normalise: Normalise = Unit.NONE,
    quota: Annotated[Path | None, typer.Option(help="CSV: group, limit[, parent].")] = None,
    previous: Annotated[
        Path | None, typer.Option(help="CSV as --throughput: shares of time before.")
    ] = None,
    churn: Annotated[float, typer.Option(help="Price of a GPU given or taken.")] = 0.0,
    tolerance: Tolerance = None,
    time_limit: TimeLimit = None,
    engine: Engine = "auto",
    parts: Parts = None,
    seed: Annotated[
        int | None, typer.Option(help="For --engine pop: of its random split, 0 when left out.")
    ] = None,
    device: Device = "cpu",
    mode: Mode = None,
    collapse: Collapse = False,
    polish: Polish = False,
    start: Annotated[
        Path | None, typer.Option(help="CSV of shares as -o csv prints it: a warm start.")
    ] = None,
    threads: Threads = None,
    progress: ShowProgress = True,
    output: OutputOption = Format.TABLE,
) -> None:
    """Share a cluster's time among jobs: an allocation, its value, and its proof."""
    refuse_unless(objective is Objective.ALPHA, "--alpha", alpha, "--objective alpha")
    refuse_unless(objective is Objective.LEXIMIN, "--levels", levels, "--objective leximin")
    refuse_unless(previous is not None, "--churn", churn or None, "--previous FILE")
    refuse_unless(churn > 0, "--previous", previous, "--churn PRICE")
    for option, value in (("--parts", parts), ("--seed", seed)):
        refuse_unless(engine == "pop", option, value, "--engine pop")
    given = tables.load(throughput, jobs, resources, quota, previous)
    if normalise is not Unit.NONE:
        if objective is Objective.MAKESPAN:
            raise InputError(
                "the makespan needs throughputs in steps per second",
                where="--normalise",
                allowed="none with --objective makespan",
                remedy="leave --normalise out",
            )
        given = _normalised(given, normalise)
    first = None if start is None else tables.read_shares(start)
    problem = _state(
        given, objective, 2.0 if alpha is None else alpha, 10 if levels is None else levels, churn
    )
    aim = TOLERANCE if tolerance is None else tolerance
    solution = run(
        lambda on_progress: solve(
            problem,
            engine=engine,
            tolerance=aim,
            time_limit=time_limit,
            threads=threads,
            parts=parts,
            seed=seed,
            on_progress=on_progress,
            device=device,
            mode=mode,
            collapse=collapse or None,
            polish=polish,
            start=first,
        ),
        aim,
        progress,
        f"solving for {objective}",
        time_limit,
    )
    _print_cluster(given, solution, objective, output)
    raise typer.Exit(ended(solution.status, solution.gap, tolerance))


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


def _normalised(given: Tables, unit: Unit) -> Tables:
    per: Literal["gpu", "share"] = "gpu" if unit is Unit.GPU else "share"
    scaled = cs.normalise(given.throughput, given.size, given.capacity, per=per)
    frame = pd.DataFrame(scaled, index=given.throughput.index, columns=given.throughput.columns)
    return replace(given, throughput=frame)


def _state(given: Tables, objective: Objective, alpha: float, levels: int, churn: float) -> Problem:
    """The problem in the words of the domain."""
    common: dict[str, Any] = {
        "throughput": given.throughput,
        "size": given.size,
        "capacity": given.capacity,
        "quota": given.quota,
        "previous": given.previous,
        "churn": churn,
    }
    if objective is Objective.MAKESPAN:
        if given.steps is None:
            raise InputError(
                "the makespan needs the work that each job has left",
                where="--objective makespan",
                allowed="a column 'steps' in --jobs",
                remedy="add it",
            )
        return cs.min_makespan(steps=given.steps, weight=given.weight, **common)
    common["weight"] = given.weight
    statements: dict[Objective, Callable[[], Problem]] = {
        Objective.MAX_MIN: lambda: cs.max_min(**common),
        Objective.PROPORTIONAL: lambda: cs.proportional_fairness(**common),
        Objective.ALPHA: lambda: cs.alpha_fair(alpha=alpha, **common),
        Objective.THROUGHPUT: lambda: cs.total_throughput(**common),
        Objective.LEXIMIN: lambda: cs.leximin(levels=levels, **common),
    }
    return statements[objective]()


def _print_cluster(given: Tables, solution: Solution, objective: Objective, output: Format) -> None:
    x = np.where(solution.x > _NEGLIGIBLE, solution.x, 0.0)
    resources, jobs = list(given.throughput.index), list(given.throughput.columns)
    if output is Format.CSV:
        shares = [(job, *column) for job, column in zip(jobs, x.T.tolist(), strict=True)]
        emit(Table(("job", *resources), shares), output)
        return
    judged = cs.evaluate(
        given.throughput, given.size, given.capacity, x, given.weight, quota=given.quota
    )
    facts = _facts(solution, judged.violation, objective)
    due = np.ones(len(jobs))
    if objective is Objective.MAKESPAN and given.steps is not None:
        due = np.asarray(given.steps)
        ends = due / np.maximum(judged.throughput, np.finfo(float).tiny)
        facts["makespan in seconds"] = float(np.max(ends))
    worth = Table(
        ("resource", "capacity", "used", "price of one more"),
        list(
            zip(
                resources,
                judged.capacity.tolist(),
                judged.used.tolist(),
                np.abs(solution.prices.resources).tolist(),
                strict=True,
            )
        ),
    )
    if output is Format.JSON:
        allocation = [
            {
                "job": job,
                "throughput": float(judged.throughput[j]),
                "shares": {resources[i]: float(x[i, j]) for i in np.flatnonzero(x[:, j])},
            }
            for j, job in enumerate(jobs)
        ]
        told = Table(tuple(facts), [tuple(facts.values())]).records()[0]
        put(to_json({**told, "resources": worth.records(), "allocation": allocation}))
        return
    emit(Table(("", "solution"), list(facts.items())))
    emit(worth)
    emit(_worst_off(x, judged, due, resources, jobs))
    tell(ending(solution.status, solution.gap, solution.gap_unit))


def _worst_off(
    x: Floats,
    judged: cs.Evaluation,
    due: Floats,
    resources: list[str],
    jobs: list[str],
) -> Table:
    """The jobs that get least of what is due: by weight, and of a makespan by the steps left."""
    entitled = due * judged.weight
    order = np.argsort(judged.throughput / entitled, kind="stable")[:_SHOWN].tolist()
    rows = [
        (
            jobs[j],
            float(judged.throughput[j]),
            ", ".join(
                f"{resources[i]} {x[i, j]:.3f}" for i in np.argsort(-x[:, j]) if x[i, j] > _SMALL
            ),
        )
        for j in order
    ]
    title = f"worst off {len(rows)} of {len(jobs)} jobs"
    return Table(("job", "throughput", "shares of time"), rows, title)


def _print_program(solution: Solution, output: Format) -> None:
    """Columns by name; on a terminal those that are not zero, largest first."""
    names, x = solution.problem.demand_names, solution.entries
    columns = list(zip(names, x.tolist(), strict=True))
    if output is Format.CSV:
        emit(Table(("column", "value"), columns), output)
        return
    facts = _facts(solution, solution.certificate.violation, None)
    if output is Format.JSON:
        rows = solution.problem.rows
        prices = {rows.name(r): float(p) for r, p in enumerate(solution.prices.rows)}
        told = Table(tuple(facts), [tuple(facts.values())]).records()[0]
        put(to_json({**told, "columns": dict(columns), "prices": prices}))
        return
    emit(Table(("", "solution"), list(facts.items())))
    largest = [k for k in np.argsort(-np.abs(x), kind="stable")[:_SHOWN].tolist() if x[k]]
    title = f"{len(largest)} of {np.count_nonzero(x)} nonzero columns (of {len(x)})"
    emit(Table(("column", "value"), [columns[k] for k in largest], title))
    tell(ending(solution.status, solution.gap, solution.gap_unit))


def _facts(solution: Solution, violation: float, objective: Objective | None) -> dict[str, Cell]:
    facts = facts_of(solution, violation)
    if objective is Objective.LEXIMIN:
        facts["levels"] = ", ".join(f"{level.value:.6g}" for level in solution.levels)
    return facts
