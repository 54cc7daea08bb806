"""From rows of text to a trace: every rule about good rows, once for all formats."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from walras import checks
from walras.data.gavel import GavelThroughputs
from walras.errors import DataError, InputError
from walras.predict.logs.moments import moments
from walras.simulate.cluster import Cluster
from walras.simulate.formats.imported import Imported, refuse_mostly_bad
from walras.simulate.formats.raw import Raw, Refusal, numbers
from walras.simulate.trace import Trace
from walras.text import counted
from walras.types import Bools, Floats

FIELDS: Mapping[str, str] = {
    "name": "name of the job; its row if there is none",
    "kind": "class of jobs, such as a model or a queue",
    "size": "workers that it occupies; 1 if there is none",
    "seconds": "how long it runs at speed 1, or on its fastest type where speeds are known",
    "steps": "its work in steps, in place of seconds",
    "arrival": "seconds, or a date and time",
    "weight": "priority; 1 if there is none",
    "deadline": "seconds by which it is to end, as arrivals count; none if empty",
    "slo": "a deadline so many times its seconds after its arrival; none if empty, 0 or below",
    "type": "types of workers on which it can run, joined by a bar; every type if empty",
}
"""What a column may be. ``speed TYPE`` is one more: steps a second on that type."""

SPEED = "speed "
_MOST = 1e15
_SLO_TYPE = "v100"  # whose seconds an slo counts where the rows have none, as Gavel draws them
_MOST_SIZE = 2**31
_SHOWN = 60  # characters of a number in a message
_TEXTS = ("name", "kind", "type")
_HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Rules:
    """How rows are to be read.

    Attributes:
        where: The file, for errors.
        columns: Column -> field.
        types: Type -> speed of every job on it, where the rows know no speeds.
        speeds: Measured speeds by class and size; None if the rows do not need them.
        ordered: Whether the format promises rows in the order of arrival.
        default_type: Name of the one type of a format that knows durations only.
        cluster_types: Types of the cluster, if there is one: jobs that name no type run on each.
        tells_unused: Whether columns that no field takes may be a slip: not in a format that knows
            its columns.
    """

    where: str
    columns: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, float] | None = None
    speeds: GavelThroughputs | None = None
    ordered: bool = False
    default_type: str = "worker"
    cluster_types: Sequence[str] = ()
    tells_unused: bool = False


def make(raw: Raw, rules: Rules) -> Imported:
    """Check rows and make a trace of the good ones.

    Args:
        raw: The rows.
        rules: How to read them.

    Returns:
        The trace by arrival, the refused rows with their reasons, and what else is to be said.

    Raises:
        InputError: A column is mapped that is not there, or to no field.
        DataError: No row is good, or more rows are bad than good.
    """
    if raw.table.empty:
        refuse_mostly_bad(raw.refused, 0, rules.where)
    table = _fields_of(raw.table, rules)
    sieve = _Sieve(raw)
    _refuse_half_characters(sieve, table)
    name = _names(sieve, table)
    kind = _texts(table, "kind", len(raw.table), "job")
    size = sieve.numbers(table, "size", 1.0, whole=True, high=_MOST_SIZE)
    weight = sieve.numbers(table, "weight", 1.0)
    arrival = _arrivals(sieve, table, raw.dated)
    if rules.ordered:
        _refuse_out_of_order(sieve, arrival)
    types, speed, known = _speeds(sieve, table, rules, kind, size)
    steps = _steps(sieve, table, speed, known=known)
    deadline = _deadlines(sieve, table)
    if "slo" in table:
        deadline = np.minimum(deadline, arrival + _slo_seconds(sieve, table, types, steps, speed))
    refused = tuple(sorted((*raw.refused, *sieve.refused), key=lambda found: found.row))
    good = np.flatnonzero(sieve.good)
    refuse_mostly_bad(refused, len(good), rules.where)
    order = good[np.argsort(arrival[good], kind="stable")]
    late = int((arrival[good] < np.maximum.accumulate(arrival[good])).sum())
    unused = _unused(raw.table, rules) if rules.tells_unused else ()
    notes = (_sorted_note(late),) if late else ()
    trace = Trace(
        name=tuple(name[order]),
        kind=tuple(kind[order]),
        size=size[order].astype(np.int64),
        steps=steps[order],
        weight=weight[order],
        arrival=arrival[order],
        types=types,
        speed=speed[order],
        deadline=deadline[order],
        source=_source(rules, refused, raw),
    )
    capacity = Cluster({types[0]: raw.capacity}) if raw.capacity and len(types) == 1 else None
    return Imported(trace, raw.row[order], refused, raw.left_out, notes, raw.unit, capacity, unused)


def _sorted_note(late: int) -> str:
    stood = "stood after a later one; it is" if late == 1 else "stood after later ones; they are"
    return f"{counted(late, 'job')} {stood} sorted by arrival"


def _unused(table: pd.DataFrame, rules: Rules) -> tuple[str, ...]:
    """Columns of the file that no field takes."""
    return tuple(name for name in map(str, table.columns) if name not in rules.columns)


class _Sieve:
    """Which rows are good so far, and why the others are not: the first reason counts."""

    def __init__(self, raw: Raw) -> None:
        self.row, self._unit = raw.row, raw.unit
        self.good: Bools = np.ones(len(raw.row), np.bool_)
        self.refused: list[Refusal] = []

    def refuse(self, bad: Bools, name: str, reason: Any) -> None:
        """Mark rows as bad. ``reason``: a text, or a function from a position to one."""
        for j in np.flatnonzero(bad & self.good):
            why = reason(int(j)) if callable(reason) else reason
            self.refused.append(Refusal(int(self.row[j]), name, why, self._unit))
        self.good &= ~bad

    def numbers(
        self,
        table: pd.DataFrame,
        name: str,
        default: float | None = None,
        *,
        whole: bool = False,
        low: float | None = None,
        high: float = _MOST,
    ) -> Floats:
        """(n,) numbers of a field, above 0 or from ``low``; 1 where a row is refused for it."""
        if name not in table:
            return np.full(len(table), 1.0 if default is None else default)
        cells = table[name]
        found = numbers(cells)
        if default is not None:
            found[_empty(cells)] = default
        good = (found >= low if low is not None else found > 0.0) & (found <= high)
        if whole:
            good &= found == np.floor(found)
        above = f"{low:g} or more" if low is not None else "above 0"
        limit = f", at most {high:g}" if (found > high).any() else ""
        allowed = f"a {'whole ' if whole else ''}number {above}{limit}"
        self.refuse(~good, name, lambda j: f"is {_shown(cells.iloc[j])}, not {allowed}")
        found[~good] = 1.0
        return found


def _fields_of(table: pd.DataFrame, rules: Rules) -> pd.DataFrame:
    """The columns that mean something, by field."""
    made: dict[str, pd.Series] = {}
    for column, name in rules.columns.items():
        if name not in FIELDS and not name.startswith(SPEED):
            raise InputError(
                f"maps '{column}' to '{name}'",
                where="columns",
                allowed=f"{', '.join(FIELDS)}, {SPEED}TYPE",
                remedy="map columns of the file to these fields",
            )
        if column not in table:
            raise DataError(
                f"has no column '{column}'",
                where=rules.where,
                allowed=checks.few(list(map(str, table.columns)), 20),
                remedy=f"name the column that holds the field '{name}': columns={{...: '{name}'}}",
            )
        made[name] = table[column]
    found = pd.DataFrame(made, index=table.index)
    missing = [] if "arrival" in found else ["arrival"]
    if not {"seconds", "steps"} & set(found):
        missing.append("seconds")
    if missing:
        raise DataError(
            f"has no column for the field '{missing[0]}'",
            where=rules.where,
            allowed=checks.few(list(map(str, table.columns)), 20),
            remedy=f"name the column that holds it: columns={{...: '{missing[0]}'}}",
        )
    return found


def _empty(cells: pd.Series) -> Bools:
    return np.asarray(cells.isna() | (cells == ""), np.bool_)


def _shown(cell: Any) -> str:
    if cell is None or cell == "" or cell != cell:
        return "missing"
    if isinstance(cell, str):
        try:
            float(cell)
        except ValueError:
            return checks.shown(cell)
    text = str(cell)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _refuse_half_characters(sieve: _Sieve, table: pd.DataFrame) -> None:
    """Refuse texts with lone surrogates, which JSON can state and no text file can hold."""
    for name in [name for name in _TEXTS if name in table]:
        cells = table[name]
        bad = np.array([isinstance(c, str) and bool(_HALF.search(c)) for c in cells], np.bool_)
        sieve.refuse(bad, name, "holds half a character")
        table[name] = cells.mask(bad, "")


def _texts(table: pd.DataFrame, name: str, n: int, default: str) -> np.ndarray[Any, Any]:
    """(n,) texts of a field; whole numbers without a point."""
    if name not in table:
        return np.full(n, default, object)
    cells = table[name]
    if pd.api.types.is_float_dtype(cells) and (cells.dropna() % 1 == 0).all():
        cells = cells.astype("Int64")
    texts = cells.astype(object).where(~_empty(cells), default).astype(str)
    return texts.str.strip().to_numpy(object)


def _names(sieve: _Sieve, table: pd.DataFrame) -> np.ndarray[Any, Any]:
    rows = sieve.row.astype(str).astype(object)
    if "name" not in table:
        return rows
    found = _texts(table, "name", len(table), "")
    found = np.where(found == "", rows, found)
    twice = pd.Series(found).duplicated().to_numpy(np.bool_)
    sieve.refuse(twice, "name", lambda j: f"is {checks.shown(found[j])}, as that of a row before")
    return found


def _deadlines(sieve: _Sieve, table: pd.DataFrame) -> Floats:
    """(n,) seconds; infinite where there is none."""
    if "deadline" not in table:
        return np.full(len(table), np.inf)
    found = sieve.numbers(table, "deadline", 0.0, low=0.0)
    return np.where(_empty(table["deadline"]), np.inf, found)


def _slo_seconds(
    sieve: _Sieve, table: pd.DataFrame, types: Sequence[str], steps: Floats, speed: Floats
) -> Floats:
    """(n,) seconds from arrival to deadline, infinite where there is none: the slo times the job's
    seconds. Source: Gavel's scheduler.
    """
    slo = sieve.numbers(table, "slo", 0.0, low=-_MOST)
    stated = slo > 0.0
    fastest = speed.max(axis=1)
    own = speed[:, types.index(_SLO_TYPE)] if _SLO_TYPE in types else fastest
    seconds = steps / np.where(own > 0.0, own, np.where(fastest > 0.0, fastest, 1.0))
    if "seconds" in table:
        kept = stated & ~_empty(table["seconds"])
        given = numbers(table["seconds"])
        bad = kept & ~((given > 0.0) & (given <= _MOST))
        sieve.refuse(
            bad,
            "seconds",
            lambda j: f"is {_shown(table['seconds'].iloc[j])}, not a number above 0",
        )
        seconds = np.where(kept & ~bad, given, seconds)
    return np.where(stated, slo * seconds, np.inf)


def _arrivals(sieve: _Sieve, table: pd.DataFrame, dated: bool) -> Floats:
    """(n,) seconds; of moments, since the first of them."""
    cells = table["arrival"]
    given = numbers(cells)
    dates = np.isnan(given)
    seconds = np.where(dates, moments(cells.where(dates)) if dates.any() else np.nan, given)
    dates &= np.isfinite(seconds)
    are_dates = 2 * int(dates.sum()) > int(np.isfinite(seconds).sum())  # else they are numbers
    good = dates if are_dates else ~dates & (seconds >= 0.0) & (seconds <= _MOST)
    allowed = "a date and time" if are_dates else "a number 0 or more"
    sieve.refuse(~good, "arrival", lambda j: f"is {_shown(cells.iloc[j])}, not {allowed}")
    made = np.where(good, seconds, 0.0)
    if (dated or are_dates) and sieve.good.any():
        made = made - made[sieve.good].min()
    return made


def _refuse_out_of_order(sieve: _Sieve, arrival: Floats) -> None:
    """Refuse jobs that arrive before a good one above them."""
    good = np.where(sieve.good, arrival, -np.inf)
    latest = np.maximum.accumulate(np.concatenate([[-np.inf], good]))[:-1]
    sieve.refuse(
        arrival < latest,
        "arrival",
        lambda j: f"is {arrival[j]:g}, after a job that arrives at {latest[j]:g}",
    )


def _speeds(
    sieve: _Sieve,
    table: pd.DataFrame,
    rules: Rules,
    kind: np.ndarray[Any, Any],
    size: Floats,
) -> tuple[tuple[str, ...], Floats, bool]:
    """Types, (n, T) speeds, and whether they are steps a second."""
    if rules.speeds is not None:
        return (*_measured(sieve, rules.speeds, kind, size), True)
    columns = [name for name in map(str, table) if name.startswith(SPEED)]
    if columns and rules.types is not None:
        raise InputError(
            "are given beside speeds in the file",
            where="types",
            allowed="one of the two",
            remedy=f"leave out types, or the columns '{SPEED}...'",
        )
    if columns:
        given = [sieve.numbers(table, name, 0.0, low=0.0) for name in columns]
        speed = np.column_stack(given)
        sieve.refuse(speed.max(axis=1) <= 0.0, "speed", "is 0 on every type")
        return tuple(name.removeprefix(SPEED) for name in columns), speed, True
    if "type" not in table:
        types = rules.types or dict.fromkeys(rules.cluster_types or [rules.default_type], 1.0)
        return tuple(types), np.tile(list(types.values()), (len(table), 1)), False
    return (*_by_type(sieve, table["type"], rules), False)


def _measured(
    sieve: _Sieve, found: GavelThroughputs, kind: np.ndarray[Any, Any], size: Floats
) -> tuple[tuple[str, ...], Floats]:
    best = found.throughput.max(axis=0).tolist()
    pairs = zip(found.job_types, found.scale_factors.tolist(), best, strict=True)
    known = {(name, scale) for name, scale, fastest in pairs if fastest > 0.0}
    names = {name for name, _ in known}
    wanted = list(zip(kind.tolist(), size.astype(np.int64).tolist(), strict=True))
    bad_name = np.array([name not in names for name, _ in wanted], np.bool_)
    bad_pair = np.array([pair not in known for pair in wanted], np.bool_) & ~bad_name
    sieve.refuse(bad_name, "job type", lambda j: _unknown(wanted[j][0], names))
    sieve.refuse(bad_pair, "size", lambda j: _no_speed(wanted[j], known))
    at = found.columns([name for name, _ in wanted], size.astype(np.int64))
    speed = np.where((at >= 0)[:, None], found.throughput[:, at].T, 1.0)
    return found.clusters, speed


def _unknown(name: str, names: set[str]) -> str:
    near = difflib.get_close_matches(name, sorted(names), 1)
    return f"{checks.shown(name)} is unknown" + (f"; did you mean {near[0]!r}?" if near else "")


def _no_speed(pair: tuple[str, int], known: set[tuple[str, int]]) -> str:
    sizes = sorted(size for name, size in known if name == pair[0])
    return f"is {pair[1]}: job type {pair[0]!r} has speeds on {sizes} workers"


def _by_type(sieve: _Sieve, cells: pd.Series, rules: Rules) -> tuple[tuple[str, ...], Floats]:
    """Speeds of jobs that name the types on which they can run."""
    texts = cells.astype(object).where(~_empty(cells), "").astype(str)
    codes, distinct = pd.factorize(texts)
    named = [_split(text) for text in distinct]
    union = [*rules.cluster_types, *sorted({name for names in named for name in names})]
    types = rules.types or dict.fromkeys(union or [rules.default_type], 1.0)
    able = np.array([[not names or t in names for t in types] for names in named], np.bool_)
    speed = np.array(list(types.values())) * able.reshape(len(named), len(types))[codes]
    sieve.refuse(
        speed.max(axis=1) <= 0.0,
        "type",
        lambda j: f"is {checks.shown(texts.iloc[j])}, none of {', '.join(types)}",
    )
    return tuple(types), speed


def _split(text: str) -> Sequence[str]:
    return [name.strip() for name in text.split("|") if name.strip()]


def _steps(sieve: _Sieve, table: pd.DataFrame, speed: Floats, *, known: bool) -> Floats:
    """(n,) steps; seconds times the fastest speed where speeds are steps a second."""
    if "steps" in table:
        return sieve.numbers(table, "steps")
    seconds = sieve.numbers(table, "seconds")
    return seconds * speed.max(axis=1) if known else seconds


def _source(rules: Rules, refused: Sequence[Refusal], raw: Raw) -> str:
    """Where the trace comes from, with all that was not taken."""
    words = [Path(rules.where).name]
    if rules.speeds is not None:
        words.append(f"speeds {rules.speeds.source}")
    if refused:
        words.append(f"rows refused: {len(refused)}")
    if raw.left_out:
        words.append(f"rows left out: {sum(raw.left_out.values())}")
    return ", ".join(words)
