"""Job traces of Gavel: when which training job arrived, and how long it is."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from walras import checks
from walras.data.dataset import Source
from walras.data.formats.csv_table import read_csv
from walras.data.store import unpacked, unreadable
from walras.errors import DataError
from walras.short_repr import short_repr

NAME = "gavel_traces"
FILE = "traces.csv.gz"
COLUMN_TYPES = {
    "trace": "str",
    "job_type": "str",
    "total_steps": "int64",
    "scale_factor": "int64",
    "priority_weight": "float64",
    "SLO": "float64",
    "arrival_time": "float64",
}

# The virtual clusters of the Philly trace, each drawn with five seeds.
VIRTUAL_CLUSTERS = (
    "0e4a51", "103959", "11cb48", "23dbec", "2869ce",
    "51b7ef", "6214e9", "6c71a0", "795a4c", "7f04ca",
    "925e2b", "b436b2", "e13805", "ed69ec", "ee9e8c",
)  # fmt: skip
PHYSICAL_CLUSTER = (
    "artifact_evaluation", "debug", "debug_v2", "highmem_test",
    "max_min_fairness", "medium_test", "minimize_makespan", "small_test",
)  # fmt: skip
SEEDS = range(5)
TRACES = (
    *(f"msr/seed={seed}/{cluster}.trace" for seed in SEEDS for cluster in VIRTUAL_CLUSTERS),
    *(f"physical_cluster/{name}.trace" for name in PHYSICAL_CLUSTER),
)


@short_repr
@dataclass(frozen=True)
class JobTraces:
    """Jobs of many traces in one table.

    Attributes:
        jobs: A frame with columns ``trace`` (name), ``job_type`` (as in the throughputs),
            ``total_steps`` (mini-batch steps), ``scale_factor`` (GPUs), ``priority_weight`` and
            ``SLO`` (NaN where the trace has none; an SLO of -1 means none was set),
            ``arrival_time`` (seconds).
        source: Whether the jobs are from real traces or synthetic.
        origin: Where they come from, in words.

    Example:
        >>> import walras as wl
        >>> found = wl.data.load("gavel_traces", synthetic=True)
        >>> jobs = found.trace(found.names[0])
        >>> bool(jobs["arrival_time"].is_monotonic_increasing)
        True
    """

    jobs: pd.DataFrame
    source: Source
    origin: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the traces, in the table's order."""
        return tuple(str(name) for name in self.jobs["trace"].unique())

    def trace(self, name: str) -> pd.DataFrame:
        """The jobs of one trace in the order in which they arrive.

        Args:
            name: The trace's name, one of :attr:`names`.

        Returns:
            One row per job.

        Raises:
            InputError: There is no trace of that name.
        """
        remedy = "list them with walras.data.load('gavel_traces').names"
        checks.one_of(name, "name", self.names, "trace", remedy=remedy)
        jobs = self.jobs[self.jobs["trace"] == name]
        return jobs.sort_values("arrival_time", kind="stable", ignore_index=True)


def read(folder: Path) -> JobTraces:
    """Read the table of all traces from ``traces.csv.gz``.

    Raises:
        DataError: The file is not what it should be.
    """
    path = folder / FILE
    try:
        jobs = read_csv(io.BytesIO(unpacked(path)), dtype=COLUMN_TYPES)
    except (OSError, EOFError, ValueError) as error:
        raise unreadable(NAME, path, error) from error
    missing = set(COLUMN_TYPES) - set(jobs.columns)
    if missing:
        raise unreadable(NAME, path, f"no column {', '.join(sorted(missing))}")
    if not np.isfinite(jobs["arrival_time"]).all():
        raise unreadable(NAME, path, "an arrival time is missing")
    return JobTraces(jobs[list(COLUMN_TYPES)], "measured", str(folder))


def derive_table(contents: Sequence[bytes]) -> bytes:
    """Join the traces' tab-separated files into one compressed CSV table.

    Args:
        contents: The files of ``TRACES``, in that order.

    Raises:
        DataError: A line has none of the known layouts.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMN_TYPES)
    for trace, content in zip(TRACES, contents, strict=True):
        for fields in _jobs(trace, content.decode("utf-8")):
            writer.writerow((trace, *fields))
    return gzip.compress(text.getvalue().encode("utf-8"), mtime=0)


def _jobs(trace: str, text: str) -> Iterator[tuple[str, ...]]:
    for number, line in enumerate(text.splitlines(), start=1):
        match line.split("\t"):
            # type, command, folder, argument, data, steps, scale, weight, SLO, arrival
            case [job_type, _, _, _, _, steps, scale, weight, slo, arrival]:
                yield job_type, steps, scale, weight, slo, arrival
            # type, command, argument, data, steps, arrival, scale: neither weight nor SLO
            case [job_type, _, _, _, steps, arrival, scale]:
                yield job_type, steps, scale, "", "", arrival
            case fields:
                raise DataError(
                    f"a line has {len(fields)} tab-separated fields",
                    where=f"{trace}, line {number}",
                    allowed="7 or 10 fields",
                    remedy="the file is not the one registered: try another mirror",
                )
