"""SenseTime's Helios traces: ``cluster_log.csv`` of one cluster.

Source: the README of S-Lab-System-Group/HeliosData; Hu et al., SC 2021.
"""

from __future__ import annotations

from pathlib import Path

from walras.simulate.formats.raw import Raw
from walras.simulate.formats.table import read_lines

COLUMNS = {
    "job_id": "name",
    "vc": "kind",
    "gpu_num": "size",
    "duration": "seconds",
    "submit_time": "arrival",
}


def read(path: Path) -> Raw:
    """Read the log; jobs that take no GPU and those that ran for 0 s are left out.

    Raises:
        DataError: The file cannot be read, or lacks a column.
    """
    raw = read_lines(path, tuple(COLUMNS))
    raw = raw.without(raw.number("gpu_num") == 0.0, "takes no GPU")
    return raw.without(raw.number("duration") == 0.0, "ran for 0 s")
