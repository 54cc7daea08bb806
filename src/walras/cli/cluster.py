"""``walras solve cluster``: shares of a cluster's time, from CSV tables."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
import typer

from walras import checks
from walras.cli.common.engine_options import (
    EngineName,
    EngineOption,
    OldCollapse,
    OldMode,
    OldParts,
    OldSeed,
    engine_from,
)
from walras.cli.common.errors import ended, ending
from walras.cli.common.output import Format, OutputOption, emit
from walras.cli.common.solving import (
    TOLERANCE,
    Device,
    Polish,
    Report,
    ShowProgress,
    Threads,
    TimeLimit,
    Tolerance,
    refuse_unless,
    run,
)
from walras.cli.common.streams import put, tell
from walras.cli.common.targets import check_report, check_save
from walras.domains import cluster_scheduling as cs
from walras.domains.cluster_scheduling.tables import ClusterTables, read_shares, read_tables
from walras.errors import InputError
from walras.reports.cluster import ClusterResult, worth_table
from walras.reports.tables import Table, to_json
from walras.saving import load
from walras.separable import Leximin, Separable
from walras.solution import Solution
from walras.solving import solve

_SHOWN = 12  # jobs in the table; json and csv have all of them
_NAMED = 10  # rows left out that are named

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


HELP = """Share a cluster's time among jobs: an allocation, its value, and its proof.

The tables are CSV files with a header line:

  \b
  throughput   job, then one column a resource type: work per second;
               empty or 0 where the job cannot run
  jobs         job, size (GPUs it occupies); optional: weight (priority),
               steps (work left, for makespan), group (for the quota)
  resources    resource, capacity (GPUs of that type; 0: drained)
  quota        group, limit (GPUs its jobs may hold together);
               optional: parent (the group around it)
  previous     as throughput, with shares of time; -o csv prints it so

Other columns are ignored, with a warning.

Examples:

  walras solve cluster --throughput t.csv --jobs j.csv --resources r.csv

  walras solve cluster --throughput t.csv --jobs j.csv --resources r.csv
  --objective proportional --normalise share -o csv

  walras solve cluster --throughput t.csv --jobs j.csv --resources r.csv
  --drain v100 --explain job7 --worth --report round.html

Exit codes: 0 optimal, or the gap that is proved where no --tolerance is given;
2 bad input, 3 infeasible, 4 unbounded, 5 a limit came first or the --tolerance
was missed, 6 a file cannot be read, 130 interrupted; 5 and 130 still print an
allocation.
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


Drain = Annotated[list[str] | None, typer.Option(help="A resource to leave empty; repeat.")]
KeepGood = Annotated[
    bool, typer.Option("--keep-good", help="Leave out rows that cannot be used, and list them.")
]
Explain = Annotated[
    list[str] | None, typer.Option(metavar="JOB", help="Why a job got what it got; repeat.")
]
Worth = Annotated[
    bool, typer.Option("--worth", help="What one more of each resource buys, and how far.")
]
Save = Annotated[Path | None, typer.Option(help="Write the solution to an .npz file.")]
Diff = Annotated[
    Path | None, typer.Option(help="Why it changed from the solution that --save wrote.")
]


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
    engine: EngineName = "auto",
    engine_option: EngineOption = None,
    parts: OldParts = None,
    seed: OldSeed = None,
    mode: OldMode = None,
    collapse: OldCollapse = False,
    device: Device = "cpu",
    polish: Polish = False,
    start: Annotated[
        Path | None, typer.Option(help="CSV of shares as -o csv prints it: a warm start.")
    ] = None,
    drain: Drain = None,
    keep_good: KeepGood = False,
    explain: Explain = None,
    worth: Worth = False,
    save: Save = None,
    diff: Diff = None,
    report: Report = None,
    threads: Threads = None,
    progress: ShowProgress = True,
    output: OutputOption = Format.TABLE,
) -> None:
    """Share a cluster's time among jobs: an allocation, its value, and its proof."""
    refuse_unless(objective is Objective.ALPHA, "--alpha", alpha, "--objective alpha")
    refuse_unless(objective is Objective.LEXIMIN, "--levels", levels, "--objective leximin")
    refuse_unless(previous is not None, "--churn", churn or None, "--previous FILE")
    refuse_unless(churn > 0, "--previous", previous, "--churn PRICE")
    old = {"parts": parts, "seed": seed, "mode": mode, "collapse": collapse}
    chosen = engine_from(engine, engine_option, old)
    extras: dict[str, object] = {"--explain": explain, "--worth": worth or None, "--diff": diff}
    for option, asked_for in extras.items():
        refuse_unless(output is not Format.CSV, option, asked_for, "-o table or -o json")
    check_report(report)
    check_save(save)
    before = None if diff is None else _earlier(diff)
    given = read_tables(
        throughput, jobs, resources, quota, previous, drain=drain or (), keep_good=keep_good
    )
    _warn(given)
    for job in explain or ():
        checks.one_of(job, "--explain", list(given.throughput.columns), "job")
    if normalise is not Unit.NONE:
        if objective is Objective.MAKESPAN:
            raise InputError(
                "the makespan needs throughputs in steps per second",
                where="--normalise",
                allowed="none with --objective makespan",
                remedy="leave --normalise out",
            )
        given = _normalised(given, normalise)
    first = None if start is None else read_shares(start)
    problem = _state(
        given, objective, 2.0 if alpha is None else alpha, 10 if levels is None else levels, churn
    )
    aim = TOLERANCE if tolerance is None else tolerance
    solution = run(
        lambda on_progress: solve(
            problem,
            engine=chosen,
            tolerance=aim,
            time_limit=time_limit,
            threads=threads,
            on_progress=on_progress,
            device=device,
            polish=polish,
            start=first,
        ),
        aim,
        progress,
        f"solving for {objective}",
        time_limit,
    )
    result = ClusterResult(given, solution, objective is Objective.MAKESPAN)
    asked = _Asked(tuple(explain or ()), worth, before, objective is Objective.MAX_MIN)
    _print(result, asked, output)
    if save is not None:
        solution.save(save)
    if report is not None:
        _write_page(result, asked, report)
    raise typer.Exit(ended(solution.status, solution.gap, tolerance))


