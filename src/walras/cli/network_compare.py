"""``walras network compare``: the baselines beside the algorithm."""

from __future__ import annotations

import typer

from walras import checks
from walras.cli.common.errors import ExitCode
from walras.cli.common.figures import need_figures
from walras.cli.common.output import Format, OutputOption, emit
from walras.cli.common.streams import tell
from walras.cli.network_options import (
    ConfigArgument,
    ProgressOption,
    SaveOption,
    StepsOption,
    read,
    shown,
)
from walras.network.scenario.comparison import Comparison, Entry, entries
from walras.network.scenario.scenario import Scenario
from walras.reports.network import comparison_table, comparison_tables


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
    stated = read(config)
    count = stated.steps if steps is None else checks.whole(steps, "--steps", 1)
    if save is not None:
        need_figures("--save")
    contest, found = entries(stated), Comparison()
    with shown({_stage(entry): 1.0 for entry in contest}, progress) as stages:
        for entry in contest:
            if not stages.stopped:
                stages.begin(_stage(entry))
                found.add(stated, entry, count, stages.count)
    _print(stated, found, output)
    if save is not None:
        # Imported here: matplotlib is an optional extra and takes half a second.
        from walras.reports.network_files import save_comparison

        save_comparison(save, stated, found)
    if stages.stopped:
        done = len(found.runs) + len(found.left_out)
        tell(f"stopped at method {done} of {len(contest)}")
        raise typer.Exit(ExitCode.INTERRUPTED)


def _stage(entry: Entry) -> str:
    return f"{entry.of}: {entry.method.name}"


def _print(stated: Scenario, found: Comparison, output: Format) -> None:
    if output is not Format.TABLE:
        emit(comparison_table(found), output)
        return
    for table in comparison_tables(stated, found):
        emit(table)
