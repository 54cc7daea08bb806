"""Microsoft's Philly traces: ``cluster_job_log``, a JSON list of jobs with their attempts.

Source: the README of msr-fiddle/philly-traces; Jeon et al., USENIX ATC 2019.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from walras.simulate.formats.raw import Raw, Refusal, cannot_read
from walras.simulate.formats.table import json_of

COLUMNS = {
    "jobid": "name",
    "vc": "kind",
    "gpus": "size",
    "seconds": "seconds",
    "submitted_time": "arrival",
}

_ATTEMPT = "objects with start_time, end_time, and detail with the gpus of each machine"
_NEVER, _RUNNING, _INSTANT = "never started", "was still running", "ran for 0 s"


def read(path: Path) -> Raw:
    """Read the log. A job's work is the time of all its attempts; its size, the GPUs of the first.

    Left out are jobs without an attempt, and those whose last attempt has no end.

    Raises:
        DataError: The file cannot be read, or is no list.
    """
    given = json_of(path)
    if not isinstance(given, list):
        raise cannot_read(path, "it is no list", "a list of jobs, as cluster_job_log is")
    rows: list[dict[str, Any]] = []
    numbers: list[int] = []
    refused: list[Refusal] = []
    left_out: dict[str, int] = {}
    for number, job in enumerate(given, 1):
        if not isinstance(job, dict):
            refused.append(Refusal(number, "", "is no object", "job"))
            continue
        try:
            row = _row(job)
        except ValueError as error:
            refused.append(
                Refusal(number, "attempts", f"have times that cannot be read: {error}", "job")
            )
            continue
        except (TypeError, KeyError, AttributeError):
            refused.append(Refusal(number, "attempts", f"are not a list of {_ATTEMPT}", "job"))
            continue
        if isinstance(row, str):
            left_out[row] = left_out.get(row, 0) + 1
            continue
        rows.append(row)
        numbers.append(number)
    columns = [*COLUMNS, "user", "status"]
    table = pd.DataFrame(rows, columns=columns, dtype=object)
    return Raw(table, np.array(numbers, np.int64), tuple(refused), left_out, "job")


def _row(job: Mapping[str, Any]) -> dict[str, Any] | str:
    """The row of a job, or why it is left out."""
    attempts = job["attempts"]
    if not attempts:
        return _NEVER
    if _moment(attempts[-1]["end_time"]) is None:
        return _RUNNING
    seconds = 0.0
    for attempt in attempts:
        start, end = _moment(attempt["start_time"]), _moment(attempt["end_time"])
        if start is not None and end is not None:
            if (start.tzinfo is None) != (end.tzinfo is None):
                raise ValueError("start_time or end_time lacks a time zone")
            seconds += (end - start).total_seconds()
    if seconds == 0.0:
        return _INSTANT
    gpus = sum(len(machine["gpus"]) for machine in attempts[0]["detail"])
    held = {name: job.get(name, "") for name in ("jobid", "vc", "user", "status", "submitted_time")}
    return {**held, "gpus": gpus, "seconds": seconds}


def _moment(text: str | None) -> datetime | None:
    """A moment; None where the log has none."""
    return None if text in (None, "", "None") else datetime.fromisoformat(str(text))
