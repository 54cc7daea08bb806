"""Slurm's accounting as a log of jobs: ``sacct -a -X -P --noconvert``, or its JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from walras.errors import DataError
from walras.predict.logs.moments import moments
from walras.predict.logs.sacct import STATES, UNFINISHED, is_step, read_rows, seconds_of, state_of
from walras.shadow.jobs import Rows

COMMAND = (
    "sacct -a -X -P --noconvert -S START -E END "
    "-o JobID,JobName,User,Partition,State,Submit,Eligible,Start,End,Elapsed,Timelimit,AllocCPUS"
)
"""What writes the text that is read here."""

_SLOTS = ("AllocCPUS", "NCPUS", "AllocNodes", "NNodes", "ReqCPUS")
_NEEDED = ("Partition", "State", "Submit", "Start")


def read(path: Path, *, cluster: str = "Partition", slots: str | None = None) -> Rows:
    """Read sacct's text or JSON.

    Args:
        path: The file.
        cluster: Field that names where a job ran.
        slots: Field that says how many slots it took; AllocCPUS or the next best if None.

    Raises:
        DataError: The file cannot be read, or lacks a field.
    """
    found, ragged = read_rows(path)
    fields = tuple(found[0][1]) if found else ()
    _check_fields(fields, (cluster, *_NEEDED[1:], *([slots] if slots else [])), path)
    jobs = [(k, row) for k, row in found if not is_step(row)]
    ended = [(k, row) for k, row in jobs if state_of(row) not in UNFINISHED]
    counted = slots or next((name for name in _SLOTS if name in fields), None)
    rows = [row for _, row in ended]
    submit, start, end = _times(rows)
    table = pd.DataFrame(
        {
            "submit": submit,
            "start": start,
            "end": end,
            "cluster": [row[cluster] for row in rows],
            "outcome": [STATES.get(state_of(row), state_of(row)) for row in rows],
            "name": [row.get("JobName", "") for row in rows],
            "user": [row.get("User", "") for row in rows],
            "slots": [row[counted] or "1" for row in rows] if counted else 1,
        }
    )
    if "Timelimit" in fields:
        table["log_limit"] = _limits([row["Timelimit"] for row in rows])
    numbers = np.array([k for k, _ in ended], np.int64)
    unfinished = len(jobs) - len(ended)
    return Rows(table, numbers, ragged, unfinished, len(found) - len(jobs), str(path))


def _check_fields(fields: Sequence[str], wanted: Sequence[str], path: Path) -> None:
    missing = [name for name in wanted if name not in fields]
    if fields and not {"End", "Elapsed", "ElapsedRaw"} & set(fields):
        missing.append("End")
    if missing:
        raise DataError(
            f"there is no field '{missing[0]}'" if fields else "there is no job in it",
            where=str(path),
            allowed=f"fields {', '.join(wanted)}, and End or Elapsed",
            remedy=COMMAND,
        )


def _times(rows: Sequence[Mapping[str, str]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Submission, start and end; what one of them lacks follows from the elapsed time."""

    def column(name: str) -> np.ndarray:
        return moments([row.get(name, "") for row in rows])

    submit = np.fmax(column("Submit"), column("Eligible"))
    start, end = column("Start"), column("End")
    elapsed = np.array(
        [seconds_of(row.get("ElapsedRaw") or row.get("Elapsed") or "") for row in rows], np.float64
    )
    end = np.where(np.isnan(end), start + elapsed, end)
    start = np.where(np.isnan(start) & (elapsed > 0), end - elapsed, start)
    return submit, start, end


def _limits(texts: Sequence[str]) -> np.ndarray:
    """Logarithm of each time limit; NaN where there is none."""
    seconds = np.array([seconds_of(text) for text in texts], np.float64)
    with np.errstate(divide="ignore"):
        return np.where(seconds > 0, np.log(seconds), np.nan)
