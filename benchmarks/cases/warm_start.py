"""Jobs replaced from round to round: warm start from the previous allocation against cold."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.benchmark import (
    TOLERANCE,
    Benchmark,
    Records,
    Target,
    basis,
    gap,
    of_method,
)
from benchmarks.cell import Cell
from benchmarks.instances import Spec

OBJECTIVES = ("max-min", "proportional-fairness")
SPEC = Spec("heterogeneous", 456, 2000, churn=0.01)
SMALL = Spec("heterogeneous", 50, 300, churn=0.01)
MUCH = Spec("heterogeneous", 456, 2000, churn=0.2)
TURNS = 15  # of warm and cold: half a second each, in which the machine changes its speed
AT_MOST = {SPEC: 0.25, MUCH: 0.7}  # of the cold time


def cells() -> tuple[Cell, ...]:
    """Warm and cold, in turns, on the same new round; the previous round is solved untimed."""
    return tuple(
        Cell(
            "warm-start",
            spec,
            objective,
            method,
            4.0 if spec is SMALL else 25.0,
            runs=5 if method == "walras" else TURNS,
            quick=spec is SMALL,
        )
        for spec in (SMALL, SPEC, MUCH)
        for objective in OBJECTIVES
        for method in ("walras", "walras-warm")
    )


def targets(records: Records) -> Sequence[Target]:
    """A part of the cold time, small where few jobs are new."""
    return [_target(records, spec, objective) for spec in AT_MOST for objective in OBJECTIVES]


def _target(records: Records, spec: Spec, objective: str) -> Target:
    case = f"{objective} 456x2,000, {100 * spec.churn:g} % of jobs replaced"
    aim = f"at most {AT_MOST[spec]:g} of the cold time"
    warm = of_method(records, objective, spec, "walras-warm")
    if warm is None or "total" not in warm:
        return Target(case, aim)
    ratio, cold = warm["numbers"]["cold_ratio"], warm["numbers"]["cold_seconds"]
    distance = gap(records, warm)
    measured = f"{ratio:.2f} of the cold time ({warm['total']:.2f} s of {cold:.2f} s, in turns)"
    if distance is None:
        return Target(case, aim, measured)
    met = ratio <= AT_MOST[spec] and distance <= TOLERANCE
    return Target(case, aim, f"{measured}, gap {distance:.1e}", met, basis([warm]))


BENCHMARK = Benchmark("warm-start", "Warm start", cells(), targets)
