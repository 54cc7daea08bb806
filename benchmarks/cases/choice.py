"""The choice of an engine: ``auto`` against each engine that could have run."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.benchmark import Benchmark, Records, Target, of_method
from benchmarks.cell import Cell
from benchmarks.instances import Spec

NAME = "choice"
FACTOR = 1.5
OBJECTIVES = ("max-min", "proportional-fairness", "total-throughput")
SPECS = tuple(
    Spec("heterogeneous", *shape) for shape in ((3, 30), (3, 300), (20, 200), (100, 150), (50, 300))
)
ENGINES = ("walras-interior", "walras-exact")
METHODS = ("walras", *ENGINES)
_QUICK = (SPECS[0], OBJECTIVES[0])


def cells() -> tuple[Cell, ...]:
    """Small instances, where the engines are close; on large ones the exact engine takes minutes.

    The time of ``walras`` is taken here again, beside its rivals.
    """
    return tuple(
        Cell(NAME, spec, objective, method, 3.0, quick=(spec, objective) == _QUICK)
        for spec in SPECS
        for objective in OBJECTIVES
        for method in METHODS
    )


def targets(records: Records) -> Sequence[Target]:
    """Within 1.5 times the better engine on every cell."""
    case, aim = (
        f"`engine='auto'`, {len(SPECS)} sizes x {len(OBJECTIVES)} objectives",
        f"within {FACTOR:g}x of the best engine",
    )
    ratios = {}
    for spec in SPECS:
        for objective in OBJECTIVES:
            found = [of_method(records, objective, spec, m, NAME) for m in METHODS]
            times = [r["total"] for r in found if r is not None and "total" in r]
            if len(times) < len(METHODS):
                return [Target(case, aim)]
            ratios[f"{objective} {spec.name}"] = times[0] / min(times[1:])
    worst = max(ratios, key=lambda name: ratios[name])
    measured = f"at most {ratios[worst]:.2f}x ({worst})"
    return [Target(case, aim, measured, ratios[worst] <= FACTOR)]


BENCHMARK = Benchmark(NAME, "Choice of the engine", cells(), targets)
