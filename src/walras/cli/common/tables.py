"""The CSV tables of ``walras solve cluster``, read with errors that name file, line and column."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from walras.domains.cluster_scheduling import Quota
from walras.errors import DataError, InputError

# What spreadsheets and databases write between columns where a comma is expected.
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


@dataclass(frozen=True)
class Cell:
    """One cell and where it stands."""

    text: str
    where: str

    def number(self, *, positive: bool, empty: float | None = None) -> float:
        """The cell as a finite number, >= 0 or > 0.

        Args:
            positive: Whether it must be > 0.
            empty: What an empty cell means; None when it must not be empty.

        Raises:
            InputError: It is not such a number.
        """
        if not self.text and empty is not None:
            return empty
        value = self._parsed()
        if not np.isfinite(value) or value < 0 or (positive and value == 0):
            raise InputError(
                f"is {'NaN' if np.isnan(value) else self.text}",
                where=self.where,
                allowed="finite and > 0" if positive else "finite and >= 0; empty is 0",
                remedy="correct the cell, or remove its line or column",
            )
        return value

    def _parsed(self) -> float:
        try:
            return float(self.text)
        except ValueError as error:
            raise InputError(
                f"'{self.text}' is not a number" if self.text else "the cell is empty",
                where=self.where,
                allowed="a number such as 12.5",
                remedy="write decimals with a point, and no units",
            ) from error


@dataclass(frozen=True)
class Sheet:
    """A CSV file: cells by line and column name, keyed by its first column.

    Attributes:
        path: The file.
        columns: Names of the columns, the key's first.
        lines: Cells of each line, by column.
    """

    path: Path
    columns: tuple[str, ...]
    lines: tuple[dict[str, Cell], ...]

    @property
    def keys(self) -> list[str]:
        """The first column."""
        return [line[self.columns[0]].text for line in self.lines]

    def numbers(self, column: str) -> pd.Series:
        """A column of positive numbers, labelled by the key.

        Raises:
            InputError: A cell is not a finite number > 0.
        """
        positive = [line[column].number(positive=True) for line in self.lines]
        return pd.Series(positive, index=self.keys)

    def has(self, column: str) -> bool:
        """Whether the file has an optional column."""
        return column in self.columns


def read(
    path: Path,
    key: str,
    required: Sequence[str],
    optional: Sequence[str] | None,
    *,
    distinct: bool = True,
) -> Sheet:
    """Read a CSV file with a header line.

    Args:
        path: The file.
        key: Name of the first column, whose cells are labels.
        required: Further columns that must be there.
        optional: Columns that may be there; None when any may.
        distinct: Whether a label may come once alone.

    Raises:
        DataError: The file cannot be read.
        InputError: A column is missing or unknown, a line is ragged, or a label comes twice.
    """
    rows = _rows(path)
    if not rows or not rows[0][1]:
        raise InputError(
            "the file is empty",
            where=str(path),
            allowed=f"a header line: {key}, ...",
            remedy="see --help of the command for the columns",
        )
    header = tuple(name.strip() for name in rows[0][1])
    _check_separator(path, header)
    _check_header(path, header, key, required, optional)
    lines = tuple(_line(path, number, row, header) for number, row in rows[1:])
    if distinct:
        _check_labels(lines, key)
    if not lines:
        raise InputError(
            "the file has no lines below the header",
            where=str(path),
            allowed=f"one line a {key}",
            remedy="see --help of the command for the columns",
        )
    return Sheet(path, header, lines)


def _line(path: Path, number: int, row: list[str], header: tuple[str, ...]) -> dict[str, Cell]:
    if len(row) != len(header):
        raise InputError(
            f"the line has {len(row)} cells",
            where=f"{path}, line {number}",
            allowed=f"{len(header)}, as the header",
            remedy="add or remove commas",
        )
    return {
        name: Cell(text.strip(), f"{path}, line {number}, column '{name}'")
        for name, text in zip(header, row, strict=True)
    }


def _check_labels(lines: Sequence[dict[str, Cell]], key: str) -> None:
    seen: set[str] = set()
    for line in lines:
        label = line[key]
        if not label.text or label.text in seen:
            raise InputError(
                f"'{label.text}' comes twice" if label.text else "the label is empty",
                where=label.where,
                allowed="distinct labels",
                remedy=f"rename the {key}",
            )
        seen.add(label.text)


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """The lines that are not blank, with their numbers."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            return [(reader.line_num, row) for row in reader if row]
    except OSError as error:
        raise DataError(
            f"the file cannot be read: {error.strerror}",
            where=str(path),
            allowed="a file that can be read",
            remedy="check the path",
        ) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(
            f"the file cannot be read: {error}",
            where=str(path),
            allowed="comma-separated text in UTF-8",
            remedy="save it as CSV in UTF-8",
        ) from error


