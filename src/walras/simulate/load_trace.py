"""Read traces of jobs from files."""

from __future__ import annotations

import difflib
import gzip
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from walras import checks
from walras.data import load
from walras.data.gavel import GavelThroughputs
from walras.errors import DataError
from walras.files import reason_of
from walras.simulate.trace import Trace

FORMATS = ("gavel",)

# Number of columns -> places of steps, size, weight, arrival. Nine had no directory; eleven have
# the mode of adaptation after the size; twelve have the duration before the arrival, too.
_PLACES = {9: (4, 5, 6, 8), 10: (5, 6, 7, 9), 11: (5, 6, 8, 10), 12: (5, 6, 8, 11)}


def load_trace(
    path: str | Path, format: str = "gavel", *, speeds: GavelThroughputs | None = None
) -> Trace:
    r"""Read a trace of jobs.

    The format ``gavel`` is one job a line, tab-separated: job type, command, directory, steps
    argument, whether it needs data, steps, workers, weight, SLO, arrival in seconds. Lines of nine
    columns have no directory, lines of eleven have a mode after the workers, and lines of twelve a
    duration before the arrival, too. A name that ends in ``.gz`` is unpacked.

    Args:
        path: The file.
        format: Its format; ``gavel`` so far.
        speeds: Steps a second of each job type by size and type of worker; the measured set
            ``gavel`` if None.

    Returns:
        The trace; jobs are named by their line, from ``1``.

    Raises:
        InputError: There is no such format.
        DataError: The file cannot be read, or lines cannot be used: unknown job types, numbers out
            of range, arrivals out of order. The first is named with its line, the others counted.

    Example:
        >>> import walras as wl
        >>> path = "two.trace"
        >>> with open(path, "w") as file:
        ...     for arrival in (0, 60):
        ...         row = ("A3C", "run", "rl", "--max_steps", 0, 500, 1, 1, -1, arrival)
        ...         _ = file.write("\t".join(map(str, row)) + "\n")
        >>> speeds = wl.data.load("gavel", synthetic=True)
        >>> wl.simulate.load_trace(path, speeds=speeds).steps.tolist()
        [500.0, 500.0]
    """
    checks.one_of(format, "format", FORMATS, "format of traces")
    found = load("gavel") if speeds is None else speeds
    known = {
        pair: k
        for k, pair in enumerate(zip(found.job_types, found.scale_factors.tolist(), strict=True))
        if found.throughput[:, k].any()
    }
    where, refused = str(path), _Refused()
    rows: list[_Row] = []
    for number, line in _lines(Path(path)):
        row = refused.tried(number, _row, line, known, rows[-1].arrival if rows else 0.0)
        if row is not None:
            rows.append(row)
    refused.raise_any(where)
    if not rows:
        raise _cannot(where, "holds no job", "at least one line")
    return Trace(
        name=tuple(str(k + 1) for k in range(len(rows))),
        kind=tuple(row.kind for row in rows),
        size=np.array([row.size for row in rows], np.int64),
        steps=np.array([row.steps for row in rows]),
        weight=np.array([row.weight for row in rows]),
        arrival=np.array([row.arrival for row in rows]),
        types=found.clusters,
        speed=found.throughput[:, [row.class_ for row in rows]].T,
        source=f"{Path(path).name}, speeds {found.source}",
    )


@dataclass(frozen=True)
class _Row:
    kind: str
    class_: int
    size: int
    steps: float
    weight: float
    arrival: float


class _LineError(Exception):
    """Why a line cannot be used."""


class _Refused:
    """Lines that cannot be used: the first with its reason, the others counted."""

    def __init__(self) -> None:
        self._first, self._count = "", 0

    def tried(
        self, number: int, read: Callable[..., _Row], line: str, known: object, before: float
    ) -> _Row | None:
        try:
            return read(line, known, before)
        except _LineError as reason:
            self._first = self._first or f"line {number}: {reason}"
            self._count += 1
            return None

    def raise_any(self, where: str) -> None:
        if self._count:
            more = f"; {self._count - 1} more lines cannot be used" if self._count > 1 else ""
            raise _cannot(where, self._first + more, "one job a line, as in Gavel's traces")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that hold something, with their numbers."""
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    except OSError as error:
        raise _cannot(str(path), f"cannot be read: {reason_of(error)}", "a file") from error
    except (EOFError, ValueError, zlib.error) as error:
        raise _cannot(str(path), f"cannot be read: {error}", "text in UTF-8") from error
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            yield number, line


def _row(line: str, known: dict[tuple[str, int], int], before: float) -> _Row:
    cells = line.split("\t")
    if len(cells) not in _PLACES:
        raise _LineError(f"has {len(cells)} columns, not {', '.join(map(str, _PLACES))}")
    steps, size, weight, arrival = (cells[k].strip() for k in _PLACES[len(cells)])
    kind, workers = cells[0].strip(), _number(size, "workers", whole=True)
    pair = (kind, int(workers))
    if pair not in known:
        raise _LineError(_unknown(pair, known))
    at = _number(arrival, "arrival", low=0.0)
    if at < before:
        raise _LineError(f"arrives at {at:g} s, after a job that arrives at {before:g} s")
    return _Row(
        kind,
        known[pair],
        pair[1],
        _number(steps, "steps", whole=True),
        _number(weight, "weight"),
        at,
    )


def _number(cell: str, name: str, *, whole: bool = False, low: float | None = None) -> float:
    try:
        found = float(cell)
    except ValueError:
        raise _LineError(f"{name} is {cell!r}, no number") from None
    good = found >= low if low is not None else found > 0.0
    if not good or found > 1e15 or (whole and found != int(found)):
        allowed = "a whole number above 0" if whole else "0 or more" if low == 0.0 else "above 0"
        raise _LineError(f"{name} is {cell}, not {allowed}")
    return found


def _unknown(pair: tuple[str, int], known: dict[tuple[str, int], int]) -> str:
    kinds = {kind for kind, _ in known}
    if pair[0] in kinds:
        sizes = sorted(size for kind, size in known if kind == pair[0])
        return f"job type {pair[0]!r} has no speed on {pair[1]} workers, only on {sizes}"
    near = difflib.get_close_matches(pair[0], sorted(kinds), 1)
    return f"job type {pair[0]!r} is unknown" + (f"; did you mean {near[0]!r}?" if near else "")


def _cannot(where: str, what: str, allowed: str) -> DataError:
    return DataError(what, where=where, allowed=allowed, remedy="correct the file")
