"""Compilation of the kernels: the first call with an empty cache against the second call.

A first call compiles the kernels of its family alone, and all calls after it find them on disk.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.benchmark import Benchmark, Records, Target, basis
from benchmarks.cell import Cell
from benchmarks.instances import Spec

SPEC = Spec("heterogeneous", 8, 24)
SECONDS = 20.0
INTERIOR, ALL, MATCH, SOLVE = (
    Cell(
        "kernels",
        SPEC,
        family,
        "walras-first-call",
        seconds,
        runs=1,
        quick=quick,
        fresh_kernels=True,
    )
    for family, seconds, quick in (
        ("interior", 20.0, True),
        ("all", 100.0, False),
        ("match", 10.0, False),
        ("solve", 10.0, False),
    )
)


def targets(records: Records) -> Sequence[Target]:
    """Each family's kernels compile in under 20 s, once, since a first call compiles one family; so
    do all together, which set-up compiles.
    """
    return [*_families(records), _first(records, MATCH, 3.0), _first(records, SOLVE, 5.0)]


def _first(records: Records, cell: Cell, most: float) -> Target:
    """What the first call of a small problem takes by the clock, with an empty cache."""
    case, aim = f"the first `{cell.objective}` of a small problem", f"under {most:g} s"
    record = records.get(cell.name)
    if record is None or "numbers" not in record:
        return Target(case, aim)
    seconds = record["numbers"]["first call"]
    return Target(case, aim, f"{seconds:.2f} s", seconds < most, basis([record]))


def _families(records: Records) -> Sequence[Target]:
    aim = f"under {SECONDS:g} s"
    record = records.get(ALL.name)
    if record is None or "numbers" not in record:
        return [Target("kernel compilation", aim)]
    seconds = {name: value for name, value in record["numbers"].items() if name != "compile"}
    named = {_named(family): value for family, value in seconds.items()}
    return [
        Target(
            f"kernel compilation, {name}", aim, f"{value:.1f} s", value < SECONDS, basis([record])
        )
        for name, value in (named | {"all families": sum(seconds.values())}).items()
    ]


def _named(family: str) -> str:
    return "the allocation core" if family == "interior" else f"of {family}"


BENCHMARK = Benchmark("kernels", "Kernel compilation", (INTERIOR, ALL, MATCH, SOLVE), targets)
