"""``walras data import``: logs of other programs, as the table that predictors are trained on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from walras.cli.common.output import Format, OutputOption, emit
from walras.cli.common.streams import tell
from walras.predict.logs.log import write_log
from walras.predict.logs.sacct import COMMAND, read_sacct
from walras.reports.tables import Table

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="""Turn other programs' logs into a table of runs: task, cluster, seconds, outcome.

    Examples:

      walras data import sacct jobs.txt --to runs.csv
    """,
)


@app.callback()
def _group() -> None:
    """Keep the name of the only sub-command."""


@app.command()
def sacct(
    file: Annotated[Path, typer.Argument(help="Text of sacct -P, or sacct --json.")],
    to: Annotated[
        Path | None, typer.Option(help="CSV or Parquet file to write; a summary without it.")
    ] = None,
    task: Annotated[str, typer.Option(help="Field that names the task.")] = "JobName",
    cluster: Annotated[str, typer.Option(help="Field that names where it ran.")] = "Partition",
    delimiter: Annotated[
        str | None, typer.Option(help="Stands between fields; found in the header if left out.")
    ] = None,
    output: OutputOption = Format.TABLE,
) -> None:
    """Read Slurm's accounting: good rows are kept and counted, the others explained.

    Make the file with

      sacct -a -X -P --noconvert -o JobID,JobName,Partition,State,ElapsedRaw > jobs.txt

    Timeouts, lost nodes and memory ran out are failures apart from each other; cancelled and
    preempted jobs count neither way. Times are elapsed seconds, never CPU time. A job whose time
    cannot be used counts by its outcome; its time stays empty.

    Examples:

      walras data import sacct jobs.txt --to runs.csv

      walras data import sacct jobs.json --cluster Cluster -o json

      walras data import sacct jobs.txt --delimiter ";"
    """
    found = read_sacct(file, task=task, cluster=cluster, delimiter=delimiter)
    log = found.log
    for problem in log.problems:
        tell(f"{'time ' if problem.kept else ''}left out: {problem}")
    if found.steps and not found.identified:
        tell(f"without JobID numbered steps count as jobs; tell them apart by: {COMMAND}")
    runs = log.runs
    if to is not None:
        write_log(runs, to)
    rows = [
        (
            str(name),
            len(group),
            int((group["outcome"] == "completed").sum()),
            group["task"].nunique(),
        )
        for name, group in runs.groupby("cluster", sort=True)
    ]
    title = (
        f"{len(runs)} runs kept, {log.untimed} of them without their time; left out: "
        f"{log.left_out} unusable, {found.steps} steps of jobs, {found.unfinished} unfinished"
    )
    emit(Table(("cluster", "runs", "completed", "tasks"), rows, title), output)
