"""A round with 1 % of its jobs replaced: warm start from the previous allocation against cold."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.benchmark import TOLERANCE, Benchmark, Records, Target, gap, of_method
from benchmarks.cell import Cell
from benchmarks.instances import Spec

OBJECTIVES = ("max-min", "proportional-fairness")
SPEC = Spec("heterogeneous", 456, 2000, churn=0.01)
SMALL = Spec("heterogeneous", 50, 300, churn=0.01)


def cells() -> tuple[Cell, ...]:
    """Cold and warm on the same new round; the previous round is solved untimed."""
    return tuple(
        Cell(
            "warm-start",
            spec,
            objective,
            method,
            15.0 if spec is SPEC else 4.0,
            quick=spec is SMALL,
        )
        for spec in (SMALL, SPEC)
        for objective in OBJECTIVES
        for method in ("walras", "walras-warm")
    )


def targets(records: Records) -> Sequence[Target]:
    """At most half the cold time, at the same tolerance."""
    return [_target(records, objective) for objective in OBJECTIVES]


def _target(records: Records, objective: str) -> Target:
    case, aim = f"{objective} 456x2,000, 1 % of jobs replaced", "at most half the cold time"
    cold = of_method(records, objective, SPEC, "walras")
    warm = of_method(records, objective, SPEC, "walras-warm")
    if cold is None or warm is None or "total" not in cold or "total" not in warm:
        return Target(case, aim)
    ratio, distance = warm["total"] / cold["total"], gap(records, warm)
    measured = f"{ratio:.2f} of the cold time ({warm['total']:.2f} s of {cold['total']:.2f} s)"
    if distance is None:
        return Target(case, aim, measured)
    return Target(
        case, aim, f"{measured}, gap {distance:.1e}", ratio <= 0.5 and distance <= TOLERANCE
    )


BENCHMARK = Benchmark("warm-start", "Warm start", cells(), targets)
