"""Alibaba's GPU cluster of 2020 (PAI): tables of jobs, tasks and instances, without headers.

A job has tasks of several roles, each with instances on GPUs of one type. A task that takes GPUs is
a job here: its instances run together. Tasks share GPUs, so that a worker is a thousandth of a GPU.
Source: the README of alibaba/clusterdata, cluster-trace-gpu-v2020; Weng et al., NSDI 2022.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from walras.data.formats.csv_table import read_csv
from walras.files import reason_of
from walras.simulate.formats.raw import Raw, cannot_read

COLUMNS = {
    "name": "name",
    "task_name": "kind",
    "gpu_thousandths": "size",
    "seconds": "seconds",
    "submitted": "arrival",
    "gpu_type": "type",
}

_TASK = (
    "job_name",
    "task_name",
    "inst_num",
    "status",
    "start_time",
    "end_time",
    "plan_cpu",
    "plan_mem",
    "plan_gpu",
    "gpu_type",
)
_JOB = ("job_name", "inst_id", "user", "status", "start_time", "end_time")
_INSTANCE = (
    "job_name",
    "task_name",
    "inst_name",
    "worker_name",
    "inst_id",
    "status",
    "start_time",
    "end_time",
    "machine",
)
_MACHINE = ("machine", "gpu_type", "cap_cpu", "cap_mem", "cap_gpu")
_UNFINISHED = ("Running", "Waiting")
_PERCENT = 10  # thousandths
_CHUNK = 1_000_000  # rows of the table of instances, of which there are seven millions


def read(path: Path) -> Raw:
    """Read the tasks; those without GPU, and those that have not ended, are left out.

    Args:
        path: The folder of the tables, or ``pai_task_table.csv``. Of the tables beside it,
            ``pai_job_table.csv`` says when a job was submitted; without it, a task arrives when it
            started. ``pai_instance_table.csv`` says when tasks without an end did end.

    Raises:
        DataError: A table cannot be read.
    """
    path = _find(path, "pai_task_table") if path.is_dir() else path
    table = _table(path, _TASK)
    raw = Raw(table, np.arange(1, len(table) + 1))
    raw = raw.without(~(raw.number("plan_gpu") > 0.0), "takes no GPU")
    raw = raw.without(raw.table["status"].isin(_UNFINISHED).to_numpy(np.bool_), "has not ended")
    table = _ended(raw.table, path.parent)
    raw = Raw(table, raw.row, left_out=raw.left_out)
    raw = raw.without(np.isnan(raw.number("end_time")), "has no end")
    table = raw.table
    table["name"] = table["job_name"] + "/" + table["task_name"]
    share = raw.number("plan_gpu") * raw.number("inst_num") * _PERCENT
    size = pd.Series(np.ceil(share - 1e-6), index=table.index, dtype=object)
    table["gpu_thousandths"] = size.where(~np.isnan(share), table["inst_num"].fillna("unknown"))
    table["seconds"] = raw.number("end_time") - raw.number("start_time")
    table["submitted"] = _submitted(table, path.parent)
    return raw.without(raw.number("seconds") == 0.0, "ran for 0 s")


def read_machines(path: Path) -> Raw:
    """Read ``pai_machine_spec.csv``.

    Raises:
        DataError: It cannot be read.
    """
    table = _table(path, _MACHINE)
    return Raw(table, np.arange(1, len(table) + 1))


def _find(folder: Path, name: str) -> Path:
    """A table in a folder, packed or not; the plain name if there is none."""
    plain = folder / f"{name}.csv"
    packed = folder / f"{name}.csv.gz"
    return packed if packed.is_file() and not plain.is_file() else plain


def _table(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """A table; a header is left out where there is one."""
    return pd.concat(_parts(path, columns))


def _parts(path: Path, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
    """The parts of a table, one after the other."""
    try:
        head = list(read_csv(path, header=None, nrows=1, dtype=object).iloc[0])
        if len(head) != len(columns):  # pandas would take the others for an index
            raise ValueError(f"line 1 has {len(head)} cells, not {len(columns)}")
        parts: Any = read_csv(
            path,
            names=list(columns),
            header=None,
            skiprows=int(head == list(columns)),
            dtype=object,
            chunksize=_CHUNK,
        )
        yield from parts
    except (OSError, ValueError, EOFError) as error:
        raise cannot_read(
            path,
            reason_of(error).strip(),
            f"CSV of {', '.join(columns)}",
            "correct the line, or unpack the tables there",
        ) from error


def _ended(table: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """The tasks, with times of their instances where they have none themselves."""
    lacking = pd.to_numeric(table["end_time"], errors="coerce").isna()
    path = _find(folder, "pai_instance_table")
    if not lacking.any() or not path.is_file():
        return table
    wanted = table.loc[lacking, ["job_name", "task_name"]].drop_duplicates()
    parts = []
    for chunk in _parts(path, _INSTANCE):
        found = chunk.merge(wanted, on=["job_name", "task_name"])
        for name in ("start_time", "end_time"):
            found[name] = pd.to_numeric(found[name], errors="coerce")
        parts.append(found[["job_name", "task_name", "start_time", "end_time"]])
    times = pd.concat(parts).groupby(["job_name", "task_name"])
    ends = pd.DataFrame({"began": times["start_time"].min(), "ended": times["end_time"].max()})
    joined = table.join(ends, on=["job_name", "task_name"])
    joined["start_time"] = joined["start_time"].fillna(joined["began"])
    joined["end_time"] = joined["end_time"].fillna(joined["ended"])
    return joined


def _submitted(table: pd.DataFrame, folder: Path) -> pd.Series:
    """When each task's job was submitted."""
    path = _find(folder, "pai_job_table")
    if not path.is_file():
        return table["start_time"]
    jobs = _table(path, _JOB).drop_duplicates("job_name").set_index("job_name")["start_time"]
    return table["job_name"].map(jobs).fillna(table["start_time"])
