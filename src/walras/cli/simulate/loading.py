"""Traces and clusters from options, and what is said of them before a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from walras.cli.common.streams import tell
from walras.cli.exchange.connect import key_values
from walras.errors import InputError
from walras.simulate import (
    FORMATS,
    Cluster,
    Imported,
    Slots,
    TaskTrace,
    Trace,
    check_load,
    load_cluster,
)
from walras.simulate.compare.study import Study
from walras.simulate.formats.nodes import NODES
from walras.simulate.scenario import Scenario

FormatOption = Annotated[
    str | None,
    typer.Option("--format", help=f"{', '.join(FORMATS)}; by the ending if left out."),
]
MapOption = Annotated[
    list[str] | None, typer.Option("--map", help="COLUMN=FIELD, as when=arrival or gpus=size.")
]
TypeOption = Annotated[
    list[str] | None,
    typer.Option("--type", help="NAME or NAME=SPEED of a type of workers, for durations."),
]
SpeedsOption = Annotated[
    Path | None, typer.Option("--speeds", help="Steps a second by class, in Gavel's form.")
]
ClusterOption = Annotated[list[str] | None, typer.Option("--cluster", help="TYPE=WORKERS.")]
NodesOption = Annotated[
    Path | None,
    typer.Option("--nodes", help="The cluster as a list of machines, in the trace's format."),
]

_SHOWN = 10  # refused rows


def trace_options(
    form: str | None, maps: list[str] | None, types: list[str] | None, speeds: Path | None
) -> dict[str, Any]:
    """Arguments of :func:`walras.simulate.import_trace`: those that were given."""
    made = {
        "format": form,
        "columns": key_values(maps, "map") or None,
        "types": _types(types) or None,
        "speeds": None if speeds is None else str(speeds),
    }
    return {name: value for name, value in made.items() if value is not None}


def cluster_table(
    cluster: list[str] | None, nodes: Path | None, form: str | None
) -> dict[str, Any]:
    """The table of the cluster, as a scenario has it; empty if none is given."""
    counts = key_values(cluster, "cluster", int)
    if nodes is None:
        return counts
    if counts:
        raise InputError(
            "are given beside --cluster",
            where="--nodes",
            allowed="one of the two",
            remedy="leave out one",
        )
    return {"file": str(nodes), "format": form if form in NODES else "table"}


def cluster_of(table: dict[str, Any]) -> Cluster | None:
    """The cluster of such a table; None if it is empty."""
    if "file" in table:
        return load_cluster(table["file"], table["format"])
    return Cluster(table) if table else None


def load(stated: Scenario) -> tuple[Trace, Cluster]:
    """The trace and the cluster of a run. Says what was not taken, and whether it is too much."""
    found = stated.import_trace()
    if found.capacity is None or stated.cluster:
        cluster = stated.make_cluster()
    else:
        cluster = found.capacity
        found = found.fitting(cluster)
        tell(f"no cluster is given: it is what the trace says, {cluster}")
    tell(str(found.trace))
    tell_refused(found)
    tell_load(found.trace, cluster)
    return found.trace, cluster


def load_tasks(stated: Scenario) -> tuple[TaskTrace, Slots]:
    """The tasks and the clusters with slots of a run. Says the same as :func:`load`."""
    slots = stated.make_slots()
    if "file" in stated.trace:
        found = stated.import_trace()
        tasks = TaskTrace.from_trace(found.trace)
        tell(str(tasks))
        tell_refused(found)
    else:
        tasks = stated.draw_tasks()
        tell(str(tasks))
    tell_load(tasks, slots)
    return tasks, slots


def load_study(stated: Study) -> tuple[dict[str, Any], Cluster | Slots]:
    """Traces by label and the cluster of a comparison: a file is read as for a run, others are
    functions that draw one from a seed, of which the first seed's load is printed.
    """
    label, first = next(iter(stated.traces.items()))
    if "file" in first.trace:  # such a study has one trace
        jobs, on = load_tasks(first) if stated.placed else load(first)
        return {label: jobs}, on
    traces, cluster = stated.draws(), stated.make_cluster()
    for name, draw in traces.items():
        tell_load(draw(seed=stated.seeds[0]), cluster, name)
    return dict(traces), cluster


def tell_load(jobs: Trace | TaskTrace, cluster: Cluster | Slots, name: str = "") -> None:
    """Say where more work arrives than the workers can do, whatever the policy."""
    trace = jobs.to_trace() if isinstance(jobs, TaskTrace) else jobs
    load = check_load(trace, Cluster(cluster.counts))
    if load.saturated:
        tell(f"{name}: {load}" if name else str(load))


def tell_refused(found: Imported) -> None:
    """Name the rows that were refused, and count those that were left out."""
    for bad in found.refused[:_SHOWN]:
        tell(f"refused: {bad}")
    if len(found.refused) > _SHOWN:
        more = len(found.refused) - _SHOWN
        are = "row is" if more == 1 else "rows are"
        tell(f"{more} more {are} refused; `simulate import` lists them")
    for reason, count in found.left_out.items():
        tell(f"left out: {count}, {reason}")
    for note in found.notes:
        tell(note)
    if found.unused:
        what = "column" if len(found.unused) == 1 else "columns"
        tell(f"{what} not used: {', '.join(found.unused)}; --map COLUMN=FIELD uses one")


def _types(given: Sequence[str] | None) -> dict[str, float]:
    """Types by name with their speeds, 1 where none is given."""
    words = [word if "=" in word else f"{word}=1" for word in given or ()]
    return key_values(words, "type", float)