def _normalised(given: ClusterTables, unit: Unit) -> ClusterTables:
    per: Literal["gpu", "share"] = "gpu" if unit is Unit.GPU else "share"
    scaled = cs.normalise(given.throughput, given.size, given.capacity, per=per)
    frame = pd.DataFrame(scaled, index=given.throughput.index, columns=given.throughput.columns)
    return replace(given, throughput=frame)


def _state(
    given: ClusterTables, objective: Objective, alpha: float, levels: int, churn: float
) -> Problem:
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


@dataclass(frozen=True, eq=False)
class _Asked:
    """What is to be printed beside the allocation."""

    explain: tuple[str, ...]
    worth: bool
    before: Solution | None
    max_min: bool


def _earlier(path: Path) -> Solution:
    """The solution in a file.

    Raises:
        InputError: It holds something else.
    """
    found = load(path)
    if not isinstance(found, Solution):
        raise InputError(
            f"holds a {type(found).__name__}",
            where=str(path),
            allowed="a solution",
            remedy="give a file that walras solve cluster --save wrote",
        )
    return found


def _warn(given: ClusterTables) -> None:
    """Tell which columns and rows were not used."""
    if given.note:
        tell(f"warning: {given.note}")
    if given.left_out:
        tell(f"left out {len(given.left_out)} rows that cannot be used:")
        for label, reason in list(given.left_out.items())[:_NAMED]:
            tell(f"  {label}: {reason}")
        if len(given.left_out) > _NAMED:
            tell(f"  and {len(given.left_out) - _NAMED} more; -o json lists all")
    if given.previous is not None:
        gone = [j for j in given.previous.columns if j not in given.throughput.columns]
        lost = [r for r in given.previous.index if r not in given.throughput.index]
        for kind, names in (("jobs", gone), ("resources", lost)):
            if names:
                tell(f"--previous: {kind} of no line now, left out: {checks.few(names)}")


def _print(result: ClusterResult, asked: _Asked, output: Format) -> None:
    solution = result.solution
    if output is Format.CSV:
        emit(result.shares(), output)
        return
    if output is Format.JSON:
        put(to_json({**result.record(), **_extras(solution, asked)}))
        return
    emit(Table(("", "solution"), list(result.facts().items())))
    emit(result.resources())
    quotas = result.quotas()
    if quotas is not None:
        emit(quotas)
    emit(result.jobs(_SHOWN))
    for job in asked.explain:
        put(f"{solution.explain(job)}\n")
    if asked.worth:
        emit(worth_table(solution))
    if asked.before is not None:
        put(f"{solution.diff(asked.before)}\n")
    tell(ending(solution.status, solution.gap, solution.gap_unit))
    hint = result.hint() if asked.max_min else ""
    if hint:
        tell(hint)


def _extras(solution: Solution, asked: _Asked) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if asked.explain:
        found["explanations"] = {job: str(solution.explain(job)) for job in asked.explain}
    if asked.worth:
        found["worth"] = worth_table(solution).records()
    if asked.before is not None:
        found["diff"] = str(solution.diff(asked.before))
    return found


def _write_page(result: ClusterResult, asked: _Asked, path: Path) -> None:
    # Imported here: matplotlib is an optional extra and takes half a second.
    from walras.plot import write
    from walras.reports.cluster_page import page

    write(page(result, asked.explain, asked.before), path)
