"""Traces and runs as tables for other programs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from walras import checks
from walras.extras import need_pyarrow
from walras.files import PARQUET, check_target, make_folder, replacing, write_csv, write_text
from walras.simulate.metrics import SECONDS, summary
from walras.simulate.result import Run
from walras.simulate.trace import Trace

TABLES = ("csv", "parquet", "json")
"""Kinds of tables."""

ENDINGS = (".csv", ".json", *PARQUET)
"""Endings of the files that :func:`save_trace` writes."""


def save_trace(trace: Trace, path: str | Path) -> None:
    """Write a trace as a table, which :func:`walras.simulate.import_trace` reads.

    Args:
        trace: The trace.
        path: Ends in ``.csv``, ``.json``, ``.parquet`` or ``.pq``.

    Raises:
        InputError: Its name ends otherwise.
        EngineError: It is Parquet, and pyarrow is not installed.
        DataError: The file cannot be written.

    Example:
        >>> import walras as wl
        >>> trace = wl.simulate.Trace.of(["a", "b"], steps=[600, 60], arrival=[0, 1.5])
        >>> wl.simulate.save_trace(trace, "trace.csv")
        >>> wl.simulate.load_trace("trace.csv").arrival.tolist()
        [0.0, 1.5]
    """
    table = trace.frame().reset_index().rename(columns={"job": "name"})
    write_table(table, Path(path))


def export_run(run: Run, folder: str | Path, table: str = "csv") -> None:
    """Write a run as tables and a summary: jobs, rounds, jobs as Batsim writes them, ``run.json``.

    ``batsim_jobs.csv`` has the columns of Batsim's own output, for the jobs that ended; energy and
    the machines are empty. The same trace, policy and seed give the same bytes.

    Args:
        run: The run.
        folder: Where to put the files; made if it is not there.
        table: ``csv``, ``parquet`` or ``json``, for jobs and rounds.

    Raises:
        InputError: There is no such kind of table.
        EngineError: It is Parquet, and pyarrow is not installed.
        DataError: A file cannot be written.

    Example:
        >>> import walras as wl
        >>> trace = wl.simulate.Trace.of(["a", "b"], steps=[600, 60])
        >>> run = wl.simulate.run(trace, wl.simulate.Cluster({"type 0": 1}), wl.policies.fifo())
        >>> wl.simulate.export_run(run, "out")
        >>> from pathlib import Path
        >>> sorted(path.name for path in Path("out").iterdir())
        ['batsim_jobs.csv', 'jobs.csv', 'rounds.csv', 'run.json']
    """
    check_table(table)
    place = make_folder(folder)
    write_table(run.frame().reset_index(), place / f"jobs.{table}")
    rounds = run.rounds.drop(columns=["seconds", "overhead"])  # of the wall clock
    write_table(rounds, place / f"rounds.{table}")
    write_csv(place / "batsim_jobs.csv", batsim_jobs(run))
    write_text(place / "run.json", json.dumps(_described(run), indent=2) + "\n")


def check_table(table: str, where: str = "table") -> None:
    """Refuse a kind of table that cannot be written, before there is anything to write.

    Raises:
        InputError: There is no such kind.
        EngineError: It is Parquet, and pyarrow is not installed.
    """
    checks.one_of(table, where, TABLES)
    if table == "parquet":
        need_pyarrow()


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table by the ending of the name, whole or not at all.

    Raises:
        InputError: The name ends in none of :data:`ENDINGS`.
        EngineError: It is Parquet, and pyarrow is not installed.
        DataError: The file cannot be written.
    """
    check_target(path, "path", ENDINGS)
    if path.suffix.lower() in PARQUET:
        need_pyarrow()
        with replacing(path) as fresh:
            table.to_parquet(fresh, index=False)
    elif path.suffix.lower() == ".json":
        rows = [dict(zip(table.columns, map(_plain, row), strict=True)) for row in _rows(table)]
        write_text(path, json.dumps(rows) + "\n")
    else:
        write_csv(path, table)


def batsim_jobs(run: Run) -> pd.DataFrame:
    """The jobs of a run that ended, with the columns of Batsim's ``_jobs.csv``.

    Source: Batsim's documentation, output of jobs.
    """
    at = np.flatnonzero(~np.isnan(run.ended))
    began, ended, sent = run.began[at], run.ended[at], run.arrival[at]
    ran, there = ended - began, ended - sent
    empty = np.full(len(at), "", object)
    columns = {
        "job_id": [run.name[j] for j in at],
        "workload_name": "walras",
        "profile": [run.kind[j] for j in at],
        "submission_time": sent,
        "requested_number_of_resources": run.size[at],
        "requested_time": empty,
        "success": 1,
        "final_state": "COMPLETED_SUCCESSFULLY",
        "starting_time": began,
        "execution_time": ran,
        "finish_time": ended,
        "waiting_time": began - sent,
        "turnaround_time": there,
        "stretch": there / ran,
        "consumed_energy": empty,
        "allocated_resources": empty,
        "metadata": empty,
    }
    return pd.DataFrame(columns, index=range(len(at)))


def _described(run: Run) -> dict[str, Any]:
    """What ``run.json`` holds."""
    measures = {
        row.measure: {"value": _plain(row.value), "unit": row.unit}
        for row in summary(run).itertuples()
        if row.measure not in SECONDS
    }
    return {
        "policy": run.policy,
        "trace": run.source,
        "seed": run.seed,
        "round_seconds": run.round_seconds,
        "cluster": dict(zip(run.types, run.workers.tolist(), strict=True)),
        "jobs": len(run.name),
        "complete": run.complete,
        "end_seconds": run.end,
        "violations": list(run.violations),
        "hash": run.hash,
        "measures": measures,
    }


def _rows(table: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    return table.itertuples(index=False, name=None)


def _plain(value: Any) -> Any:
    """A value as JSON has it: no NumPy, and null for NaN and infinity."""
    plain = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain
