"""``walras simulate run``: a policy on a trace of jobs, in virtual time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from walras.cli.common.errors import ExitCode
from walras.cli.common.output import Format, OutputOption, emit
from walras.cli.common.progress import Interruptible, Stages
from walras.cli.common.solving import ShowProgress, refuse_unless
from walras.cli.common.streams import tell
from walras.cli.common.targets import check_folder, check_save, check_table
from walras.cli.exchange.connect import key_values
from walras.cli.simulate.loading import (
    ClusterOption,
    FormatOption,
    MapOption,
    NodesOption,
    SpeedsOption,
    TypeOption,
    cluster_table,
    load,
    load_tasks,
    trace_options,
)
from walras.cli.simulate.options import range_of, value_of
from walras.cli.simulate.units import in_fitting_unit
from walras.errors import InputError
from walras.policies import savings_bound
from walras.policies.named import named
from walras.policies.named_placements import named_placement
from walras.predict.logs.log import TABLES
from walras.reports.tables import Table, of_frame
from walras.simulate import NO_POLICY, Run, TaskTrace, Trace, by_kind, export_run, run, summary
from walras.simulate.compare.comparison import rows_of_bounds
from walras.simulate.formats.write import check_table as check_kind
from walras.simulate.metrics import SECONDS
from walras.simulate.placed.tables import DRAW as DRAW_TASKS
from walras.simulate.scenario import DRAW, Scenario, read_scenario

HELP = """Run a policy on a trace of jobs in virtual time.

CONFIG is a TOML file; options replace what it says. `walras simulate
example` prints one. Without a trace, the stream of Gavel's evaluation is
drawn. A drawn trace, and one of Gavel's format, has by itself the cluster
v100=36, p100=36, k80=36 and the policy fifo. A log that does not state its
machine needs --cluster. With --world placed, tasks are drawn, and are placed
on the clusters east=8, west=8 by the policy exchange.

Examples:

  walras simulate run --draw rate=2.0 --draw jobs=500 --policy las

  walras simulate run --trace jobs.trace --cluster v100=8 --cluster k80=8

  walras simulate run --trace log.swf --cluster cpu=128 --export results

  walras simulate run --failures between=360000 --failures checkpoint=1800

  walras simulate run config.toml --policy my_policy.py:policy -o json

  walras simulate run --world placed --draw tasks=500 --policy first_fit

