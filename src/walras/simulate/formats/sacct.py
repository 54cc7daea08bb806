"""Slurm's accounting: the text of ``sacct -P``, or its JSON."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from walras.errors import DataError
from walras.predict.logs.moments import moments
from walras.predict.logs.sacct import UNFINISHED, is_step, read_rows, seconds_of, state_of
from walras.simulate.formats.raw import Raw, Refusal
from walras.types import Floats

COMMAND = (
    "sacct -a -X -P --noconvert -o JobID,JobName,Partition,State,Submit,Start,End,Elapsed,AllocCPUS"
)
"""What writes the text that is read here."""

COLUMNS = {"JobID": "name", "JobName": "kind", "cpus": "size", "ran": "seconds", "sent": "arrival"}

_CPUS = ("AllocCPUS", "NCPUS", "ReqCPUS")


def read(path: Path) -> Raw:
    """Read the jobs that ran and ended; steps, unfinished jobs and those of 0 s are left out.

    Raises:
        DataError: The file cannot be read, or lacks a field.
    """
    found, ragged = read_rows(path)
    table = pd.DataFrame([row for _, row in found], dtype=object)
    _check_fields(table, path)
    raw = Raw(
        table,
        np.array([k for k, _ in found], np.int64),
        tuple(Refusal(k, "", "does not fit the header", "row") for k in ragged),
        unit="row",
        dated=True,
    )
    raw = raw.without(np.array([is_step(row) for _, row in found], np.bool_), "step of a job")
    states = [state_of({"State": state}) for state in raw.table["State"]]
    raw = raw.without(np.isin(states, UNFINISHED), "has not ended")
    raw.table["cpus"] = raw.table[next(name for name in _CPUS if name in raw.table)]
    raw.table["sent"] = moments(raw.table["Submit"])
    raw.table["ran"] = _seconds(raw.table)
    return raw.without(raw.number("ran") == 0.0, "never ran")


def _check_fields(table: pd.DataFrame, path: Path) -> None:
    for names in (("State",), ("Submit",), ("ElapsedRaw", "Elapsed", "End"), _CPUS):
        if not set(names) & set(table.columns):
            raise DataError(
                f"there is no field {' or '.join(names)}" if len(table) else "there is no job",
                where=str(path),
                allowed="fields State, Submit, Elapsed and AllocCPUS",
                remedy=COMMAND,
            )


def _seconds(table: pd.DataFrame) -> Floats:
    """(n,) elapsed seconds, else those from start to end."""
    ran = np.full(len(table), np.nan)
    for name in ("ElapsedRaw", "Elapsed"):
        if name in table:
            given = np.array([seconds_of(text) for text in table[name]], np.float64)
            ran = np.where(np.isnan(ran), given, ran)
    if {"Start", "End"} <= set(table.columns):
        between = moments(table["End"]) - moments(table["Start"])
        ran = np.where(np.isnan(ran), between, ran)
    return ran
