"""Slurm's accounting as a log of runs: the text of ``sacct -P``, or its JSON.

Taken from the text of ``sacct -a -X -P --noconvert -o JobID,JobName,Partition,State,ElapsedRaw``.
What differs between versions is met here: a state may carry who cancelled ("CANCELLED by 1000"),
or be a list (JSON since 23.11); a duration is seconds, [DD-]HH:MM:SS or MM:SS.mmm; job steps stand
beside their job unless -X was given. CPUTimeRAW, which counts every CPU, is never read.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from walras.errors import DataError, InputError
from walras.predict.log import Problem, TaskLog, check_log

STATES: Mapping[str, str] = {
    "COMPLETED": "completed", "FAILED": "failed", "TIMEOUT": "timeout", "DEADLINE": "timeout",
    "OUT_OF_MEMORY": "out_of_memory", "NODE_FAIL": "node_fail", "BOOT_FAIL": "node_fail",
    "CANCELLED": "cancelled", "REVOKED": "cancelled", "PREEMPTED": "preempted",
    "REQUEUED": "preempted",
}  # fmt: skip
"""State of a finished job -> outcome."""

UNFINISHED = ("PENDING", "RUNNING", "SUSPENDED", "RESIZING", "COMPLETING", "CONFIGURING")

_DURATION = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)")
_COMMAND = "sacct -a -X -P --noconvert -o JobID,JobName,Partition,State,ElapsedRaw"


@dataclass(frozen=True)
class Imported:
    """A log made of sacct's output.

    Attributes:
        log: The runs, and the rows left out with their reasons.
        steps: Rows left out since they are steps of a job that stands there itself.
        unfinished: Rows left out since the job has not ended.
    """

    log: TaskLog
    steps: int
    unfinished: int


def seconds_of(duration: str) -> float:
    """Seconds of one of sacct's durations; NaN for what is none.

    >>> seconds_of("1-02:00:03"), seconds_of("02:03.500"), seconds_of("75")
    (93603.0, 123.5, 75.0)
    """
    if re.fullmatch(r"\d+(\.\d+)?", duration):
        return float(duration)
    found = _DURATION.fullmatch(duration)
    if found is None:
        return float("nan")
    days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return ((24 * days + hours) * 60 + minutes) * 60 + seconds


def read_sacct(path: str | Path, *, task: str = "JobName", cluster: str = "Partition") -> Imported:
    """Read ``sacct -P`` text or ``sacct --json`` output.

    Args:
        path: The file.
        task: Field that names the task; runs of one task share it.
        cluster: Field that names where it ran: ``Partition``, ``Cluster``, ``NodeList``, ...

    Raises:
        DataError: The file cannot be read, or has no usable row.
        InputError: A field is not in the file.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
        is_json = text.lstrip().startswith("{")
        rows, broken = (_json_rows(text), []) if is_json else _text_rows(text)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"cannot be read as sacct's output: {error}", where=str(path),
            allowed="the text of sacct -P with its header, or sacct --json", remedy=_COMMAND,
        ) from error  # fmt: skip
    fields = list(rows[0][1]) if rows else []
    for name in (task, cluster, "State"):
        if rows and name not in fields:
            raise InputError(
                f"there is no field '{name}'", where=str(path), allowed=", ".join(fields),
                remedy=f"add it to sacct's -o, or name another: {_COMMAND}",
            )  # fmt: skip
    return _imported(rows, broken, task, cluster, str(path))


Row = tuple[int, Mapping[str, str]]


def _imported(
    rows: Sequence[Row], broken: Sequence[int], task: str, cluster: str, origin: str
) -> Imported:
    jobs = [row for row in rows if "." not in row[1].get("JobID", "")]
    ended = [row for row in jobs if _state(row[1]) not in UNFINISHED]
    table = pd.DataFrame(
        {
            "task": [row[task] for _, row in ended],
            "cluster": [row[cluster] for _, row in ended],
            "seconds": [_elapsed(row) for _, row in ended],
            "outcome": [STATES.get(_state(row), _state(row)) for _, row in ended],
        }
    )
    log = check_log(table, origin)
    number = [k for k, _ in ended]  # row of the file, from that of the table
    problems = [
        Problem(p.what, tuple(number[k - 1] for k in p.rows), p.allowed, p.remedy)
        for p in log.problems
    ]
    if broken:
        problems.append(
            Problem("more or fewer fields than the header: a name may hold the delimiter '|'",
                    tuple(broken), "one value a field", "sacct --delimiter with a rare character")
        )  # fmt: skip
    kept = TaskLog(log.runs, tuple(problems), origin)
    return Imported(kept, len(rows) - len(jobs), len(jobs) - len(ended))


def _state(row: Mapping[str, str]) -> str:
    """The first word: "CANCELLED by 1000" is CANCELLED; a "+" marks a word cut short."""
    word = row["State"].split()[0] if row["State"].strip() else ""
    if word.endswith("+"):
        full = [state for state in (*STATES, *UNFINISHED) if state.startswith(word[:-1])]
        return full[0] if len(full) == 1 else word
    return word


def _elapsed(row: Mapping[str, str]) -> str:
    text = row.get("ElapsedRaw") or row.get("Elapsed") or ""
    seconds = seconds_of(text)
    return text if math.isnan(seconds) else repr(seconds)


def _text_rows(text: str) -> tuple[list[Row], list[int]]:
    """Rows by number, and the numbers of those whose fields do not fit the header."""
    lines = [line for line in text.splitlines() if line.strip()]
    delimiter = "|"
    header = lines[0].rstrip("|").split(delimiter) if lines else []
    if "State" not in header and "JobID" not in header:
        raise ValueError("the first line names no fields (was -n given?)")
    rows: list[Row] = []
    broken: list[int] = []
    for k, line in enumerate(lines[1:], start=1):
        values = line.split(delimiter)
        if len(values) == len(header) + 1 and not values[-1]:  # -p ends each line with one more
            values.pop()
        if len(values) == len(header):
            rows.append((k, dict(zip(header, (v.strip() for v in values), strict=True))))
        else:
            broken.append(k)
    return rows, broken


def _json_rows(text: str) -> list[Row]:
    return [(k, _json_row(job)) for k, job in enumerate(json.loads(text)["jobs"], start=1)]


def _json_row(job: Mapping[str, Any]) -> dict[str, str]:
    current = job["state"]["current"]
    state = current[0] if isinstance(current, list) else current
    elapsed = job["time"]["elapsed"]
    return {
        "JobID": str(job.get("job_id", "")), "JobName": str(job.get("name", "")),
        "Partition": str(job.get("partition", "")), "Cluster": str(job.get("cluster", "")),
        "NodeList": str(job.get("nodes", "")), "User": str(job.get("user", "")),
        "State": str(state), "ElapsedRaw": str(elapsed),
    }  # fmt: skip
