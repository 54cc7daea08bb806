"""Compilation of the kernels: the first call with an empty cache against the second call."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.benchmark import Benchmark, Records, Target
from benchmarks.cell import Cell
from benchmarks.instances import Spec

SPEC = Spec("heterogeneous", 8, 24)
SECONDS = 20.0
CELL = Cell(
    "kernels", SPEC, "all", "walras-first-call", 40.0, runs=1, quick=True, fresh_kernels=True
)


def targets(records: Records) -> Sequence[Target]:
    """All objectives together compile in under 20 s, once."""
    case, aim = "kernel compilation, all objectives", f"under {SECONDS:g} s"
    record = records.get(CELL.name)
    if record is None or "numbers" not in record:
        return [Target(case, aim)]
    seconds = record["numbers"]["compile"]
    return [Target(case, aim, f"{seconds:.1f} s", seconds < SECONDS)]


BENCHMARK = Benchmark("kernels", "Kernel compilation", (CELL,), targets)
