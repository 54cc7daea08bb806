"""``walras network``: centres that share CPU and train one model."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any

import pandas as pd
import typer

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
    read,
    shown,
)
from walras.network._simulate import simulate as run_scenario
from walras.network.run import Run
from walras.network.scenario.scenario import EXAMPLE, Scenario
from walras.network.validation import whole
from walras.progress import counts
from walras.reports.tables import Table

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
    save: SaveOption = None,
    progress: ProgressOption = True,
    output: OutputOption = Format.TABLE,
) -> None:
    """Run a scenario in virtual time: shares, gaps, bits, and the audit.

    Examples:

      walras network simulate

      walras network simulate scenario.toml --save results

    Exit codes: 0 done, 2 bad input, 3 a budget that no boxes hold, 6 no such file.
    """
    stated = read(config)
    chosen = stated.seed if seed is None else whole(seed, "--seed")
    count = stated.steps if steps is None else whole(steps, "--steps", least=1)
    if save is not None:
        need_figures("--save")
    with shown({"simulating": 1.0}, progress) as stages:
        stages.begin("simulating")
        run = _run(stated, count, chosen, stages.advance)
    facts = facts_of(stated, run)
    if save is not None:
        # Imported here: matplotlib is an optional extra and takes half a second.
        from walras.reports.network import save_run

        facts["saved in"] = str(save_run(save, stated, run, chosen, facts))
    _print(facts, run, output)


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
    rows = [tuple(row) for row in advice.frame().itertuples(index=False)]
    emit(Table(("what", "value", "why"), rows, "safe steps, and what they promise"), output)


app.command()(compare)
app.command()(deploy)
app.command()(replay)


def _run(stated: Scenario, steps: int, seed: int, told: Callable[[int, int], None]) -> Run:
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
        on_progress=counts(told),
    )


def facts_of(stated: Scenario, run: Run) -> dict[str, Any]:
    """What a run came to, by name."""
    facts: dict[str, Any] = {
        "centres": stated.problem.centres,
        "alive at the end": int(run.alive[-1].sum()),
        "links at the start": stated.network.at(0).links,
        "steps": run.steps,
        "back end": run.backend,
        "cost": float(run.cost[-1]),
        "cost gap": float(run.cost_gap[-1]),
        "quanta over the budget, at worst": int(abs(run.audit).max()),
        "shares held": float(run.held[-1]),
        "shares idle, on their way": float(run.held[-1] - run.shares[-1].sum()),
        "largest share outside its box": run.largest_excess,
        "budget": stated.problem.budget,
        "bits sent": int(run.bits[-1]),
        "seconds": float(run.seconds[-1]),
    }
    if run.epoch is not None:
        facts |= run.epoch.facts
    if run.mean_model is None or stated.test is None:
        return facts
    loss, _ = stated.problem.learning
    facts |= {
        "data": stated.test.origin,
        "loss": float(run.loss[-1]),
        "consensus error": float(run.consensus_error[-1]),
        "tracking error": float(run.tracking_error[-1]),
    }
    if math.isnan(run.accuracy[-1]):  # numbers are predicted, not classes
        return facts | {"test error, root mean square": stated.test.error(loss, run.mean_model)}
    return facts | {"test accuracy": float(run.accuracy[-1])}


def _print(facts: dict[str, Any], run: Run, output: Format) -> None:
    if output is Format.CSV:
        emit(_as_table(run.frame()), output)
        return
    if output is Format.JSON:
        emit(Table(tuple(facts), [tuple(facts.values())]), output)
        return
    emit(Table(("", "run"), list(facts.items())))
    best = run.optimum.shares
    rows = [(k, float(run.shares[-1][k]), float(best[k])) for k in range(min(12, len(best)))]
    title = f"shares of {len(rows)} of {len(best)} centres"
    emit(Table(("centre", "share", "optimum"), rows, title))


def _as_table(frame: pd.DataFrame) -> Table:
    return Table(tuple(frame.columns), [tuple(row) for row in frame.itertuples(index=False)])
