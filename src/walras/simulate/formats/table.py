"""Tables of jobs: CSV, Parquet or JSON, with columns of any name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from walras.files import PARQUET, reason_of
from walras.predict.logs.parquet import read_parquet
from walras.predict.logs.text import read_csv
from walras.simulate.formats.raw import Raw, Refusal, cannot_read, text_of

_SEPARATORS = (";", "\t", "|")


def read(path: Path) -> Raw:
    """Read a table: Parquet or JSON where the name ends so, else CSV, by comma or another mark.

    JSON is a list of objects, one a job.

    Raises:
        DataError: The file cannot be read.
        EngineError: It is Parquet, and pyarrow is not installed.
    """
    if path.suffix.lower() in PARQUET:
        return _parquet(path)
    if ".json" in [ending.lower() for ending in path.suffixes[-2:]]:
        return of_records(json_of(path), path, "a list of jobs, each an object")
    raw = read_lines(path)
    names = list(map(str, raw.table.columns))
    other = next((mark for mark in _SEPARATORS if mark in names[0]), "")
    if len(names) == 1 and other:
        return read_lines(path, [name.strip().strip('"') for name in names[0].split(other)])
    return raw


def read_lines(path: Path, needed: Sequence[str] = ()) -> Raw:
    """Read CSV. A semicolon, tab or bar separates cells where so all needed columns are found.

    Raises:
        DataError: The file cannot be read, or lacks a needed column.
    """
    try:
        lines = read_csv(path, needed)
    except (OSError, ValueError) as error:
        raise cannot_read(path, reason_of(error), "CSV with a header") from error
    missing = [name for name in needed if name not in lines.header]
    if missing:
        allowed = f"columns {', '.join(needed)}"
        raise cannot_read(path, f"it has no column '{missing[0]}'", allowed, "check the format")
    table = pd.DataFrame(lines.rows, columns=list(lines.header), dtype=object)
    width = len(lines.header)
    refused = tuple(
        Refusal(lines.line_of[k], "", f"does not have the {width} cells of the header")
        for k in lines.ragged
    )
    row = np.array([lines.line_of[k] for k in lines.numbers], np.int64)
    twice = table.columns[table.columns.duplicated()]
    if len(twice):
        raise cannot_read(path, f"it has column '{twice[0]}' twice", "each once", "rename one")
    return Raw(table, row, refused)


def json_of(path: Path) -> object:
    """The content of a JSON file.

    Raises:
        DataError: It cannot be read.
    """
    try:
        return json.loads(text_of(path))
    except (ValueError, RecursionError) as error:
        raise cannot_read(path, str(error), "JSON") from error


def of_records(given: object, path: Path, allowed: str) -> Raw:
    """Rows of a list of objects; what is no object is refused.

    Raises:
        DataError: It is no list.
    """
    if not isinstance(given, list):
        raise cannot_read(path, "it is no list", allowed, "check the format")
    good = [k for k, record in enumerate(given) if isinstance(record, dict)]
    refused = tuple(
        Refusal(k + 1, "", "is no object", "job")
        for k, record in enumerate(given)
        if not isinstance(record, dict)
    )
    table = pd.DataFrame([given[k] for k in good], dtype=object)
    return Raw(table, np.array(good, np.int64) + 1, refused, unit="job")


def _parquet(path: Path) -> Raw:
    try:
        table = read_parquet(path)
    except (OSError, ValueError) as error:
        raise cannot_read(path, reason_of(error), "a Parquet file") from error
    table = table.reset_index() if table.index.name is not None else table
    for name, cells in table.items():
        if isinstance(cells.dtype, pd.DatetimeTZDtype) or cells.dtype.kind == "M":
            table[name] = cells.map(pd.Timestamp.isoformat, na_action="ignore").astype(object)
        elif cells.dtype.kind == "m":
            table[name] = cells.dt.total_seconds()
    return Raw(table, np.arange(1, len(table) + 1), unit="job")
