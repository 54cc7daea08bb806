"""The Standard Workload Format, version 2.2, of the Parallel Workloads Archive.

A line has 18 numbers, of which -1 is unknown; further ones are ignored. Lines that begin with a
semicolon are comments, of which ``MaxProcs: N`` says how many processors the machine has. Source:
Feitelson, Tsafrir, Krakow: Experience with using the Parallel Workloads Archive, 2014.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd

from walras.simulate.formats.raw import Raw, Refusal, text_of

FIELDS = (
    "job",
    "submit",
    "wait",
    "run",
    "allocated",
    "cpu_time",
    "memory",
    "requested",
    "requested_time",
    "requested_memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding",
    "think_time",
)
COLUMNS = {
    "job": "name",
    "submit": "arrival",
    "run": "seconds",
    "processors": "size",
    "executable": "kind",
}

_LABELS = ("user", "group", "executable", "queue", "partition")
_PARTS, _CANCELLED = (2.0, 3.0, 4.0), 5.0  # of the status
_MAX_PROCS = re.compile(r";\s*MaxProcs:\s*(\d+)")


def read(path: Path) -> Raw:
    """Read the lines.

    A job takes the processors that were allocated, else those requested. Left out are lines of
    parts of a job, since the whole job has a line, and jobs that did not run.

    Raises:
        DataError: The file cannot be read.
    """
    rows: list[list[str]] = []
    numbers: list[int] = []
    refused: list[Refusal] = []
    capacity = None
    for number, line in enumerate(text_of(path).splitlines(), 1):
        cells = line.split()
        if line.lstrip().startswith(";"):
            found = _MAX_PROCS.match(line.strip())
            capacity = int(found[1]) if found else capacity
        elif 0 < len(cells) < len(FIELDS):
            reason = f"has {len(cells)} fields, not {len(FIELDS)} or more"
            refused.append(Refusal(number, "", reason))
        elif cells:
            rows.append(cells[: len(FIELDS)])
            numbers.append(number)
    table = pd.DataFrame(rows, columns=list(FIELDS), dtype=object)
    raw = Raw(table, np.array(numbers, np.int64), tuple(refused), capacity=capacity or None)
    allocated = raw.number("allocated")
    table["processors"] = table["allocated"].where(allocated > 0.0, table["requested"])
    for name in _LABELS:
        table[name] = table[name].where(table[name] != "-1", "")
    raw = raw.without(np.isin(raw.number("status"), _PARTS), "part of a job that has its own line")
    ran = raw.number("run")
    raw = raw.without(
        (ran <= 0.0) & (raw.number("status") == _CANCELLED), "cancelled before it ran"
    )
    return raw.without(raw.number("run") == 0.0, "ran for 0 s")