Exit codes: 0 done, 2 bad input, 6 a file cannot be read, 130 interrupted, with
the jobs so far.
"""


DRAWS = f"NAME=VALUE: {', '.join(DRAW)}; of tasks {', '.join(DRAW_TASKS)}."


def run_command(
    config: Annotated[Path | None, typer.Argument(help="A TOML file.")] = None,
    trace: Annotated[Path | None, typer.Option(help="A trace of jobs.")] = None,
    form: FormatOption = None,
    maps: MapOption = None,
    types: TypeOption = None,
    speeds: SpeedsOption = None,
    world: Annotated[
        str | None, typer.Option(help="time_shared, or placed: tasks on clusters with slots.")
    ] = None,
    draw: Annotated[list[str] | None, typer.Option(help=DRAWS)] = None,
    cluster: ClusterOption = None,
    nodes: NodesOption = None,
    policy: Annotated[
        str | None, typer.Option(help="A name, or FILE.py:FUNCTION; else fifo.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE; `simulate policies` has all.")
    ] = None,
    round_seconds: Annotated[
        float | None, typer.Option(help="Length of a round; 0 realises shares exactly.")
    ] = None,
    between_decisions: Annotated[
        float | None, typer.Option(help="Least seconds between decisions.")
    ] = None,
    restart_seconds: Annotated[
        float | None, typer.Option(help="Seconds that a start costs a job.")
    ] = None,
    failures: Annotated[
        list[str] | None,
        typer.Option(help="between=S, repair=S; also checkpoint=S, job=S, max_attempts=N of jobs."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Of failures, and of the order of types.")
    ] = None,
    measured: Annotated[
        str | None, typer.Option(help="FIRST:END of the jobs that are measured.")
    ] = None,
    kinds: Annotated[bool, typer.Option("--kinds", help="Times by class of jobs.")] = False,
    jobs: Annotated[bool, typer.Option("--jobs", help="One row a job.")] = False,
    bound: Annotated[
        bool, typer.Option("--bound", help="Beside it, what no policy can beat; more seconds.")
    ] = False,
    save: Annotated[Path | None, typer.Option(help="Save the run to a file.")] = None,
    ledger: Annotated[
        Path | None, typer.Option(help="Write who got what, as .csv or .parquet.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option(help="Folder for tables, Batsim's jobs and run.json.")
    ] = None,
    tables: Annotated[
        str | None, typer.Option(help="Of --export: csv, parquet or json; csv.")
    ] = None,
    progress: ShowProgress = True,
    output: OutputOption = Format.TABLE,
) -> None:
    """Run a policy on a trace of jobs in virtual time."""
    shown = [key for key, on in zip(_SHOWN, (kinds, jobs, bound), strict=True) if on]
    if len(shown) > 1:
        raise InputError(
            "are both given",
            where=" and ".join(shown[:2]),
            allowed="one of them",
            remedy="leave one out; --export writes the jobs and the measures",
        )
    given = read_scenario(config) if config is not None else Scenario()
    rules = {
        "round_seconds": round_seconds,
        "between_decisions": between_decisions,
        "restart_seconds": restart_seconds,
        "failures": key_values(failures, "failures", value_of) or None,
        "seed": seed,
        "measured": range_of(measured),
    }
    stated = given.with_given(
        world={"kind": world} if world is not None else {},
        trace=({} if trace is None else {"file": str(trace)})
        | key_values(draw, "draw", value_of)
        | trace_options(form, maps, types, speeds),
        cluster=cluster_table(cluster, nodes, form),
        policy=({"name": policy} if policy is not None else {})
        | key_values(option, "option", value_of),
        run={name: value for name, value in rules.items() if value is not None},
    )
    _check_targets(save, ledger, export, tables)
    loaded, on, chosen = _made(stated)
    with (
        Interruptible() as interrupt,
        Stages({"simulate": 1.0}, 1.0, interrupt, shown=progress) as stages,
    ):
        stages.begin("simulate")
        found: Run = run(
            loaded,
            on,
            chosen,
            **stated.settings,
            ledger=ledger is not None,
            on_progress=stages.count,
        )
    table = _table(found, output, kinds=kinds, jobs=jobs, bound=bound)
    emit(in_fitting_unit(table, output), output)  # first: a disk may be full
    _tell_faults(found, loaded)
    if save is not None:
        found.save(save)
    if ledger is not None:
        found.save_ledger(ledger)
    if export is not None:
        export_run(found, export, tables or "csv")
    if interrupt.asked:
        raise typer.Exit(ExitCode.INTERRUPTED)


_SHOWN = ("--kinds", "--jobs", "--bound")


def _check_targets(
    save: Path | None, ledger: Path | None, export: Path | None, tables: str | None
) -> None:
    """Refuse what cannot be written before the run."""
    check_save(save)
    check_table(ledger, "--ledger", TABLES)
    if tables is not None:
        refuse_unless(export is not None, "--tables", tables, "--export")
        check_kind(tables, "--tables")
    check_folder(export)


def _made(stated: Scenario) -> tuple[Any, Any, Any]:
    """Trace, cluster and policy of a world: jobs in shares of time, or tasks to be placed."""
    name = stated.policy["name"]
    options = {key: value for key, value in stated.policy.items() if key != "name"}
    if not stated.placed:
        chosen = named(name, **options)
        return *load(stated), chosen
    tasks, slots = load_tasks(stated)
    return tasks, slots, named_placement(name, tasks.predict, **options)


def _table(found: Run, output: Format, *, kinds: bool, jobs: bool, bound: bool) -> Table:
    title = f"{found.policy}: {found.source}"
    if jobs:
        return of_frame(found.frame().reset_index(), title)
    if kinds:
        return of_frame(by_kind(found), title)
    measures = pd.concat([summary(found), *_bounds(found, asked=bound)])
    if output is Format.CSV:  # equal runs are equal bytes
        measures = measures[~measures["measure"].isin(SECONDS)]
    return of_frame(measures, title)


def _bounds(found: Run, *, asked: bool) -> list[pd.DataFrame]:
    """The rows of what no policy can beat on the run's jobs and workers."""
    if not asked:
        return []
    bounds = savings_bound(found.trace(), found.cluster(), measured=found.measured)
    rows = rows_of_bounds(found.source, found.seed, bounds)
    return [rows.assign(measure=NO_POLICY + ": " + rows["measure"])[["measure", "value", "unit"]]]


def _tell_faults(found: Run, loaded: Trace | TaskTrace) -> None:
    """Say what was refused, and which jobs have no end."""
    if found.violations:
        more = len(found.violations) - 1
        tell(f"refused: {found.violations[0]}" + (f", and {more} more" if more else ""))
    left = [
        name
        for name, state, measured in zip(loaded.name, found.state, found.measured, strict=True)
        if measured and state != "ended"
    ]
    if left:
        have = "job has" if len(left) == 1 else "jobs have"
        tell(f"{len(left)} measured {have} no end, first {left[0]!r}")
