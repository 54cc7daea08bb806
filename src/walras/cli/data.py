"""``walras data``: list, find, fetch and verify real data sets; import logs."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Annotated

import typer

from walras import data
from walras.cli.common.errors import ExitCode
from walras.cli.common.output import Format, OutputOption, emit
from walras.cli.common.streams import put, tell
from walras.cli.common.targets import check_table
from walras.predict.logs.log import TABLES, write_log
from walras.predict.logs.sacct import COMMAND, read_sacct
from walras.progress import Progress
from walras.reports.tables import Table, to_json
from walras.text import visible

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="""List, find, fetch and verify real data sets; import logs of your own.

    Sets are looked for in $WALRAS_DATA/<name>, then in the user's cache.
    Without a set, every command works on a labelled synthetic stand-in.

    Examples:

      walras data list

      walras data fetch gavel

      walras data verify

      walras data import sacct jobs.txt --to runs.csv
    """,
)


import_app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="""Turn other programs' logs into a table of runs: task, cluster, seconds, outcome.

    Examples:

      walras data import sacct jobs.txt --to runs.csv
    """,
)

app.add_typer(import_app, name="import")

Name = Annotated[str, typer.Argument(help="Name of the set, as in walras data list.")]
SomeNames = Annotated[
    list[str] | None, typer.Argument(help="Names of sets; all of them when left out.")
]


@app.command("list")
def list_sets(output: OutputOption = Format.TABLE) -> None:
    """Show every data set: what it holds, whether it is here.

    As JSON and CSV also where it comes from, its licence, and the folder that it was found in.

    Examples:

      walras data list

      walras data list -o json
    """
    sets = [(s, data.find(s.name)) for s in data.REGISTRY.values()]
    if output is Format.TABLE:  # what fits a terminal of 80 columns
        brief = [(s.name, s.title, at is not None) for s, at in sets]
        emit(Table(("name", "holds", "here"), brief))
        put("Origin, licence, columns: walras data show NAME; folder: walras data path NAME.")
        return
    rows = [(s.name, s.title, str(s.origin), s.origin.licence, _text(at)) for s, at in sets]
    emit(Table(("name", "holds", "origin", "licence", "found in"), rows), output)


@app.command()
def show(name: Name, output: OutputOption = Format.TABLE) -> None:
    """Explain one data set: its columns with their units, and the work to cite.

    Examples:

      walras data show gavel_traces
    """
    data_set = data.lookup(name)
    origin = data_set.origin
    title = (
        f"{data_set.name}: {data_set.title}. {origin.citation}. From {origin}, {origin.licence}."
    )
    emit(Table(("column", "meaning"), list(data_set.columns.items()), title), output)


@app.command()
def path(name: Name) -> None:
    """Print the folder that holds a set; exit with 6 when it is not here.

    Examples:

      walras data path gavel
    """
    folder = data.find(name)
    if folder is None:
        raise data.not_found(data.lookup(name))
    put(str(folder))


@app.command()
def fetch(
    names: SomeNames = None,
    force: Annotated[bool, typer.Option(help="Download again what is here and intact.")] = False,
    mirror: Annotated[
        str, typer.Option(help="Base address that serves <repository>/<commit>/<path>.")
    ] = data.ORIGINS,
    time_limit: Annotated[
        float, typer.Option(help="Seconds that all downloads of one set may take.")
    ] = data.TIME_LIMIT,
) -> None:
    """Download sets from their origin into the user's cache, and check them.

    Examples:

      walras data fetch

      walras data fetch gavel gavel_traces

      walras data fetch gavel --mirror file:///srv/mirror
    """
    for name in names or list(data.REGISTRY):
        folder = data.fetch(
            name, mirror=mirror, force=force, time_limit=time_limit, on_progress=_tell_download
        )
        put(f"{name}: {folder}")


@app.command()
def verify(names: SomeNames = None, output: OutputOption = Format.TABLE) -> None:
    """Compare files with their checksums; exit with 6 when one is missing or differs.

    Examples:

      walras data verify

      walras data verify gavel -o json
    """
    rows: list[tuple[str, str, str, str | None]] = []
    for name in names or list(data.REGISTRY):
        data_set = data.lookup(name)
        folder = data.find(name)
        states = data.verify(name) if folder is not None else {}
        for file in data_set.files:
            state = states.get(file.name, data.FileState.MISSING)
            rows.append((name, file.name, state.value, _text(folder)))
    emit(Table(("name", "file", "state", "folder"), rows), output)
    if any(state != data.FileState.OK for _, _, state, _ in rows):
        raise typer.Exit(ExitCode.NO_DATA)


@app.command()
def fit(name: Name) -> None:
    """Fit the model of a set's synthetic stand-in to the real set, and print it as JSON.

    Examples:

      walras data fit gavel
    """
    put(to_json(dataclasses.asdict(data.fit_stand_in(name))))


@import_app.callback()
def _group() -> None:
    """Keep the name of the only sub-command."""


@import_app.command()
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
    check_table(to, "--to", TABLES)
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


def _text(folder: object) -> str | None:
    return None if folder is None else str(folder)


def _tell_download(step: Progress) -> None:
    if sys.stderr.isatty():
        end = "\n" if step.iteration == step.total else ""
        sys.stderr.write(f"\r{step.iteration}/{step.total} {visible(step.note):<70.70}{end}")
        sys.stderr.flush()
