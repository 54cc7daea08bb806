"""``walras simulate compare``: policies side by side, and what none can beat."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from walras import checks, saving
from walras.cli.common.errors import ExitCode
from walras.cli.common.output import Format, OutputOption, emit
from walras.cli.common.progress import Interruptible, Stages
from walras.cli.common.solving import Report, ShowProgress, refuse_unless
from walras.cli.common.streams import put, tell
from walras.cli.common.targets import check_figure, check_folder, check_report, check_save
from walras.cli.simulate.loading import load_study
from walras.errors import InputError
from walras.policies import savings_bound
from walras.policies.named import named
from walras.policies.named_placements import named_placement
from walras.reports.simulate import by_class, compared, everything
from walras.reports.simulate_conditions import Facts, of_runs, of_study
from walras.reports.tables import Table
from walras.simulate import Cluster, Comparison, Run, Slots, UnkeptError, compare
from walras.simulate.compare.study import EXAMPLES, Study, read_study
from walras.simulate.metrics import has_classes, no_classes
from walras.simulate.run import measured_jobs
from walras.text import counted

Conditions = Callable[[], tuple[Facts, str]]
"""What a page says of how it was made, and its notice."""

HELP = """Compare policies on the same traces, and with what no policy can beat.

CONFIG is a TOML file with several policies, seeds or rates of arrivals, of
jobs that share a cluster in time or of tasks on clusters with slots; --example
prints one. With --folder, finished runs are kept, and the same command goes on
where it was cut. --runs compares runs that were saved.

Examples:

  walras simulate compare --example > compare.toml

  walras simulate compare compare.toml --folder runs --report report.html

  walras simulate compare --example --world placed > tasks.toml

  walras simulate compare --runs fifo.npz --runs las.npz -o json

