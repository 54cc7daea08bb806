"""The choice of an engine: ``auto`` against each engine that could have run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.benchmark import Benchmark, Records, Target, basis, of_method
from benchmarks.cell import LIMIT, Cell
from benchmarks.instances import Spec

NAME = "choice"
FACTOR = 1.5
OBJECTIVES = ("max-min", "proportional-fairness", "total-throughput")
SMALL = tuple(
    Spec("heterogeneous", *shape) for shape in ((3, 30), (3, 300), (20, 200), (100, 150), (50, 300))
)
# The instances on which the other benchmarks meet peers.
LARGE = (
    Spec("gavel", 3, 300),
    *(Spec("heterogeneous", 456, 2000, capacity=capacity) for capacity in (0.2, 1.0, 5.0)),
    Spec("dede-456", 456, 2000, load=8.0),
)
CASES = (
    *((spec, objective) for spec in SMALL for objective in OBJECTIVES),
    *((spec, objective) for spec in LARGE for objective in (*OBJECTIVES, "alpha-fair-2")),
)
LONGEST = 20.0  # seconds after which an engine is stopped on large ones, many times the best one's
ENGINES = ("walras-interior", "walras-exact")
METHODS = ("walras", *ENGINES)


def cells() -> tuple[Cell, ...]:
    """The time of ``walras`` is taken here again, beside its peers."""
    return tuple(
        Cell(
            NAME,
            spec,
            objective,
            method,
            3.0 if spec in SMALL else 15.0,
            limit=LIMIT if spec in SMALL else LONGEST,
            quick=(spec, objective) == CASES[0],
        )
        for spec, objective in CASES
        for method in METHODS
    )


def targets(records: Records) -> Sequence[Target]:
    """Within 1.5 times the better engine on every cell."""
    case = f"`engine='auto'`, {len(CASES)} instances and objectives, 3x30 to 456x2,000"
    aim = f"within {FACTOR:g}x of the best engine"
    ratios, ran = {}, []
    for spec, objective in CASES:
        found = [of_method(records, objective, spec, m, NAME) for m in METHODS]
        ran += found
        times = [_seconds(record) for record in found if record is not None]
        if len(times) < len(METHODS):
            return [Target(case, aim)]
        ratios[f"{objective} {spec.name}"] = times[0] / min(times[1:])
    worst = max(ratios, key=lambda name: ratios[name])
    measured = f"at most {ratios[worst]:.2f}x ({worst})"
    return [Target(case, aim, measured, ratios[worst] <= FACTOR, basis(ran))]


def _seconds(record: Mapping[str, Any]) -> float:
    """What a method took; at least the limit where it was stopped, for ever where it failed."""
    if record["status"] == "stopped":
        return float(record["cell"]["limit"])
    return float(record.get("total", math.inf))


BENCHMARK = Benchmark(NAME, "Choice of the engine", cells(), targets)
