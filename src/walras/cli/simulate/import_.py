"""``walras simulate import``: a trace of any format, checked and written as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from walras.cli.common.output import Format, OutputOption, emit
from walras.cli.common.streams import tell
from walras.cli.common.targets import check_table
from walras.cli.simulate.loading import (
    ClusterOption,
    FormatOption,
    MapOption,
    NodesOption,
    SpeedsOption,
    TypeOption,
    cluster_of,
    cluster_table,
    tell_refused,
    trace_options,
)
from walras.cli.simulate.units import in_fitting_unit
from walras.reports.tables import Cell, Table, of_frame
from walras.simulate import FORMATS, Cluster, Imported, check_load, import_trace, save_trace
from walras.simulate.formats.write import ENDINGS

HELP = """Read a trace of any format, and say what is in it.

Rows that cannot be used are named with their line, field and reason, and the
others are kept. With a cluster, jobs that do not fit are refused, too, and the
offered load says whether it can keep up: above 100 %, no policy can.
`walras simulate formats` lists the formats.

Examples:

  walras simulate import log.swf --cluster cpu=128

  walras simulate import pods.csv --format openb --nodes nodes.csv

  walras simulate import jobs.csv --map when=arrival --map gpus=size --save trace.parquet

Exit codes: 0 done, 2 bad input, 6 a file cannot be read, or more of its rows
are bad than good.
"""


def import_command(
    file: Annotated[Path, typer.Argument(help="The trace; for alibaba, the folder of its tables.")],
    form: FormatOption = None,
    maps: MapOption = None,
    types: TypeOption = None,
    speeds: SpeedsOption = None,
    cluster: ClusterOption = None,
    nodes: NodesOption = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the trace as .csv, .parquet or .json.")
    ] = None,
    refused: Annotated[bool, typer.Option("--refused", help="List every refused row.")] = False,
    output: OutputOption = Format.TABLE,
) -> None:
    """Read a trace of any format, and say what is in it."""
    check_table(save, "--save", ENDINGS)
    on = cluster_of(cluster_table(cluster, nodes, form))
    found = import_trace(file, cluster=on, **trace_options(form, maps, types, speeds))
    tell(str(found.trace))
    if save is not None:
        save_trace(found.trace, save)
    if refused:
        emit(of_frame(found.frame(), found.trace.source), output)
        return
    tell_refused(found)
    rows = [*_counts(found), *_load(found, on or found.capacity)]
    table = Table(("measure", "value", "unit"), rows, found.trace.source)
    emit(in_fitting_unit(table, output), output)


def formats_command(output: OutputOption = Format.TABLE) -> None:
    """List the formats of traces, and which columns mean what."""
    rows = [
        (name, form.title, ", ".join(f"{column}={field}" for column, field in form.columns.items()))
        for name, form in FORMATS.items()
    ]
    emit(Table(("format", "is", "map"), rows), output)


def _counts(found: Imported) -> list[tuple[Cell, ...]]:
    trace = found.trace
    fastest = trace.seconds()
    return [
        ("jobs", len(trace), ""),
        ("rows refused", len(found.refused), ""),
        *((f"left out: {reason}", count, "") for reason, count in found.left_out.items()),
        ("classes", len(set(trace.kind)), ""),
        ("span of arrivals", trace.span / 3600, "h"),
        ("median size", float(np.median(trace.size)), "workers"),
        ("largest size", int(trace.size.max()), "workers"),
        ("median time alone", float(np.median(fastest)) / 3600, "h"),
        ("largest time alone", float(fastest.max()) / 3600, "h"),
        ("work on the fastest types", float(fastest @ trace.size) / 3600, "worker-h"),
    ]


def _load(found: Imported, cluster: Cluster | None) -> list[tuple[Cell, ...]]:
    """The offered load by type; what is above 100 % is said."""
    if cluster is None:
        tell("no cluster is given: --cluster TYPE=WORKERS shows the offered load")
        return []
    load = check_load(found.trace, cluster)
    tell(str(load))
    if load.misfits:
        need = "job needs" if len(load.misfits) == 1 else "jobs need"
        tell(f"{len(load.misfits)} {need} more than {cluster}, first {load.misfits[0]!r}")
    rows: list[tuple[Cell, ...]] = [("least time for all of it", load.seconds / 3600, "h")]
    for row in load.frame().to_dict("records") if load.span else ():
        rows.append((f"load of {row['type']}", 100 * row["load"], "%"))
        rows.append((f"of it, of jobs for {row['type']} alone", 100 * row["only here"], "%"))
    return rows
