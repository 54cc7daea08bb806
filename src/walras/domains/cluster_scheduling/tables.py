"""A cluster's jobs and resources from CSV tables, matched by their labels."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from walras import checks
from walras.data.formats.sheet import Cell, Sheet, ignored, read
from walras.domains.cluster_scheduling.quota import Quota
from walras.errors import InputError

_Found = TypeVar("_Found")
_Line = dict[str, Cell]


@dataclass(frozen=True, eq=False)
class ClusterTables:
    """The tables of a cluster-scheduling problem, labels matched.

    Attributes:
        throughput: (resources, jobs) labelled.
        size: (jobs,) GPUs.
        capacity: (resources,) GPUs.
        weight: (jobs,) priorities.
        steps: (jobs,) work left, or None.
        quota: Limits of groups, or None.
        previous: (resources, jobs) shares before, labelled, or None.
        drained: Resources without capacity, or that should be drained.
        left_out: The reason why each unusable row was left out, by its label.
        note: A sentence on ignored columns; empty if there are none.
    """

    throughput: pd.DataFrame
    size: pd.Series
    capacity: pd.Series
    weight: pd.Series
    steps: pd.Series | None
    quota: Quota | None
    previous: pd.DataFrame | None
    drained: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    note: str = ""


def read_tables(
    throughput: Path,
    jobs: Path,
    resources: Path,
    quota: Path | None = None,
    previous: Path | None = None,
    *,
    drain: Collection[str] = (),
    keep_good: bool = False,
) -> ClusterTables:
    """Read and match all tables.

    Args:
        throughput: ``job, <resource>, <resource>, ...``; empty or 0 where a job cannot run. Columns
            that are no resource of ``resources`` are ignored, with a note.
        jobs: ``job, size[, weight][, steps][, group]``.
        resources: ``resource, capacity``; capacity 0 drains a resource.
        quota: ``group, limit[, parent]``.
        previous: As ``throughput``, shares of time before.
        drain: Resources that no job may use.
        keep_good: Whether to leave out unusable rows of jobs and resources.

    Raises:
        DataError: A file cannot be read.
        InputError: A table has a fault, or no job or resource is left.
    """
    speeds = read(throughput, "job", (), None, distinct=not keep_good)
    job = read(jobs, "job", ("size",), ("weight", "steps", "group"), distinct=not keep_good)
    resource = read(resources, "resource", ("capacity",), (), distinct=not keep_good)
    others = tuple(name for name in speeds.columns[1:] if name not in resource.keys)
    speeds = replace(speeds, ignored=others)  # no resource of the cluster
    bad = _Bad(keep_good)
    capacity = _capacities(resource, speeds, drain, bad)
    order = [name for name, number in capacity.items() if number > 0]
    if not order:
        raise InputError(
            "no resource is left: all are drained or without capacity",
            where=str(resource.path),
            allowed="a capacity > 0 of one resource at least",
            remedy="drain fewer, or correct the capacities",
        )
    groups = None if quota is None else _Groups.of(read(quota, "group", ("limit",), ("parent",)))
    rows = _jobs(speeds, job, list(capacity), order, groups, bad)
    labels = list(rows)
    columns = {name: [row.numbers[name] for row in rows.values()] for name in _NUMBERS}
    matrix = np.array([row.speeds for row in rows.values()]).T
    series = {name: pd.Series(cells, index=labels) for name, cells in columns.items()}
    sheets = [speeds, job, resource, *([] if groups is None else [groups.sheet])]
    return ClusterTables(
        throughput=pd.DataFrame(matrix, index=order, columns=labels),
        size=series["size"],
        capacity=pd.Series([capacity[name] for name in order], index=order),
        weight=series["weight"],
        steps=series["steps"] if job.has("steps") else None,
        quota=None if groups is None else groups.quota({k: row.group for k, row in rows.items()}),
        previous=None if previous is None else read_shares(previous),
        drained=tuple(name for name, number in capacity.items() if number == 0),
        left_out=bad.reasons,
        note=ignored(*sheets),
    )


def read_shares(path: Path) -> pd.DataFrame:
    """Read (resources, jobs) shares of time from a file like ``throughput``.

    Args:
        path: ``job, <resource>, <resource>, ...``; empty is 0.

    Raises:
        DataError: The file cannot be read.
        InputError: It is not such a table.
    """
    sheet = read(path, "job", (), None)
    names = sheet.columns[1:]
    numbers = [[_speed(line[name]) for name in names] for line in sheet.lines]
    return pd.DataFrame(np.array(numbers).T, index=list(names), columns=sheet.keys)


class _Bad:
    """Unusable rows, which are left out with their reason, or raise an error at once.

    Args:
        kept: Whether unusable rows are left out.
    """

    def __init__(self, kept: bool) -> None:
        self.kept = kept
        self.reasons: dict[str, str] = {}

    def tried(self, label: str, read_row: Callable[..., _Found], *cells: Any) -> _Found | None:
        """Read a row; return None if it is unusable and left out.

        Raises:
            InputError: It is unusable, and rows may not be left out.
        """
        try:
            return read_row(*cells)
        except InputError as error:
            self.refuse(label, error)
            return None

    def refuse(self, label: str, error: InputError) -> None:
        """Leave a row out.

        Raises:
            InputError: Rows may not be left out.
        """
        if not self.kept:
            raise error
        self.reasons.setdefault(label, f"{error.where}: {error.what}")


def _capacities(
    resource: Sheet, speeds: Sheet, drain: Collection[str], bad: _Bad
) -> dict[str, float]:
    """Capacity of each resource, 0 for drained ones."""
    for name in drain:
        checks.one_of(name, "--drain", resource.keys, "resource")
    known = set(speeds.columns[1:])
    found: dict[str, float] = {}

    for line in _distinct(resource, bad):
        name = line["resource"].text
        number = bad.tried(name, _capacity, line, known, speeds)
        if number is not None:
            found[name] = 0.0 if name in drain else number
    return found


def _capacity(line: _Line, known: Collection[str], speeds: Sheet) -> float:
    if line["resource"].text not in known:
        raise InputError(
            f"no throughput for resource '{line['resource'].text}'",
            where=line["resource"].where,
            allowed=f"the columns of {speeds.path}",
            remedy="add a column of throughputs, or remove the resource",
        )
    return line["capacity"].number(positive=False)


def _unknown(label: str, kind: str, where: str, other: Sheet) -> InputError:
    return InputError(
        f"unknown {kind} '{label}'",
        where=where,
        allowed=f"the {kind}s of {other.path}",
        remedy=f"add it to {other.path}, or remove it here",
    )


def _distinct(sheet: Sheet, bad: _Bad) -> Iterable[_Line]:
    """The lines with distinct labels; of several with one label, the first is kept."""
    seen: set[str] = set()
    for line in sheet.lines:
        cell = line[sheet.columns[0]]
        if cell.text and cell.text not in seen:
            seen.add(cell.text)
            yield line
        else:  # only if rows may be left out
            bad.reasons[f"{cell.text or 'no label'} again"] = f"{cell.where}: comes twice or empty"


_NUMBERS = ("size", "weight", "steps")


@dataclass(frozen=True)
class _Job:
    """One job: its throughputs in the order of the resources, its numbers, its group."""

    speeds: list[float]
    numbers: dict[str, float]
    group: str


def _jobs(
    speeds: Sheet,
    job: Sheet,
    known: Sequence[str],
    order: Sequence[str],
    groups: _Groups | None,
    bad: _Bad,
) -> dict[str, _Job]:
    """The usable jobs, in the order of the table of jobs."""
    if groups is not None and not job.has("group"):
        raise InputError(
            "there is a quota but the jobs have no column 'group'",
            where=f"{job.path}, line 1",
            allowed="job, size, weight, steps, group",
            remedy="name each job's group",
        )
    asked = {line["job"].text: line for line in _distinct(job, bad)}
    fast = {line["job"].text: line for line in _distinct(speeds, bad)}
    for label, line in fast.items():
        if label not in asked:
            bad.refuse(label, _unknown(label, "job", line["job"].where, job))
    found: dict[str, _Job] = {}
    for label, line in asked.items():
        if label not in fast:
            bad.refuse(label, _unknown(label, "job", line["job"].where, speeds))
            continue
        row = bad.tried(label, _job, line, fast[label], known, order, groups)
        if row is not None:
            found[label] = row
    if not found:
        raise InputError(
            "no job is left that can be used",
            where=str(job.path),
            allowed="one job at least",
            remedy="correct the rows; without --keep-good the first error is shown",
        )
    return found


def _job(
    line: _Line, own: _Line, known: Sequence[str], order: Sequence[str], groups: _Groups | None
) -> _Job:
    numbers = dict.fromkeys(_NUMBERS, 1.0)
    for name in _NUMBERS:
        if name in line:
            numbers[name] = line[name].number(positive=True)
    speed = {name: _speed(own[name]) for name in known}
    if not any(speed[name] for name in order):
        elsewhere = any(speed.values())
        raise InputError(
            f"no resource type {'that is left ' if elsewhere else ''}can run job "
            f"'{own['job'].text}'",
            where=own["job"].where,
            allowed="a throughput > 0 on one resource at least",
            remedy="leave it out with --keep-good, or drain fewer resources"
            if elsewhere
            else "give it a throughput, or leave it out with --keep-good",
        )
    group = line["group"].text if "group" in line else ""
    if groups is not None:
        groups.check(line["group"])
    return _Job([speed[name] for name in order], numbers, group)


def _speed(cell: Cell) -> float:
    return cell.number(positive=False, empty=0.0)


@dataclass(frozen=True, eq=False)
class _Groups:
    """The table of quotas; a job counts in its own group and in all groups that contain it."""

    sheet: Sheet
    parents: Mapping[str, str]
    limits: pd.Series

    @classmethod
    def of(cls, sheet: Sheet) -> _Groups:
        return cls(sheet, _parents(sheet), sheet.numbers("limit"))

    def check(self, cell: Cell) -> None:
        """Refuse a group without a limit."""
        if cell.text and cell.text not in self.limits.index:
            raise InputError(
                f"unknown group '{cell.text}'",
                where=cell.where,
                allowed=f"the groups of {self.sheet.path}, or empty",
                remedy="add it there",
            )

    def quota(self, group_of: Mapping[str, str]) -> Quota:
        """The limits of the groups with jobs."""
        members: dict[str, list[str]] = {name: [] for name in self.limits.index}
        for job, own in group_of.items():
            group = own
            while group:
                members[group].append(job)
                group = self.parents.get(group, "")
        full = {name: jobs for name, jobs in members.items() if jobs}
        return Quota(full, {name: float(self.limits[name]) for name in full})


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
