"""What a benchmark is: cells to measure, and targets computed from their records."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.cell import Cell
from benchmarks.instances import AnySpec
from benchmarks.judge import MINIMISED, SEQUENTIAL, relative_gap

Records = Mapping[str, Mapping[str, Any]]

TOLERANCE = 1e-6
LOOSE = 1e-3  # a peer that ends further from the best known value has not solved the instance


@dataclass(frozen=True)
class Target:
    """A row of the table of targets.

    Attributes:
        case: What is promised.
        aim: The bar, in words.
        measured: What was measured, in words; empty if its cells have not been measured.
        met: Whether the bar is reached, None if that is not known yet.
        basis: Runs and dates of the records it was computed from, by :func:`basis`.
    """

    case: str
    aim: str
    measured: str = ""
    met: bool | None = None
    basis: str = ""


@dataclass(frozen=True)
class Benchmark:
    """A section of the results.

    Attributes:
        name: Prefix of its cells.
        title: Heading in the table.
        cells: What it measures.
        targets: What the records say of its targets.
    """

    name: str
    title: str
    cells: tuple[Cell, ...]
    targets: Callable[[Records], Sequence[Target]]


def basis(records: Iterable[Mapping[str, Any] | None]) -> str:
    """How often and when records were measured, and whether in turns.

    >>> ours = {"cell": {"name": "a", "method": "walras"}, "runs": 5, "started": "2026-11-24T10"}
    >>> peer = {"cell": {"name": "b", "method": "highs"}, "runs": 1, "started": "2026-11-21T10"}
    >>> basis([ours, peer])
    'runs: walras 5, highs 1; 2026-11-21 and 2026-11-24'
    """
    found = [record for record in records if record is not None and "started" in record]
    if not found:
        return ""
    counts: dict[str, set[int]] = {}
    for record in found:
        counts.setdefault(record["cell"]["method"], set()).add(record.get("runs", 1))
    runs = ", ".join(f"{method} {_span(sorted(own))}" for method, own in counts.items())
    days = sorted({record["started"][:10] for record in found})
    word = " and " if len(days) == 2 else " to "
    names = {record["cell"]["name"] for record in found}
    beside = all(names <= {record["cell"]["name"], *record.get("in_turns", ())} for record in found)
    turns = "in turns, " if beside and len(found) > 1 else ""
    return f"runs: {runs}; {turns}{word.join(dict.fromkeys((days[0], days[-1])))}"


def _span(counts: Sequence[int]) -> str:
    return "-".join(str(count) for count in dict.fromkeys((counts[0], counts[-1])))


def best_bound(records: Records, instance: str, objective: str) -> float | None:
    """Tightest certified bound that any method gave for an instance."""
    bounds = [
        record["numbers"]["bound"]
        for record in records.values()
        if record["cell"]["instance"] == instance
        and record["cell"]["objective"] == objective
        and "bound" in record.get("numbers", {})
    ]
    tightest = max if objective in MINIMISED else min
    return tightest(bounds) if bounds else None


def gap(records: Records, record: Mapping[str, Any]) -> float | None:
    """Distance of a record's repaired value from the best bound of its instance."""
    cell = record["cell"]
    alone = cell["objective"] in SEQUENTIAL
    known = {cell["name"]: record} if alone else records
    bound = best_bound(known, cell["instance"], cell["objective"])
    if bound is None or record.get("value") is None:
        return None
    return relative_gap(cell["objective"], record["value"], bound, cell["demands"])


def of_method(
    records: Records, objective: str, spec: AnySpec, method: str, benchmark: str | None = None
) -> Mapping[str, Any] | None:
    """The record of a method on an instance, from a benchmark or whichever measured it."""
    for record in records.values():
        cell = record["cell"]
        key = cell["instance"], cell["objective"], cell["method"]
        if key == (spec.name, objective, method) and benchmark in (None, cell["benchmark"]):
            return record
    return None


