"""Batsim's workloads: JSON of jobs and profiles, of which those that only wait have a length.

Source: Batsim's documentation, input of workloads; profiles of type ``delay`` (version 4) and
``DelayProfile`` (version 5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from walras import checks
from walras.simulate.formats.raw import Raw, Refusal, cannot_read, numbers
from walras.simulate.formats.table import json_of, of_records

COLUMNS = {
    "id": "name",
    "subtime": "arrival",
    "res": "size",
    "seconds": "seconds",
    "profile": "kind",
}

_DELAYS = ("delay", "DelayProfile")


def read(path: Path) -> Raw:
    """Read a workload. A job runs for its profile's delay, and no longer than its walltime.

    Jobs of other profiles are refused: how long they run depends on the platform.

    Raises:
        DataError: The file cannot be read, or has no jobs or profiles.
    """
    content = json_of(path)
    allowed = "an object with 'jobs' and 'profiles', as Batsim's workloads"
    if not isinstance(content, dict) or not isinstance(content.get("profiles"), dict):
        raise cannot_read(path, "there are no profiles", allowed, "check the format")
    raw = of_records(content.get("jobs"), path, allowed)
    for name in COLUMNS:
        if name not in raw.table:
            raw.table[name] = None
    found = [_delay(content["profiles"], name) for name in raw.table["profile"]]
    reasons = [reason if isinstance(reason, str) else "" for reason in found]
    bad = np.array([reason != "" for reason in reasons], np.bool_)
    refused = tuple(
        Refusal(int(raw.row[j]), "profile", reasons[j], "job") for j in np.flatnonzero(bad)
    )
    table = raw.table.assign(seconds=found)
    if "walltime" in table:
        table["seconds"] = _within_walltime(replace(raw, table=table))
    machines = content.get("nb_res")
    return replace(
        raw,
        table=table[~bad].reset_index(drop=True),
        row=raw.row[~bad],
        refused=(*raw.refused, *refused),
        capacity=machines if type(machines) is int and machines > 0 else None,
    )


def _delay(profiles: Mapping[str, Any], name: Any) -> float | str:
    """Seconds of a profile, or why it has none."""
    profile = profiles.get(name) if isinstance(name, str) else None
    if not isinstance(profile, dict):
        return f"{checks.shown(name)} is none of the workload's"
    if profile.get("type") not in _DELAYS:
        found = checks.shown(profile.get("type"))
        return f"{checks.shown(name)} is of type {found}, not {' or '.join(_DELAYS)}"
    delay = profile.get("delay")
    if isinstance(delay, bool) or not isinstance(delay, int | float):
        return f"{checks.shown(name)} has no delay in seconds"
    return float(numbers(pd.Series([delay], dtype=object))[0])


def _within_walltime(raw: Raw) -> np.ndarray[Any, Any]:
    """(n,) seconds; NaN of jobs without a delay."""
    limit = raw.number("walltime")
    return np.fmin(raw.number("seconds"), np.where(limit > 0.0, limit, np.nan))
