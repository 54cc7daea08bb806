"""``walras simulate exchange``: an exchange's own history under another policy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from walras.cli.common.errors import ExitCode
from walras.cli.common.output import Format, OutputOption, emit
from walras.cli.common.progress import Interruptible, Stages
from walras.cli.common.solving import ShowProgress
from walras.cli.common.streams import tell
from walras.cli.common.targets import check_table
from walras.cli.exchange.connect import key_values
from walras.cli.simulate.options import value_of
from walras.cli.simulate.units import in_fitting_unit
from walras.exchange.history import Carried, History, Replayed, carry, read_history, replay
from walras.exchange.history.replay import Makes
from walras.policies.named_placements import named_placement
from walras.predict.logs.log import TABLES
from walras.reports.tables import of_frame

HELP = """Replay an exchange's own rounds under another policy, and compare.

HISTORY is the folder of `walras serve --home`, a file of `walras db backup`,
or a postgresql:// address. It is only read, and the service may run meanwhile.

Each round is decided anew from the snapshot that the exchange took then. Where
the other policy places a task on the cluster that the exchange chose, the
outcome was observed, unless the run has not ended yet. Elsewhere the table has
what was predicted: it is counterfactual. What would have changed in later rounds is not carried on.

With --carry, all tasks are run anew from their submission instead, by the
recorded policy and by the other one: what changes carries on. Both columns are
simulated then. A task takes what was measured where it completed, and what was
predicted elsewhere, longer by as much as measured times were longer.

Examples:

  walras simulate exchange exchange --min-success 0.95

  walras simulate exchange exchange --set price_weight=10 --set explore=0

  walras simulate exchange monday.db --policy first_fit -o json

  walras simulate exchange monday.db --policy best_fit --carry

Exit codes: 0 done, 2 bad input, 6 the history cannot be read, 130 interrupted,
with the rounds so far.
"""


def exchange_command(
    history: Annotated[str, typer.Argument(help="A folder, a file, or postgresql://...")],
    min_success: Annotated[
        float | None, typer.Option(help="Least mean chance of success of a round.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="NAME=VALUE of the exchange's policy, as price_weight=10."),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(help="first_fit, best_fit, fastest_cluster, or FILE.py:FUNCTION."),
    ] = None,
    carry_on: Annotated[
        bool, typer.Option("--carry", help="Run all tasks anew: changes carry on.")
    ] = False,
    save: Annotated[
        Path | None, typer.Option(help="Write the placements, as .csv or .parquet.")
    ] = None,
    progress: ShowProgress = True,
    output: OutputOption = Format.TABLE,
) -> None:
    """Replay an exchange's own rounds under another policy, and compare."""
    check_table(save, "--save", TABLES)
    settings: dict[str, Any] = key_values(set_, "set", value_of)
    if min_success is not None:
        settings["min_success"] = min_success
    makes = None if policy is None or policy == "exchange" else _maker(policy)
    found = read_history(history)
    with (
        Interruptible() as interrupt,
        Stages({"replay": 1.0}, 1.0, interrupt, shown=progress) as stages,
    ):
        stages.begin("replay")
        again = carry if carry_on else replay
        made = again(found, settings, policy=makes, on_progress=stages.count)
    table = of_frame(made.frame(), f"{made.policy}: {found.source}")
    emit(in_fitting_unit(table, output), output)
    _tell_carried(made) if isinstance(made, Carried) else _tell(made)
    if save is not None:
        made.save_placements(save)
    if interrupt.asked:
        raise typer.Exit(ExitCode.INTERRUPTED)


def _maker(name: str) -> Makes:
    """A policy by its name; a wrong name is found here, before the rounds."""
    named_placement(name)
    return lambda predict: named_placement(name, predict)


def _tell(made: Replayed) -> None:
    """Say what was observed, what is recorded and not measured yet, what is counterfactual."""
    same, known = made.as_recorded, int((made.placements["outcome"] != "").sum())
    tell(
        f"placements of the replayed policy: {len(made.placements)}; {known} observed, "
        f"{len(same) - int((same['outcome'] != '').sum())} recorded but not measured yet, "
        f"{len(made.placements) - len(same)} counterfactual, as predicted"
    )
    _tell_not_kept(made.history, len(made.decisions))
    if made.refused:
        (seq, rule), more = made.refused[0], len(made.refused) - 1
        tell(f"refused: round {seq}: {rule}" + (f", and {more} more rounds" if more else ""))


def _tell_not_kept(history: History, rounds: int) -> None:
    """Name the predictors of the first rounds that are gone."""
    used = {recorded.predictor for recorded in history.rounds[:rounds]}
    gone = sorted(used - {"prior", *history.models})
    if gone:
        tell(f"not kept: {', '.join(gone)}; its rounds are replayed without predictions")


def _tell_carried(made: Carried) -> None:
    """Say what was measured, and how near the recorded policy's run is to what was recorded."""
    given, run = made.given, made.replayed
    if given.left_out:
        tell(f"left out: {given.left_out} tasks that can run on no cluster")
    _tell_not_kept(made.history, len(made.history.rounds))
    known = int(given.measured[run.run_task, run.run_cluster].sum())
    tell(
        f"measured: {known} of {len(run.run_task)} runs of the replayed policy take what was "
        "measured; the others take what was predicted"
    )
    real, simulated = made.calibration
    tell(
        f"recorded tasks that completed took {real:.4g} s on average; "
        f"the recorded policy takes {simulated:.4g} s for them in simulation"
    )
    if run.violations:
        tell(f"refused: {run.violations[0]}, and {len(run.violations) - 1} more")
