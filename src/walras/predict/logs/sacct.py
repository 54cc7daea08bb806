"""Slurm's accounting as a log of runs: the text of ``sacct -P``, or its JSON.

Taken from the text of ``sacct -a -X -P --noconvert -o JobID,JobName,Partition,State,ElapsedRaw``.
What differs between versions is met here: a state may carry who cancelled ("CANCELLED by 1000"),
or be a list (JSON since 23.11); a duration is seconds, [DD-]HH:MM:SS or MM:SS.mmm; job steps stand
beside their job unless -X was given; the delimiter is the user's. CPUTimeRAW, which counts every
CPU, is never read.
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
from walras.files import reason_of
from walras.predict.logs.log import TaskLog, check_log
from walras.predict.logs.text import read_text

STATES: Mapping[str, str] = {
    "COMPLETED": "completed", "FAILED": "failed", "TIMEOUT": "timeout", "DEADLINE": "timeout",
    "OUT_OF_MEMORY": "out_of_memory", "NODE_FAIL": "node_fail", "BOOT_FAIL": "node_fail",
    "LAUNCH_FAILED": "node_fail",
    "CANCELLED": "cancelled", "REVOKED": "cancelled", "PREEMPTED": "preempted",
    "REQUEUED": "preempted",
}  # fmt: skip
"""State of a finished job -> outcome."""

UNFINISHED = (
    "PENDING", "RUNNING", "SUSPENDED", "RESIZING", "COMPLETING", "CONFIGURING", "SIGNALING",
    "STAGE_OUT", "STOPPED", "RESV_DEL_HOLD", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT",
)  # fmt: skip

_DURATION = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)")
COMMAND = "sacct -a -X -P --noconvert -o JobID,JobName,Partition,State,ElapsedRaw"
"""What writes the text that is read here."""

_IDENTIFIERS = ("JobID", "JobIDRaw")
_TIMES = ("ElapsedRaw", "Elapsed")
_STEPS = ("batch", "extern")  # names that Slurm itself gives to steps


@dataclass(frozen=True)
class Imported:
    """A log made of sacct's output.

    Attributes:
        log: The runs, and the rows left out with their reasons.
        steps: Rows left out since they are steps of a job that stands there itself.
        unfinished: Rows left out since the job has not ended.
        identified: Whether a JobID tells steps from jobs. Without one, steps are the rows named
            ``batch`` or ``extern`` and those without a partition; any others count as jobs.
    """

    log: TaskLog
    steps: int
    unfinished: int
    identified: bool = True


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


Row = tuple[int, Mapping[str, str]]


def read_rows(path: Path, delimiter: str | None = None) -> tuple[list[Row], list[int]]:
    """The rows of sacct's text or JSON by their number, and the lines that do not fit the header.

    Args:
        path: The file.
        delimiter: Separator of the fields; found in the header if None.

    Raises:
        DataError: The file cannot be read.
        InputError: The delimiter is empty.
    """
    if delimiter == "":
        raise InputError(
            "is empty",
            where="delimiter",
            allowed="what sacct --delimiter was given",
            remedy="leave it out to have it found in the header",
        )
    try:
        text = read_text(path)
        is_json = text.lstrip().startswith("{")
        rows, broken = (_json_rows(text), []) if is_json else _text_rows(text, delimiter)
    except (
        OSError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        raise DataError(
            f"cannot be read as sacct's output: {reason_of(error)}",
            where=str(path),
            allowed="the text of sacct -P with its header, or sacct --json",
            remedy=COMMAND,
        ) from error
    return rows, broken


def read_sacct(
    path: str | Path,
    *,
    task: str = "JobName",
    cluster: str = "Partition",
    delimiter: str | None = None,
) -> Imported:
    r"""Read ``sacct -P`` text or ``sacct --json`` output.

    Args:
        path: The file.
        task: Field that names the task; runs of one task share it.
        cluster: Field that names where it ran: ``Partition``, ``Cluster``, ``NodeList``, ...
        delimiter: Separator of the fields; if left out, the one between the first two names of
            the header.

    Returns:
        The log, with counts of the rows that are steps or have not ended.

    Raises:
        DataError: The file cannot be read, or has no usable row.
        InputError: A field is not in the file, or the delimiter is empty.

    Example:
        >>> from pathlib import Path
        >>> from walras.predict import read_sacct
        >>> rows = ["JobID|JobName|Partition|State|ElapsedRaw", "7|lab|a100|COMPLETED|12"]
        >>> _ = Path("jobs.txt").write_text("\n".join(rows))
        >>> read_sacct("jobs.txt").log.runs["seconds"].tolist()
        [12.0]
    """
    path = Path(path)
    rows, broken = read_rows(path, delimiter)
    if rows:
        _check_fields(tuple(rows[0][1]), (task, cluster, "State"), str(path))
    return _imported(rows, broken, task, cluster, str(path))


def _check_fields(fields: Sequence[str], wanted: Sequence[str], where: str) -> None:
    missing = [f"'{name}'" for name in wanted if name not in fields]
    if not any(name in fields for name in _TIMES):
        missing.append(" or ".join(f"'{name}'" for name in _TIMES))
    if missing:
        raise InputError(
            f"there is no field {missing[0]}",
            where=where,
            allowed=", ".join(fields),
            remedy=f"add it to sacct's -o, or name another: {COMMAND}",
        )


def _imported(
    rows: Sequence[Row], broken: Sequence[int], task: str, cluster: str, origin: str
) -> Imported:
    jobs = [row for row in rows if not is_step(row[1])]
    ended = [row for row in jobs if state_of(row[1]) not in UNFINISHED]
    table = pd.DataFrame(
        {
            "task": [row[task] for _, row in ended],
            "cluster": [row[cluster] for _, row in ended],
            "seconds": [_elapsed(row) for _, row in ended],
            "outcome": [STATES.get(state_of(row), state_of(row)) for _, row in ended],
        }
    )
    numbers = [k for k, _ in ended]
    log = check_log(table, origin, numbers=numbers, ragged=broken, one_unit=True)
    identified = not rows or _identified(rows[0][1])
    return Imported(log, len(rows) - len(jobs), len(jobs) - len(ended), identified)


def _identified(row: Mapping[str, str]) -> bool:
    return any(name in row for name in _IDENTIFIERS)


def is_step(row: Mapping[str, str]) -> bool:
    """Whether a row is a step of a job: 12.batch of 12. Slurm gives a step no partition or user."""
    if _identified(row):
        return any("." in row.get(name, "") for name in _IDENTIFIERS)
    nobody = "" in (row.get("Partition"), row.get("User"))
    return nobody or row.get("JobName") in _STEPS


def state_of(row: Mapping[str, str]) -> str:
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


def _text_rows(text: str, delimiter: str | None) -> tuple[list[Row], list[int]]:
    """Rows by number, and the numbers of those whose fields do not fit the header."""
    lines = [line.rstrip("\r") for line in text.split("\n") if line.strip()]
    first = lines[0] if lines else ""
    delimiter = delimiter or _delimiter(first)
    header = [name.strip() for name in first.removesuffix(delimiter).split(delimiter)]
    if not {"State", *_IDENTIFIERS} & set(header):
        raise ValueError(f"the first line names no fields between '{delimiter}' (was -n given?)")
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


def _delimiter(header: str) -> str:
    """What stands between the first two names of the header; they are letters alone."""
    between = re.match(r"\s*[A-Za-z]+([^A-Za-z]+)[A-Za-z]", header)
    # Runs of blanks are the columns of sacct without -P, which cut names short.
    return between[1] if between and between[1].strip(" ") else "|"


def _json_rows(text: str) -> list[Row]:
    return [(k, _json_row(job)) for k, job in enumerate(json.loads(text)["jobs"], start=1)]


def _json_row(job: Mapping[str, Any]) -> dict[str, str]:
    current = job["state"]["current"]
    state = current[0] if isinstance(current, list) else current
    elapsed = job["time"]["elapsed"]
    return {
        "JobID": str(job.get("job_id", "")),
        "JobName": str(job.get("name", "")),
        "Partition": str(job.get("partition", "")),
        "Cluster": str(job.get("cluster", "")),
        "NodeList": str(job.get("nodes", "")),
        "User": str(job.get("user", "")),
        "State": str(state),
        "ElapsedRaw": str(elapsed),
        "Submit": _number(job["time"].get("submission")),
        "Eligible": _number(job["time"].get("eligible")),
        "Start": _number(job["time"].get("start")),
        "End": _number(job["time"].get("end")),
        "AllocCPUS": _number(job.get("required", {}).get("CPUs")),
    }


def _number(given: Any) -> str:
    """A number of Slurm's JSON, which may say apart whether it is set; 0 is no moment."""
    if isinstance(given, Mapping):
        given = given.get("number") if given.get("set") else None
    return str(given) if given else ""
