"""The tables in Markdown, rendered from the records and from nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.benchmark import Benchmark, Records, Target, gap, of_method
from benchmarks.cell import Cell
from benchmarks.flow_instances import OBJECTIVES as FLOW_OBJECTIVES
from benchmarks.peers import METHODS

_HEADER = (
    "| instance | objective | method | version | build s | solve s | total s (min to max, runs) "
    "| x Walras | iterations | value after repair | gap | violation | memory | measured | note |\n"
    "|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|---|\n"
)
_LARGE = 500_000  # entries
_BEATEN = 1e-7  # a repaired value above its certified bound by more would disprove the bound


def render(benchmarks: Sequence[Benchmark], records: Records) -> str:
    """The whole page: targets first, then a table a benchmark, then how it was measured."""
    targets = [target for benchmark in benchmarks for target in benchmark.targets(records)]
    parts = [_targets(targets)]
    for benchmark in benchmarks:
        rows = [_row(cell, records) for cell in benchmark.cells if cell.name in records]
        if rows:
            parts.append(f"### {benchmark.title}\n\n{_HEADER}" + "".join(rows))
    parts.append(_method(records.values(), sum(len(b.cells) for b in benchmarks)))
    return "\n".join(parts)


def _targets(targets: Iterable[Target]) -> str:
    verdict = {True: "met", False: "**missed**", None: "open"}
    rows = [f"| {t.case} | {t.aim} | {_found(t)} | {verdict[t.met]} |\n" for t in targets]
    return "| case | target | measured | |\n|---|---|---|---|\n" + "".join(rows)


def _found(target: Target) -> str:
    return "; ".join(filter(None, (target.measured or "not measured", target.basis)))


def _row(cell: Cell, records: Records) -> str:
    record = records[cell.name]
    spread = record.get("spread")
    total = (
        ""
        if spread is None
        else (f"{record['total']:.3g} ({spread[0]:.3g} to {spread[1]:.3g}, {record['runs']})")
    )
    if record["status"] == "stopped":
        total = f"> {record['cell']['limit']:g}"
    columns = (
        cell.spec.name,
        cell.objective,
        METHODS[cell.method].label,
        _version(cell, record),
        _number(record.get("build")),
        _number(record.get("solve")),
        total,
        _ratio(cell, record, records),
        str(record.get("iterations") or ""),
        _number(record.get("value"), 9),
        _number(gap(records, record), 2),
        _number(record.get("violation"), 2),
        _memory(record),
        _date(record),
        _note(cell, record, records),
    )
    return "| " + " | ".join(columns) + " |\n"


def _version(cell: Cell, record: Mapping[str, Any]) -> str:
    """The method's own package and its version; what it needs besides is in the record."""
    versions = record.get("versions") or {}
    own = next((name for name in METHODS[cell.method].packages if name in versions), None)
    return "" if own is None else f"{own} {versions[own]}"


def _ratio(cell: Cell, record: Mapping[str, Any], records: Records) -> str:
    """Total time over that of Walras on the same instance, and on a machine of as many cores."""
    ours = of_method(records, cell.objective, cell.spec, "walras")
    if ours is None or "total" not in ours:
        return ""
    if ours["machine"]["cores"] != record["machine"]["cores"]:
        return ""
    if record["status"] == "stopped":
        return f"> {record['cell']['limit'] / ours['total']:.3g}"
    return _number(record["total"] / ours["total"] if "total" in record else None)


def _memory(record: Mapping[str, Any]) -> str:
    """Peak in arrays of the size of X, where X is not dwarfed by what any program allocates.

    Of flows, which have no such array, in GiB of the process.
    """
    cell = record["cell"]
    if "resources" not in cell:  # nothing was built
        return ""
    if cell["objective"] in FLOW_OBJECTIVES:
        peak = record.get("peak_bytes")
        return "" if peak is None else f"{peak / 2**30:.2f} GiB"
    large = cell["resources"] * cell["demands"] >= _LARGE
    return _number(record.get("memory_arrays"), 3) if large else ""


def _date(record: Mapping[str, Any]) -> str:
    """The day; a star says that its runs were made in turns with the others'."""
    return f"{record['started'][:10]}{' *' * bool(record.get('in_turns'))}"


def _note(cell: Cell, record: Mapping[str, Any], records: Records) -> str:
    """How it ended, unless it simply ended well."""
    if "value" in record and record["value"] is None:
        return f"some job gets nothing; {_last_line(record)}"
    distance = gap(records, record)
    if distance is not None and distance < -_BEATEN:
        return "BEATS THE BOUND: the certificate is wrong"
    if record["status"] == "stopped":
        return f"stopped at {record['cell']['limit']:g} s"
    if record["status"] != "ran":
        return f"{record['status']}: {_last_line(record)}"
    return _last_line(record)


def _last_line(record: Mapping[str, Any]) -> str:
    lines = str(record.get("message", "")).strip().splitlines()
    return lines[-1].replace("|", "/")[:80] if lines else ""


def _counted(records: Iterable[Mapping[str, Any]]) -> str:
    """How many cells have how many runs."""
    counts = Counter(record["runs"] for record in records if "runs" in record)
    parts = [
        f"{cells} cells of {runs} run{'s' * (runs > 1)}" for runs, cells in sorted(counts.items())
    ]
    return ", ".join(parts)


def _number(value: float | None, digits: int = 3) -> str:
    return "" if value is None else f"{value:.{digits}g}"


def _machine(machine: Mapping[str, Any]) -> str:
    gpu = f", {machine['gpu']}" if "gpu" in machine else ""
    return f"{machine['cpu']}, {machine['cores']} cores{gpu}, {machine['system']}"


def _method(records: Iterable[Mapping[str, Any]], cells: int) -> str:
    found = list(records)
    if not found:
        return f"None of {cells} cells has been measured yet.\n"
    machines = sorted({_machine(r["machine"]) for r in found})
    versions = sorted({f"{k} {v}" for r in found for k, v in r.get("versions", {}).items()})
    threads = [str(count) for count in sorted({r["threads"] for r in found})]
    days = sorted({r["started"][:10] for r in found})
    return (
        f"{len(found)} of {cells} cells measured, {' to '.join(days[:1] + days[1:][-1:])}; "
        f"{'; '.join(machines)}; {', '.join(threads)} threads each; {', '.join(versions)}. "
        f"Times are medians of the runs that the column counts: {_counted(found)}. A * at the day "
        "marks runs made in turns with those of the other methods on the instance. "
        "Total = build + solve, from arrays to allocation. Every allocation is "
        "repaired and valued by the same independent check; the gap is to the best certified "
        "bound of the instance (nats a job for proportional fairness, otherwise relative to the "
        "bound); memory is the median peak of a run in arrays of the size of X, for flows in GiB "
        "of the process. A method that needs over "
        "30 s on a cell runs once; `>` marks a run that was stopped.\n"
    )
