"""``walras shadow``: what the exchange would have done with a scheduler's own log."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, cast

import typer

from walras.cli.common.errors import ExitCode
from walras.cli.common.output import emit, put_wrapped
from walras.cli.common.progress import Interruptible, Stages
from walras.cli.common.solving import Report, ShowProgress
from walras.cli.common.streams import tell
from walras.cli.common.targets import check_report, check_save
from walras.cli.exchange.connect import Format, OutputOption, key_values, put_document
from walras.policies.placements import Policy
from walras.reports import shadow as reports
from walras.rounds import Rules
from walras.shadow import JobLog, Shadow, compare, read_jobs
from walras.shadow.reading import Scheduler
from walras.shadow.wording import sentences
from walras.status import Status

HELP = """Replay a scheduler's log by the exchange's policy, and compare.

LOG is what the scheduler wrote itself:

  \b
  slurm   text of sacct -a -X -P --noconvert -S START -E END -o JobID,
          JobName,User,Partition,State,Submit,Eligible,Start,End,Elapsed,
          Timelimit,AllocCPUS; or sacct --json
  kueue   JSON of kubectl get workloads,events -A -o json, also by lines
  csv     submit, start, end, cluster, outcome; name, user, slots, and
          columns of numbers that are known at submission

The first half of its days trains the predictors; the rest is replayed. It is
refused where the log cannot support the claim, with the reason.

Examples:

  walras shadow jobs.txt

  walras shadow jobs.txt --slots gpu=64 --slots cpu=512 --report shadow.html

  walras shadow jobs.csv --scheduler csv --price gpu=2.5 --only-seen -o json

Exit codes: 0 done, 2 bad input, 6 the log cannot be read or cannot support the
claim, 130 interrupted, with the days so far.
"""

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command("shadow", help=HELP)
def shadow(
    log: Annotated[Path, typer.Argument(help="The scheduler's log.")],
    scheduler: Annotated[
        str | None, typer.Option(help="slurm, kueue or csv; found out if left out.")
    ] = None,
    cluster: Annotated[
        str, typer.Option(help="Of Slurm: the field that names where a job ran.")
    ] = "Partition",
    slots_by: Annotated[
        str | None, typer.Option(help="Of Slurm: the field of a job's slots; AllocCPUS.")
    ] = None,
    slots: Annotated[
        list[str] | None, typer.Option(help="CLUSTER=N; else the most that was in use.")
    ] = None,
    price: Annotated[
        list[str] | None, typer.Option(help="CLUSTER=P of a slot-hour; 1 if left out.")
    ] = None,
    train: Annotated[float, typer.Option(help="Share of the days to learn from.")] = 0.5,
    min_success: Annotated[
        float, typer.Option(help="Least mean chance of success of a round.")
    ] = 0.8,
    only_seen: Annotated[
        bool, typer.Option("--only-seen", help="Only to clusters where their kind has run.")
    ] = False,
    least_overlap: Annotated[
        float, typer.Option(help="Least share of moved jobs whose kind ran there.")
    ] = 0.5,
    round_seconds: Annotated[
        float | None, typer.Option(help="Seconds between rounds; 60 or more if left out.")
    ] = None,
    resamples: Annotated[int, typer.Option(help="How often days are drawn again.")] = 400,
    level: Annotated[float, typer.Option(help="Of the intervals.")] = 0.9,
    seed: Annotated[int, typer.Option(help="Of rounds and draws.")] = 0,
    save: Annotated[Path | None, typer.Option(help="Save the result to a file.")] = None,
    report: Report = None,
    progress: ShowProgress = True,
    output: OutputOption = Format.TABLE,
) -> None:
    """Replay a scheduler's log by the exchange's policy, and compare."""
    check_report(report)
    check_save(save)
    jobs = read_jobs(log, cast("Scheduler | None", scheduler), cluster=cluster, slots=slots_by)
    _tell_left_out(jobs)
    room, prices = _whole(slots), key_values(price, "price", float)
    with (
        Interruptible() as interrupt,
        Stages({"replay": 1.0}, 1.0, interrupt, shown=progress) as stages,
    ):
        stages.begin("replay")
        found = compare(
            jobs,
            train=train,
            slots=room,
            prices=prices,
            policy=Policy(rules=Rules(min_success=min_success)),
            only_seen=only_seen,
            least_overlap=least_overlap,
            round_seconds=round_seconds,
            resamples=resamples,
            level=level,
            seed=seed,
            on_progress=stages.count,
        )
    _print(found, output)
    if save is not None:
        found.save(save)
    if report is not None:
        _write_page(found, report)
    if found.status is Status.INTERRUPTED:
        raise typer.Exit(ExitCode.INTERRUPTED)


def _whole(given: Sequence[str] | None) -> dict[str, int]:
    return key_values(given, "slots", int)


def _tell_left_out(jobs: JobLog) -> None:
    for problem in jobs.problems:
        tell(f"left out: {problem}")
    counts = {
        "unfinished": jobs.unfinished,
        "never started": jobs.never_started,
        "steps of jobs": jobs.steps,
    }
    words = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    if words:
        tell(f"left out: {words}")


def _print(found: Shadow, output: Format) -> None:
    if output is not Format.TABLE:
        put_document(reports.document(found), output)
        return
    emit(reports.measures(found))
    emit(reports.clusters(found))
    for sentence in sentences(found):
        put_wrapped(sentence)
    tell(
        f"{found.learned_from} jobs to learn from; load {found.load:.0%}; {found.rounds} rounds, "
        f"{found.round_seconds:g} s apart"
    )
    if found.status is Status.INTERRUPTED:
        tell(f"interrupted: these are the first {len(found.jobs)} days of the replay")


def _write_page(found: Shadow, path: Path) -> None:
    # Imported here: matplotlib is an optional extra and takes half a second.
    from walras.plot import write
    from walras.reports.shadow_page import page

    write(page(found), path)
