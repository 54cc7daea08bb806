"""``walras data import``: logs of other programs, as the table that predictors are trained on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from walras.cli.output import Format, OutputOption, Table, emit
from walras.errors import DataError
from walras.predict.log import write_log
from walras.predict.sacct import read_sacct

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
    output: OutputOption = Format.TABLE,
) -> None:
    """Read Slurm's accounting: good rows are kept and counted, the others explained.

    Make the file with

      sacct -a -X -P --noconvert -o JobID,JobName,Partition,State,ElapsedRaw > jobs.txt

    Timeouts, lost nodes and memory ran out are failures apart from each other; cancelled and
    preempted jobs count neither way. Times are elapsed seconds, never CPU time.

    Examples:

      walras data import sacct jobs.txt --to runs.csv

      walras data import sacct jobs.json --cluster Cluster -o json
    """
    found = read_sacct(file, task=task, cluster=cluster)
    log = found.log
    for problem in log.problems:
        print(f"left out: {problem}", file=sys.stderr)
    runs = log.runs
    if to is not None:
        _write(runs, to)
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
        f"{len(runs)} runs kept; left out: {log.left_out} unusable, {found.steps} steps of jobs, "
        f"{found.unfinished} unfinished"
    )
    emit(Table(("cluster", "runs", "completed", "tasks"), rows, title), output)


def _write(runs: pd.DataFrame, path: Path) -> None:
    try:
        write_log(runs, path)
    except OSError as error:
        raise DataError(
            f"cannot be written: {error.strerror}", where=str(path),
            allowed="a file in a folder you may write to", remedy="choose another --to PATH",
        ) from error  # fmt: skip
