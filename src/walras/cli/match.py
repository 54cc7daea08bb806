"""``walras match``: place the tasks of a round on clusters, from CSV tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from walras.cli.common.errors import ended, ending
from walras.cli.common.output import Format, OutputOption, emit, put_wrapped
from walras.cli.common.progress import Interruptible, Stages
from walras.cli.common.solving import (
    TOLERANCE,
    Report,
    ShowProgress,
    Threads,
    TimeLimit,
    Tolerance,
)
from walras.cli.common.streams import put, tell
from walras.cli.common.targets import check_report
from walras.matching import MatchSettings, Plan, match_round
from walras.matching.match import first_step
from walras.matching.tables import MatchTables, read_asked, read_tables, round_from
from walras.progress import Progress
from walras.reports import matching as reports
from walras.reports.tables import Table, to_json

_SHOWN = 20  # tasks in the table; json and csv have all of them
_NAMED = 5  # tasks left out that are named

HELP = """Place tasks on clusters: the slowest ends soonest, and enough succeed.

The tables are CSV files with a header line:

  \b
  times       task, then one column a cluster: seconds, or any unit;
              empty where the cluster cannot run the task
  success     task, then the same clusters: chance of success, 0 to 1;
              it may be empty where times is
  speedup     cluster, 1, 2, 3, ...: time of so many tasks together over the
              sum of their times; the last holds for more
  times-low, times-high, success-low, success-high
              ends of intervals, in the form of times and success, for the
              explanations; both of a pair, or neither
  tasks       task, then any of: size (slots it takes), pinned and previous
              (a cluster), deadline (from now), min_success; empty: nothing
  clusters    cluster, then any of: slots, ready (until its slots are free:
              one number, or one a slot with spaces between)

Examples:

  walras match --times t.csv --success a.csv --min-success 0.8

  walras match --times t.csv --success a.csv --min-success 0.9 --report p.html

  walras match --times t.csv --success a.csv --times-low l.csv --times-high h.csv

  walras match --times t.csv --success a.csv --tasks j.csv --clusters c.csv

Exit codes: 0 optimal, or the gap that is proved where no --tolerance is given;
2 bad input, 3 no placement reaches the floor, 5 a limit came first or the
--tolerance was missed, 6 a file cannot be read, 130 interrupted; 5 and 130
still print a plan with its certified gap.
"""


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command("match", help=HELP)
def match(
    times: Annotated[Path, typer.Option(help="CSV: task, then a column a cluster.")],
    success: Annotated[Path, typer.Option(help="CSV: task, then a column a cluster.")],
    min_success: Annotated[float, typer.Option(help="Least mean chance over the tasks.")] = 0.8,
    shortfall_price: Annotated[
        float | None, typer.Option(help="Price of a unit of missing success; a soft floor.")
    ] = None,
    speedup: Annotated[Path | None, typer.Option(help="CSV: cluster, 1, 2, ...")] = None,
    times_low: Annotated[Path | None, typer.Option(help="CSV: lower ends of times.")] = None,
    times_high: Annotated[Path | None, typer.Option(help="CSV: their upper ends.")] = None,
    success_low: Annotated[Path | None, typer.Option(help="CSV: lower ends of chances.")] = None,
    success_high: Annotated[Path | None, typer.Option(help="CSV: their upper ends.")] = None,
    tasks: Annotated[
        Path | None, typer.Option(help="CSV: task, size, pinned, previous, deadline, min_success.")
    ] = None,
    clusters: Annotated[Path | None, typer.Option(help="CSV: cluster, slots, ready.")] = None,
    move_price: Annotated[
        float, typer.Option(help="Price of a task that leaves its previous cluster.")
    ] = 0.0,
    keep_good: Annotated[
        bool, typer.Option("--keep-good", help="Leave out tasks whose lines are bad.")
    ] = False,
    method: Annotated[str, typer.Option(help="auto, branch-and-bound, search or milp.")] = "auto",
    seed: Annotated[int, typer.Option(help="Of the search.")] = 0,
    tolerance: Tolerance = None,
    time_limit: TimeLimit = None,
    threads: Threads = None,
    report: Report = None,
    progress: ShowProgress = True,
    output: OutputOption = Format.TABLE,
) -> None:
    """Place tasks on clusters: the slowest ends soonest, and enough succeed."""
    check_report(report)
    tables = read_tables(times, success, keep_good=keep_good)
    asked, unread = read_asked(tasks, clusters, move_price, tables)
    if unread:
        tell(unread)
    given = round_from(
        tables,
        min_success,
        shortfall_price,
        speedup,
        (times_low, times_high),
        (success_low, success_high),
        asked,
    )
    aim = TOLERANCE if tolerance is None else tolerance
    first = f"matching: {first_step(given, method)}"
    with (
        Interruptible() as interrupt,
        Stages(
            {first: 1.0}, max(aim, 1e-12), interrupt, shown=progress, limit=time_limit
        ) as stages,
    ):
        heard = stages.begin(first)

        def on_progress(step: Progress) -> bool:
            stages.rename(f"matching: {step.note or 'end'}")
            return heard(step)

        settings = MatchSettings(method, aim, time_limit, threads, seed, on_progress)
        plan = match_round(given, settings)
    _print(plan, tables, output)
    if report is not None:
        _write_page(plan, report)
    raise typer.Exit(ended(plan.status, plan.gap, tolerance))


def _print(plan: Plan, given: MatchTables, output: Format) -> None:
    if given.left_out:
        total = len(given.left_out) + len(given.times)
        names = ", ".join(given.left_out[:_NAMED]) + (", ..." if given.left_out[_NAMED:] else "")
        tell(f"left out {len(given.left_out)} of {total} tasks: {names}")
    if output is Format.CSV:
        emit(reports.placements(plan), output)
        return
    facts = reports.facts_of(plan, len(given.left_out))
    if output is Format.JSON:
        summary = Table(tuple(facts), [tuple(facts.values())]).records()[0]
        rows = {
            "clusters": reports.clusters(plan).records(),
            "placements": reports.placements(plan).records(),
        }
        put(to_json({**summary, **rows}))
        return
    emit(Table(("", "plan"), list(facts.items())))
    emit(reports.clusters(plan))
    emit(reports.shown(plan, _SHOWN))
    put_wrapped(reports.legend(plan, _SHOWN))
    tell(ending(plan.status, plan.gap))


def _write_page(plan: Plan, path: Path) -> None:
    # Imported here: matplotlib is an optional extra and takes half a second.
    from walras.plot import write
    from walras.reports.matching_page import page

    write(page(plan), path)