Exit codes: 0 done, 2 bad input, 6 a file cannot be read or written, 130
interrupted. On a full disk and after Ctrl-C it prints the runs so far.
"""


def compare_command(
    config: Annotated[Path | None, typer.Argument(help="A TOML file.")] = None,
    runs: Annotated[list[Path] | None, typer.Option(help="A saved run; may be repeated.")] = None,
    example: Annotated[bool, typer.Option("--example", help="Print a configuration.")] = False,
    world: Annotated[
        str, typer.Option(help="Of --example: time_shared, or placed: tasks on slots.")
    ] = "time_shared",
    seeds: Annotated[int | None, typer.Option(help="How many, in place of CONFIG's.")] = None,
    processes: Annotated[int | None, typer.Option(help="Runs at a time; all cores.")] = None,
    folder: Annotated[Path | None, typer.Option(help="Keeps finished runs.")] = None,
    bound: Annotated[
        bool, typer.Option("--bound/--no-bound", help="The row of what no policy can beat.")
    ] = True,
    every: Annotated[bool, typer.Option("--all", help="Every measure of every seed.")] = False,
    kinds: Annotated[
        bool, typer.Option("--kinds", help="Mean completion by class of jobs.")
    ] = False,
    report: Report = None,
    figure: Annotated[Path | None, typer.Option(help="Write the figure: .png, .svg, .pdf.")] = None,
    save: Annotated[Path | None, typer.Option(help="Save the comparison to a file.")] = None,
    progress: ShowProgress = True,
    output: OutputOption = Format.TABLE,
) -> None:
    """Compare policies on the same traces, and with what no policy can beat."""
    if example:
        put(EXAMPLES[checks.one_of(world, "world", EXAMPLES)], end="")
        return
    if (config is None) == (not runs):
        raise InputError(
            "are both given" if runs else "are both missing",
            where="CONFIG and --runs",
            allowed="one of them",
            remedy="walras simulate compare --example > compare.toml",
        )
    _refuse_both(every=every, kinds=kinds)
    check_report(report)
    check_figure(figure)
    check_save(save)
    fault: UnkeptError | None = None
    interrupted = False
    made_from: Conditions
    if config is None:
        unused = {"--folder": folder, "--seeds": seeds, "--processes": processes}
        for option, given in unused.items():
            refuse_unless(False, option, given, "CONFIG")
        own = _read(runs or [])
        found, made_from = _of_files(own, bound=bound), partial(of_runs, list(own.values()))
    else:
        check_folder(folder)
        stated = _stated(config, seeds)
        settings: dict[str, Any] = {"processes": processes, "folder": folder}
        settings["bound"] = savings_bound if bound else None
        policies = _policies(stated)
        traces, cluster = load_study(stated)
        if kinds:
            _check_classes(traces, stated)
        made_from = partial(of_study, stated, traces, cluster)
        settings |= stated.settings | {"seeds": stated.seeds}
        found, fault, interrupted = _run(traces, cluster, policies, settings, progress=progress)
    _tell_faults(found)
    _tell_missing(found, folder)
    try:
        emit(_table(found, output, every=every, kinds=kinds), output)
    finally:
        if fault is not None:  # the first error is raised: so few runs may have no table
            raise fault
    if found.policy:
        _write(found, made_from, report, figure, save)
    else:
        tell("no run has ended; no file is written")
    if interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)


def _stated(config: Path, seeds: int | None) -> Study:
    """The study of a file, with as many seeds as asked."""
    stated = read_study(config)
    if seeds is None:
        return stated
    return replace(stated, seeds=tuple(range(checks.whole(seeds, "--seeds", 1, 10**6))))


def _run(
    traces: dict[str, Any],
    cluster: Cluster | Slots,
    policies: dict[str, partial[Any]],
    settings: dict[str, Any],
    *,
    progress: bool,
) -> tuple[Comparison, UnkeptError | None, bool]:
    """The comparison, the error of a run that could not be kept, and whether Ctrl-C ended it."""
    fault: UnkeptError | None = None
    with (
        Interruptible() as interrupt,
        Stages({"compare": 1.0}, 1.0, interrupt, shown=progress, of_seconds=True) as stages,
    ):
        stages.begin("compare")
        try:
            found = compare(traces, cluster, policies, **settings, on_progress=stages.count)
        except UnkeptError as error:
            found, fault = error.found, error
    return found, fault, interrupt.asked


def _refuse_both(*, every: bool, kinds: bool) -> None:
    if every and kinds:
        raise InputError(
            "are both given",
            where="--all and --kinds",
            allowed="one of them",
            remedy="leave one out; --all has the means by class, too",
        )


def _check_classes(traces: Mapping[str, Any], stated: Study) -> None:
    """Refuse ``--kinds`` before the runs where no trace has means by class."""
    for given in traces.values():
        jobs = given(seed=stated.seeds[0]) if callable(given) else given
        measured = measured_jobs(stated.settings.get("measured"), len(jobs))
        if has_classes(np.array(jobs.kind)[measured]):
            return
    raise no_classes()


def _table(found: Comparison, output: Format, *, every: bool, kinds: bool) -> Table:
    """What is printed. CSV has no seconds of the wall clock: equal runs are equal bytes."""
    if kinds:
        return by_class(found)
    if output is Format.CSV:
        return everything(found.timeless)
    return everything(found) if every or output is Format.JSON else compared(found)


def _policies(stated: Study) -> dict[str, partial[Any]]:
    """Functions that make the policies, by label; a wrong name is found here, before the runs."""
    make = named_placement if stated.placed else named
    made = {label: partial(make, **table) for label, table in stated.policies.items()}
    for one in made.values():
        one()
    return made


def _read(paths: list[Path]) -> dict[str, Run]:
    """Saved runs of one trace and cluster, by the name of the policy, else of the file."""
    runs: dict[str, Run] = {}
    for path in paths:
        run = saving.load(path)
        if not isinstance(run, Run):
            raise InputError(
                f"{path} holds a {type(run).__name__}",
                where="--runs",
                allowed="runs that walras simulate run --save wrote",
            )
        runs[run.policy if run.policy not in runs else str(path)] = run
    first = next(iter(runs.values()))
    other = next((name for name, run in runs.items() if run.trace_hash != first.trace_hash), None)
    if other is not None:
        raise InputError(
            f"{other} is of other jobs, workers or measured jobs than {first.policy}",
            where="--runs",
            allowed="runs of one trace on one cluster",
            remedy="compare those alone",
        )
    return runs


def _of_files(runs: dict[str, Run], *, bound: bool) -> Comparison:
    """The comparison of saved runs, with what no policy can beat on their trace."""
    first = next(iter(runs.values()))
    if not bound:
        return Comparison.of_runs(runs)
    bounds = savings_bound(first.trace(), first.cluster(), measured=first.measured)
    return Comparison.of_runs(runs, bounds)


def _tell_faults(found: Comparison) -> None:
    """Say under which policies measured jobs have no end, so that their times are of the others,
    and whose decisions are refused, so that their times are hardly of the policy.
    """
    sums = found.table.groupby(["policy", "measure"])["value"].sum()
    for name in dict.fromkeys(found.policy):
        of = sums[name]
        left = of.get("measured jobs", 0.0) - of.get("ended", 0.0)
        if left:
            jobs = f"{counted(int(left), 'measured job')} {'has' if left == 1 else 'have'}"
            tell(f"{name}: {jobs} no end; its times are of the others")
        bad = of.get("refused decisions", 0.0)
        if bad:
            be = "is" if bad == 1 else "are"
            counts = f"{bad:g} of {counted(int(of['decisions']), 'decision')} {be}"
            tell(f"{name}: {counts} refused; walras simulate run names the rules they break")


def _tell_missing(found: Comparison, folder: Path | None) -> None:
    """Say how many runs a comparison has that was cut, and how to have the others."""
    if not found.missing:
        return
    rest = (
        "the same command goes on with the others"
        if folder
        else "they are not kept; with --folder, the same command goes on where it was cut"
    )
    tell(f"{found.runs} of {counted(found.runs + len(found.missing), 'run')}; {rest}")


def _write(
    found: Comparison,
    made_from: Conditions,
    report: Path | None,
    figure: Path | None,
    save: Path | None,
) -> None:
    # Imported here: plot is an optional extra.
    if report is not None:
        from walras import plot
        from walras.reports.simulate_page import page

        plot.write(page(found, *made_from()), report)
        tell(f"report: {report}")
    if figure is not None:
        from walras.plot.files import save as save_figure

        save_figure(found.plot(), figure)
        tell(f"figure: {figure}")
    if save is not None:
        found.save(save)
        tell(f"saved: {save}")
