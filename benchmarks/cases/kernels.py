"""Compilation of the kernels: the first call with an empty cache against the second call."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.benchmark import Benchmark, Records, Target
from benchmarks.cell import Cell
from benchmarks.instances import Spec

SPEC = Spec("heterogeneous", 8, 24)
SECONDS = 20.0
INTERIOR, ALL = (
    Cell(
        "kernels", SPEC, family, "walras-first-call", seconds, runs=1, quick=quick,
        fresh_kernels=True,
    )
    for family, seconds, quick in (("interior", 20.0, True), ("all", 100.0, False))
)  # fmt: skip


def targets(records: Records) -> Sequence[Target]:
    """Each family's kernels compile in under 20 s, once, and so do all together."""
    aim = f"under {SECONDS:g} s"
    record = records.get(ALL.name)
    if record is None or "numbers" not in record:
        return [Target("kernel compilation, all families", aim)]
    seconds = {f"of {name}": value for name, value in record["numbers"].items()}
    seconds["all families"] = seconds.pop("of compile")
    return [
        Target(f"kernel compilation, {what}", aim, f"{value:.1f} s", value < SECONDS)
        for what, value in seconds.items()
    ]


BENCHMARK = Benchmark("kernels", "Kernel compilation", (INTERIOR, ALL), targets)