def quickest_peer(
    records: Records, objective: str, spec: AnySpec, peers: Sequence[str]
) -> tuple[str, float, bool] | None:
    """The solving peer with the least total time; its time, and whether that is a lower bound.

    A peer that ended with an answer further than ``LOOSE`` from the best known has not solved the
    instance: :func:`loose_peers` tells of it.
    """
    times = []
    for peer in peers:
        record = of_method(records, objective, spec, peer)
        if record is None or record["status"] not in ("ran", "stopped"):
            continue
        stopped = record["status"] == "stopped"
        if not stopped and shortfall(records, record) > LOOSE:
            continue
        seconds = record["cell"]["limit"] if stopped else record["total"]
        times.append((seconds, peer, stopped))
    if not times:
        return None
    seconds, peer, stopped = min(times)
    return peer, seconds, stopped


def shortfall(records: Records, record: Mapping[str, Any]) -> float:
    """How far a record's repaired value is from the best that any method found."""
    cell = record["cell"]
    values = [
        other["value"]
        for other in records.values()
        if other["cell"]["instance"] == cell["instance"]
        and other["cell"]["objective"] == cell["objective"]
        and other.get("value") is not None
    ]
    if record.get("value") is None or not values:
        return 0.0
    best = min(values) if cell["objective"] in MINIMISED else max(values)
    return relative_gap(cell["objective"], record["value"], best, cell["demands"])


def loose_peers(records: Records, objective: str, spec: AnySpec, peers: Sequence[str]) -> str:
    """In words, the peers that ended far from the optimum: how far, and when."""
    found = [of_method(records, objective, spec, peer) for peer in peers]
    return "; ".join(
        f"{r['cell']['method']} ended {100 * shortfall(records, r):.1f} % off in {r['total']:.1f} s"
        for r in found
        if r is not None and r["status"] == "ran" and shortfall(records, r) > LOOSE
    )


def certified_target(
    records: Records, case: str, objective: str, specs: Sequence[AnySpec]
) -> Target:
    """Every instance certified within the tolerance; the median time over them is shown."""
    aim = f"gap <= {TOLERANCE:g} on all {len(specs)} instances"
    found = [of_method(records, objective, spec, "walras") for spec in specs]
    ran = [record for record in found if record is not None]
    if len(ran) < len(found):
        return Target(case, aim)
    gaps = [gap(records, record) for record in ran]
    closed = [g for g in gaps if g is not None]
    times = [record["total"] for record in ran if "total" in record]
    if len(closed) < len(specs) or len(times) < len(specs):
        return Target(case, aim, f"{len(specs) - len(closed)} without a certified gap", False)
    measured = f"largest gap {max(closed):.1e}; median {statistics.median(times):.2f} s"
    return Target(case, aim, measured, max(closed) <= TOLERANCE, basis(ran))


def speed_target(
    records: Records, case: str, objective: str, spec: AnySpec, peers: Sequence[str], factor: float
) -> Target:
    """Certified gap within the tolerance and at least ``factor`` times the quickest peer."""
    aim = f"gap <= {TOLERANCE:g}, at least {factor:g}x the quickest peer"
    ours = of_method(records, objective, spec, "walras")
    peer = quickest_peer(records, objective, spec, peers)
    if ours is None or "total" not in ours or peer is None:
        return Target(case, aim)
    distance = gap(records, ours)
    ratio = peer[1] / ours["total"]
    sign = ">" if peer[2] else ""
    shown = "no bound" if distance is None else f"gap {distance:.1e}"
    others = loose_peers(records, objective, spec, peers)
    measured = f"{shown}; {sign}{ratio:.1f}x {peer[0]} ({sign}{peer[1]:.1f} s)"
    measured += f"; {others}" if others else ""
    known = basis((ours, of_method(records, objective, spec, peer[0])))
    if distance is None:
        return Target(case, aim, measured, basis=known)
    # A stopped peer gives a lower bound on the ratio: below the bar it decides nothing.
    met = (
        None
        if peer[2] and ratio < factor and distance <= TOLERANCE
        else (ratio >= factor and distance <= TOLERANCE)
    )
    return Target(case, aim, measured, met, known)
