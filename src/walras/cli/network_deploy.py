"""``walras network deploy`` and ``walras network replay``: real processes, and their traces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from walras import checks
from walras.cli.common.errors import ExitCode
from walras.cli.common.figures import need_figures
from walras.cli.common.output import Format, OutputOption, emit, put_wrapped
from walras.cli.common.streams import tell
from walras.cli.network_options import (
    ConfigArgument,
    ProgressOption,
    SaveOption,
    StepsOption,
    end_if_stopped,
    read,
    shown,
)
from walras.network._deploy import Deployment
from walras.network._deploy import deploy as run_deployment
from walras.network._replay import replay as run_replay
from walras.network.drivers.inventory import Inventory, inventory
from walras.network.scenario.scenario import Scenario
from walras.progress import OnProgress, Progress
from walras.reports.network import centres_table, facts_of_deployment, facts_table
from walras.reports.tables import of_frame, record
from walras.status import Status

_EXAMPLE_STEPS = 300  # of the built-in example: real messages take longer than simulated ones


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
    stated = read(config)
    table = dict(stated.deploy) | ({} if pace is None else {"pace": pace})
    chosen = inventory(table, stated.problem.centres)
    usual = stated.steps if config is not None else _EXAMPLE_STEPS
    count = usual if steps is None else checks.whole(steps, "--steps", 1)
    if save is not None:
        need_figures("--save")
    with shown({"deploying": 1.0}, progress) as stages:
        stages.begin("deploying")
        done = 0

        def on_progress(step: Progress) -> bool:
            nonlocal done
            done = step.iteration
            return stages.count(step)

        found = _run(stated, chosen, count, folder, resume=resume, on_progress=on_progress)
    facts = facts_of_deployment(stated, found)
    if save is not None:
        # Imported here: matplotlib is an optional extra and takes half a second.
        from walras.reports.network_files import save_deployment

        facts["saved in"] = str(save_deployment(save, stated, found, count, facts))
    _print(stated, facts, found, output)
    for failure in found.failures.values():
        tell(f"ended early: {failure}")
    rest = f"; --resume --folder {found.folder} goes on from there"
    end_if_stopped(found.status, done, count, rest)


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
    with shown({"replaying": 1.0}, progress) as stages:
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


def _run(
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


def _print(stated: Scenario, facts: dict[str, Any], found: Deployment, output: Format) -> None:
    if output is not Format.TABLE:
        emit(record(facts), output)
        return
    emit(facts_table("deployment", facts, stated))
    emit(centres_table(found))
    if not found.enforced.any():
        put_wrapped("Shares are advice: no writable cgroup v2 group was given to enforce them.")
