"""``walras network``: centres that share CPU and train one model."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from walras import checks
from walras.cli.common.errors import ExitCode
from walras.cli.common.figures import need_figures
from walras.cli.common.output import Format, OutputOption, emit, put_wrapped
from walras.cli.common.progress import Interruptible, Stages
from walras.cli.common.streams import put, tell
from walras.network._advise import advise as advise_on
from walras.network._deploy import Deployment
from walras.network._deploy import deploy as run_deployment
from walras.network._replay import replay as run_replay
from walras.network._simulate import simulate as run_scenario
from walras.network.backends import Backend
from walras.network.drivers.inventory import Inventory, inventory
from walras.network.run import Run
from walras.network.scenario.comparison import Comparison, Entry, entries
from walras.network.scenario.scenario import EXAMPLE, Scenario, read_scenario, scenario
from walras.progress import OnProgress, Progress
from walras.reports.network import (
    centres_table,
    comparison_table,
    comparison_tables,
    facts_of,
    facts_of_deployment,
    facts_table,
    headline,
    shares_table,
)
from walras.reports.tables import of_frame, record
from walras.status import Status

_EXAMPLE_STEPS = 300  # of the built-in example: real messages take longer than simulated ones

ConfigArgument = Annotated[
    Path | None, typer.Argument(help="A TOML file; the built-in example when left out.")
]
SaveOption = Annotated[
    Path | None, typer.Option("--save", help="Folder for run.json, steps.csv and figures.")
]
StepsOption = Annotated[int | None, typer.Option(help="In place of the file's number of steps.")]
ProgressOption = Annotated[bool, typer.Option("--progress/--no-progress", help="Show progress.")]
BackendOption = Annotated[
    str | None,
    typer.Option(
        help="auto, protocol (the nodes that deploy runs) or vectorised (all centres at once); "
        "that of the file when left out."
    ),
]
SeedOption = Annotated[int | None, typer.Option(help="Of faults and batches.")]

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.callback()
def root() -> None:
    """Share CPU and train a model over a network without a centre.

    Examples:

      walras network simulate

      walras network advise scenario.toml

      walras network deploy scenario.toml --folder run
    """


@app.command()
def example() -> None:
    """Print a scenario to start from.

    Examples:

      walras network example > scenario.toml
    """
    put(EXAMPLE, end="")


@app.command()
def simulate(
    config: ConfigArgument = None,
    steps: StepsOption = None,
    seed: SeedOption = None,
    backend: BackendOption = None,
    save: SaveOption = None,
    progress: ProgressOption = True,
    output: OutputOption = Format.TABLE,
) -> None:
    """Run a scenario in virtual time: shares, gaps, bits, and the audit.

    Examples:

      walras network simulate

      walras network simulate scenario.toml --save results

      walras network simulate scenario.toml --backend protocol

    Exit codes: 0 done, 2 bad input, 3 a budget that no boxes hold, 6 no such file, 130 stopped by
    Ctrl-C, with the steps so far.
    """
    stated = _read(config)
    if backend is not None:
        tables = {**stated.tables, "backend": backend}
        stated = replace(stated, backend=cast("Backend", backend), tables=tables)
    chosen = stated.seed if seed is None else checks.whole(seed, "--seed")
    count = stated.steps if steps is None else checks.whole(steps, "--steps", 1)
    if save is not None:
        need_figures("--save")
    with _shown({"simulating": 1.0}, progress) as stages:
        stages.begin("simulating")
        run = _simulate(stated, count, chosen, stages.count)
    facts = facts_of(stated, run)
    if save is not None:
        # Imported here: matplotlib is an optional extra and takes half a second.
        from walras.reports.network_files import save_run

        facts["saved in"] = str(save_run(save, stated, run, chosen, facts))
    _print_run(stated, facts, run, output)
    _end_if_stopped(run.status, run.steps, count)


@app.command()
def advise(config: ConfigArgument = None, output: OutputOption = Format.TABLE) -> None:
    """Show safe steps, rates and bits of a scenario before it is run.

    Examples:

      walras network advise scenario.toml
    """
    stated = _read(config)
    advice = advise_on(
        stated.problem,
        stated.network,
        links=stated.links,
        faults=stated.faults,
        method=stated.method,
    )
    title = headline(stated, "safe steps, and what they promise")
    emit(of_frame(advice.frame(), title), output)


@app.command()
def compare(
    config: ConfigArgument = None,
    steps: StepsOption = None,
    save: SaveOption = None,
    progress: ProgressOption = True,
    output: OutputOption = Format.TABLE,
) -> None:
    """Run the baselines beside the algorithm: same problem, graph and links, no faults.

    Methods that cannot state the problem, or that diverge on it, are left out with the reason.

    Examples:

      walras network compare scenario.toml --steps 1000

    Exit codes: 0 done, 2 bad input, 6 no such file, 130 stopped by Ctrl-C, with the methods so far.
    """
    stated = _read(config)
    count = stated.steps if steps is None else checks.whole(steps, "--steps", 1)
    if save is not None:
        need_figures("--save")
    contest, found = entries(stated), Comparison()
    with _shown({_stage(entry): 1.0 for entry in contest}, progress) as stages:
        for entry in contest:
            if not stages.stopped:
                stages.begin(_stage(entry))
                found.add(stated, entry, count, stages.count)
    _print_comparison(stated, found, output)
    if save is not None:
        # Imported here: matplotlib is an optional extra and takes half a second.
        from walras.reports.network_files import save_comparison

        save_comparison(save, stated, found)
    if stages.stopped:
        done = len(found.runs) + len(found.left_out)
        tell(f"stopped at method {done} of {len(contest)}")
        raise typer.Exit(ExitCode.INTERRUPTED)


@app.command()
def deploy(
    config: ConfigArgument = None,
    steps: StepsOption = None,
    folder: Annotated[
        Path | None, typer.Option(help="For traces and logs; a temporary one when left out.")
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on where the traces in --folder end, for --steps more steps."
        ),
    ] = False,
    pace: Annotated[str | None, typer.Option(help="rounds or clock.")] = None,
    save: SaveOption = None,
    progress: ProgressOption = True,
    output: OutputOption = Format.TABLE,
) -> None:
    """Run every centre as a process of its own, over encrypted sockets.

    The file is that of walras network simulate, with a [deploy] table; its [links] and [faults] are
    for simulations: real messages carry 64-bit numbers, and real faults come by themselves. Nor do
    processes use switching and failing of [network]: they keep the graph of the start.

    Examples:

      walras network deploy scenario.toml --steps 500

      walras network deploy scenario.toml --folder run --resume --steps 200

      walras network deploy scenario.toml --save results

    Each centre's log in --folder tells lost and returned peers, its lease, and settlements.

    Exit codes: 0 done, 1 processes did not start, were all lost, or held more than the budget,
    2 bad input, a port or folder in use, another problem than the folder's, 6 damaged traces,
    130 stopped by Ctrl-C, with what was done.
    """
    stated = _read(config)
    table = dict(stated.deploy) | ({} if pace is None else {"pace": pace})
    chosen = inventory(table, stated.problem.centres)
    usual = stated.steps if config is not None else _EXAMPLE_STEPS
    count = usual if steps is None else checks.whole(steps, "--steps", 1)
    if save is not None:
        need_figures("--save")
    with _shown({"deploying": 1.0}, progress) as stages:
        stages.begin("deploying")
        done = 0

        def on_progress(step: Progress) -> bool:
            nonlocal done
            done = step.iteration
            return stages.count(step)

        found = _deploy(stated, chosen, count, folder, resume=resume, on_progress=on_progress)
    facts = facts_of_deployment(stated, found)
    if save is not None:
        # Imported here: matplotlib is an optional extra and takes half a second.
        from walras.reports.network_files import save_deployment

        facts["saved in"] = str(save_deployment(save, stated, found, count, facts))
    _print_deployment(stated, facts, found, output)
    for failure in found.failures.values():
        tell(f"ended early: {failure}")
    rest = f"; --resume --folder {found.folder} goes on from there"
    _end_if_stopped(found.status, done, count, rest)


@app.command()
def replay(
    folder: Annotated[Path, typer.Argument(help="Of a deployment.")],
    progress: ProgressOption = True,
    output: OutputOption = Format.TABLE,
) -> None:
    """Play a deployment's traces again, and compare the states and the books.

    Examples:

      walras network replay run

    Exit codes: 0 the same states, 1 another state or books that differ, 6 no such traces, 130
    stopped by Ctrl-C.
    """
    with _shown({"replaying": 1.0}, progress) as stages:
        stages.begin("replaying")
        found = run_replay(folder, on_progress=stages.count)
    title = f"{found.events} events; the books agreed {found.audits} times"
    frame = found.frame().rename(columns=lambda name: name.replace("_", " "))
    emit(of_frame(frame, title), output)
    if False in found.same:
        raise typer.Exit(ExitCode.FAILED)
    if found.status is Status.INTERRUPTED:
        tell("stopped before the end of the traces")
        raise typer.Exit(ExitCode.INTERRUPTED)


def _read(config: Path | None) -> Scenario:
    """The scenario in a file; the built-in example, and a word that it is, where none is named.

    Raises:
        WalrasError: The file is not there, or a value cannot be used.
    """
    if config is not None:
        return read_scenario(config)
    tell("the built-in example (walras network example prints it)")
    return scenario(tomllib.loads(EXAMPLE))


def _end_if_stopped(status: Status, done: int, count: int, rest: str = "") -> None:
    """Say how far a run came that Ctrl-C stopped, and end with its exit code.

    Raises:
        Exit: It was stopped.
    """
    if status is Status.INTERRUPTED:
        tell(f"stopped at {done} of {count}{rest}")
        raise typer.Exit(ExitCode.INTERRUPTED)


@contextmanager
def _shown(expected: dict[str, float], wanted: bool) -> Iterator[Stages]:
    """The progress of stages, by name and relative length; Ctrl-C ends them in order."""
    with Interruptible() as interrupt, Stages(expected, 1e-6, interrupt, shown=wanted) as stages:
        yield stages


def _simulate(stated: Scenario, steps: int, seed: int, on_progress: OnProgress) -> Run:
    return run_scenario(
        stated.problem,
        stated.network,
        links=stated.links,
        backend=stated.backend,
        steps=steps,
        faults=stated.faults,
        seed=seed,
        method=stated.method,
        every=min(stated.every, steps),
        test=stated.test,
        on_progress=on_progress,
    )


def _print_run(stated: Scenario, facts: dict[str, Any], run: Run, output: Format) -> None:
    if output is Format.CSV:
        emit(of_frame(run.frame()), output)
        return
    if output is Format.JSON:
        emit(record(facts), output)
        return
    emit(facts_table("run", facts, stated))
    emit(shares_table(run.shares[-1], run.optimum.shares))


def _stage(entry: Entry) -> str:
    return f"{entry.of}: {entry.method.name}"


def _print_comparison(stated: Scenario, found: Comparison, output: Format) -> None:
    if output is not Format.TABLE:
        emit(comparison_table(found), output)
        return
    for table in comparison_tables(stated, found):
        emit(table)


def _deploy(
    stated: Scenario,
    chosen: Inventory,
    steps: int,
    folder: Path | None,
    *,
    resume: bool,
    on_progress: OnProgress,
) -> Deployment:
    return run_deployment(
        stated.problem,
        stated.network,
        steps=steps,
        pace=chosen.pace,
        period=chosen.period,
        hosts=chosen.hosts,
        folder=folder,
        resume=resume,
        restart=chosen.restart,
        method=stated.method,
        seed=stated.seed,
        cgroups=chosen.cgroups,
        launcher=chosen.launcher,
        durable=chosen.durable,
        every=min(stated.every, steps),
        trace_limit=chosen.trace_limit,
        time_limit=chosen.time_limit,
        on_progress=on_progress,
    )


def _print_deployment(
    stated: Scenario, facts: dict[str, Any], found: Deployment, output: Format
) -> None:
    if output is not Format.TABLE:
        emit(record(facts), output)
        return
    emit(facts_table("deployment", facts, stated))
    emit(centres_table(found))
    if not found.enforced.any():
        put_wrapped("Shares are advice: no writable cgroup v2 group was given to enforce them.")