def _check_separator(path: Path, header: tuple[str, ...]) -> None:
    """Refuse a header that is one cell with other separators in it, as some spreadsheets save it.

    Raises:
        InputError: Names the separator.
    """
    used = next((mark for mark in _SEPARATORS if mark in header[0]), None)
    if len(header) == 1 and used is not None:
        raise InputError(
            f"the columns are separated by {_SEPARATORS[used]}",
            where=f"{path}, line 1",
            allowed="commas between columns, points in decimals",
            remedy="save it as CSV with commas, or replace them throughout",
        )


def _check_header(
    path: Path,
    header: tuple[str, ...],
    key: str,
    required: Sequence[str],
    optional: Sequence[str] | None,
) -> None:
    where = f"{path}, line 1"
    known = (key, *required, *(optional or ()))
    for name in header:
        if header.count(name) > 1 or not name:
            raise InputError(
                f"column '{name}' comes twice" if name else "a column has no name",
                where=where,
                allowed="distinct names",
                remedy="rename the column",
            )
        if optional is not None and name not in known:
            raise InputError(
                f"unknown column '{name}'",
                where=where,
                allowed=", ".join(known),
                remedy="rename or remove the column",
            )
    missing = next((name for name in (key, *required) if name not in header), None)
    if missing is not None or header[0] != key:
        raise InputError(
            f"no column '{missing}'" if missing else f"the first column is '{header[0]}'",
            where=where,
            allowed=f"{key} first, then {', '.join(known[1:]) or 'one a resource'}",
            remedy="see --help of the command for the columns",
        )


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables of a cluster-scheduling problem, labels matched.

    Attributes:
        throughput: (resources, jobs) labelled.
        size: (jobs,) GPUs.
        capacity: (resources,) GPUs.
        weight: (jobs,) priorities.
        steps: (jobs,) work left, or None.
        quota: Limits of groups, or None.
        previous: (resources, jobs) shares before, labelled, or None.
    """

    throughput: pd.DataFrame
    size: pd.Series
    capacity: pd.Series
    weight: pd.Series
    steps: pd.Series | None
    quota: Quota | None
    previous: pd.DataFrame | None


def load(
    throughput: Path, jobs: Path, resources: Path, quota: Path | None, previous: Path | None
) -> Tables:
    """Read and match all tables.

    Args:
        throughput: ``job, <resource>, <resource>, ...``; empty or 0 where a job cannot run.
        jobs: ``job, size[, weight][, steps][, group]``.
        resources: ``resource, capacity``.
        quota: ``group, limit[, parent]``.
        previous: As ``throughput``, shares of time before.

    Raises:
        DataError: A file cannot be read.
        InputError: A table is not as it should be.
    """
    speeds = read(throughput, "job", (), None)
    job = read(jobs, "job", ("size",), ("weight", "steps", "group"))
    resource = read(resources, "resource", ("capacity",), ())
    _check_same(speeds, list(speeds.columns[1:]), resource, "resource")
    _check_same(speeds, speeds.keys, job, "job")
    _check_same(job, job.keys, speeds, "job")
    _check_known(resource, set(speeds.columns[1:]), speeds)
    matrix = _matrix(speeds)
    _check_runnable(speeds, matrix)
    order = resource.keys
    ones = pd.Series(1.0, index=job.keys)
    return Tables(
        throughput=matrix.loc[order, job.keys],
        size=job.numbers("size"),
        capacity=resource.numbers("capacity"),
        weight=job.numbers("weight") if job.has("weight") else ones,
        steps=job.numbers("steps") if job.has("steps") else None,
        quota=None if quota is None else _quota(read(quota, "group", ("limit",), ("parent",)), job),
        previous=None if previous is None else read_shares(previous),
    )


def read_shares(path: Path) -> pd.DataFrame:
    """(resources, jobs) shares of time in a file like ``throughput``.

    Args:
        path: ``job, <resource>, <resource>, ...``; empty is 0.

    Raises:
        DataError: The file cannot be read.
        InputError: It is no such table.
    """
    return _matrix(read(path, "job", (), None))


def _matrix(sheet: Sheet) -> pd.DataFrame:
    names = sheet.columns[1:]
    numbers = [
        [line[name].number(positive=False, empty=0.0) for name in names] for line in sheet.lines
    ]
    return pd.DataFrame(np.array(numbers).T, index=list(names), columns=sheet.keys)


def _check_runnable(speeds: Sheet, matrix: pd.DataFrame) -> None:
    runs = (matrix.to_numpy() > 0).any(axis=0)
    if not runs.all():
        cell = speeds.lines[int(runs.argmin())]["job"]
        raise InputError(
            f"no resource type can run job '{cell.text}'",
            where=cell.where,
            allowed="a throughput > 0 on one resource at least",
            remedy="give it a throughput, or remove the job from every table",
        )


def _check_same(sheet: Sheet, labels: Sequence[str], other: Sheet, kind: str) -> None:
    known = set(other.keys)
    for k, label in enumerate(labels):
        if label not in known:
            as_column = kind == "resource"
            where = f"{sheet.path}, line 1" if as_column else sheet.lines[k]["job"].where
            raise InputError(
                f"unknown {kind} '{label}'",
                where=where,
                allowed=f"the {kind}s of {other.path}",
                remedy=f"add it to {other.path}, or remove it here",
            )


def _check_known(resource: Sheet, columns: set[str], speeds: Sheet) -> None:
    for line in resource.lines:
        if line["resource"].text not in columns:
            raise InputError(
                f"no throughput for resource '{line['resource'].text}'",
                where=line["resource"].where,
                allowed=f"the columns of {speeds.path}",
                remedy="add a column of throughputs, or remove the resource",
            )


def _quota(sheet: Sheet, job: Sheet) -> Quota:
    """Each job counts in its own group and in all groups around it."""
    if not job.has("group"):
        raise InputError(
            "there is a quota but the jobs have no column 'group'",
            where=f"{job.path}, line 1",
            allowed="job, size, weight, steps, group",
            remedy="name each job's group",
        )
    parents = _parents(sheet)
    members: dict[str, list[str]] = {name: [] for name in sheet.keys}
    for line in job.lines:
        group = line["group"].text
        if group and group not in members:
            raise InputError(
                f"unknown group '{group}'",
                where=line["group"].where,
                allowed=f"the groups of {sheet.path}, or empty",
                remedy="add it there",
            )
        while group:
            members[group].append(line["job"].text)
            group = parents.get(group, "")
    limits = sheet.numbers("limit")
    full = {name: jobs for name, jobs in members.items() if jobs}
    return Quota(full, {name: float(limits[name]) for name in full})


def _parents(sheet: Sheet) -> Mapping[str, str]:
    if not sheet.has("parent"):
        return {}
    parents = {line["group"].text: line["parent"].text for line in sheet.lines}
    for line in sheet.lines:
        above, seen = line["group"].text, set[str]()
        while above:
            if above in seen or above not in parents:
                raise InputError(
                    f"'{above}' is around itself" if above in seen else f"unknown group '{above}'",
                    where=line["parent"].where,
                    allowed="another group, or empty",
                    remedy="name the group directly around this one",
                )
            seen.add(above)
            above = parents[above]
    return parents
