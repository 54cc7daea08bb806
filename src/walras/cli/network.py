"""``walras network``: centres that share CPU and train one model."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, cast

import typer

from walras import checks
from walras.cli.common.figures import need_figures
from walras.cli.common.output import Format, OutputOption, emit
from walras.cli.common.streams import put
from walras.cli.network_compare import compare
from walras.cli.network_deploy import deploy, replay
from walras.cli.network_options import (
    ConfigArgument,
    ProgressOption,
    SaveOption,
    StepsOption,
    end_if_stopped,
    read,
    shown,
)
from walras.network._simulate import simulate as run_scenario
from walras.network.backends import Backend
from walras.network.run import Run
from walras.network.scenario.scenario import EXAMPLE, Scenario
from walras.progress import OnProgress
from walras.reports.network import facts_of, facts_table, headline, shares_table
from walras.reports.tables import of_frame, record

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
    stated = read(config)
    if backend is not None:
        tables = {**stated.tables, "backend": backend}
        stated = replace(stated, backend=cast("Backend", backend), tables=tables)
    chosen = stated.seed if seed is None else checks.whole(seed, "--seed")
    count = stated.steps if steps is None else checks.whole(steps, "--steps", 1)
    if save is not None:
        need_figures("--save")
    with shown({"simulating": 1.0}, progress) as stages:
        stages.begin("simulating")
        run = _run(stated, count, chosen, stages.count)
    facts = facts_of(stated, run)
    if save is not None:
        # Imported here: matplotlib is an optional extra and takes half a second.
        from walras.reports.network_files import save_run

        facts["saved in"] = str(save_run(save, stated, run, chosen, facts))
    _print(stated, facts, run, output)
    end_if_stopped(run.status, run.steps, count)


@app.command()
def advise(config: ConfigArgument = None, output: OutputOption = Format.TABLE) -> None:
    """Show safe steps, rates and bits of a scenario before it is run.

    Examples:

      walras network advise scenario.toml
    """
    from walras.network._advise import advise as ask

    stated = read(config)
    advice = ask(
        stated.problem,
        stated.network,
        links=stated.links,
        faults=stated.faults,
        method=stated.method,
    )
    title = headline(stated, "safe steps, and what they promise")
    emit(of_frame(advice.frame(), title), output)


app.command()(compare)
app.command()(deploy)
app.command()(replay)


def _run(stated: Scenario, steps: int, seed: int, on_progress: OnProgress) -> Run:
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


def _print(stated: Scenario, facts: dict[str, Any], run: Run, output: Format) -> None:
    if output is Format.CSV:
        emit(of_frame(run.frame()), output)
        return
    if output is Format.JSON:
        emit(record(facts), output)
        return
    emit(facts_table("run", facts, stated))
    emit(shares_table(run.shares[-1], run.optimum.shares))
