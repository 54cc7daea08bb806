"""The formats of traces: one row each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from walras.data.gavel import GavelThroughputs
from walras.simulate.formats import alibaba, batsim, gavel, helios, openb, philly, sacct, swf, table
from walras.simulate.formats.raw import Raw


@dataclass(frozen=True)
class Format:
    """A format of traces.

    Attributes:
        title: What it is, in one line.
        read: Turns a file into rows under the format's own column names.
        columns: Column -> field of a job.
        speeds: Finds the measured speeds by class and size that a trace needs; None where the rows
            say how long jobs run.
        ordered: Whether rows stand in the order of arrival; one that does not is refused.
        default_type: Name of the one type of workers, where the format knows none.

    Example:
        >>> import walras as wl
        >>> wl.simulate.FORMATS["shockwave"].columns["job type"]
        'kind'
    """

    title: str
    read: Callable[[Path], Raw]
    columns: Mapping[str, str] = field(default_factory=dict)
    speeds: Callable[[Path], GavelThroughputs] | None = None
    ordered: bool = False
    default_type: str = "worker"


FORMATS: Mapping[str, Format] = {
    "gavel": Format(
        "Gavel's traces, with the measured speeds of the set gavel",
        gavel.read,
        gavel.COLUMNS,
        speeds=gavel.gavel_speeds,
        ordered=True,
    ),
    "shockwave": Format(
        "Shockwave's traces, with the speeds of its tacc_throughputs.json",
        gavel.read,
        gavel.COLUMNS,
        speeds=gavel.shockwave_speeds,
        ordered=True,
    ),
    "philly": Format(
        "Microsoft's Philly traces: cluster_job_log",
        philly.read,
        philly.COLUMNS,
        default_type="gpu",
    ),
    "helios": Format(
        "SenseTime's Helios traces: cluster_log.csv",
        helios.read,
        helios.COLUMNS,
        default_type="gpu",
    ),
    "alibaba": Format(
        "Alibaba's GPU cluster of 2020: the folder of its pai tables",
        alibaba.read,
        alibaba.COLUMNS,
        default_type="gpu",
    ),
    "openb": Format(
        "Alibaba's GPU cluster of 2023: a list of pods",
        openb.read,
        openb.COLUMNS,
        default_type="gpu",
    ),
    "swf": Format(
        "the Standard Workload Format, version 2.2",
        swf.read,
        swf.COLUMNS,
        default_type="cpu",
    ),
    "sacct": Format(
        "Slurm's accounting: sacct -P, or its JSON",
        sacct.read,
        sacct.COLUMNS,
        default_type="cpu",
    ),
    "batsim": Format(
        "Batsim's workloads: JSON of jobs with delays",
        batsim.read,
        batsim.COLUMNS,
        default_type="host",
    ),
    "table": Format("CSV, Parquet or JSON with columns of any name", table.read),
}
"""Name -> format."""
