"""Proportional fairness against conic solvers and DeDe."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.benchmark import (
    TOLERANCE,
    Benchmark,
    Records,
    Target,
    certified_target,
    gap,
    of_method,
)
from benchmarks.cases.maxmin import (
    CAPACITIES,
    CERTIFIED,
    GAVEL,
    REPORTED,
    SMALL,
    cell_of,
    reported_cells,
    spec,
)
from benchmarks.cell import Cell
from benchmarks.instances import Spec

OBJECTIVE = "proportional-fairness"


def cells() -> tuple[Cell, ...]:
    """All cells of the benchmark."""
    cell = cell_of(OBJECTIVE)
    small = [cell(SMALL, m, 4.0, quick=True) for m in ("walras", "clarabel", "cvxpy")]
    small += [cell(SMALL, "scs", 32.0, 30.0), cell(SMALL, "dede-example", 32.0, 30.0)]
    peers = [cell(spec(1.0), "clarabel", 180.0)]
    real = [cell(GAVEL, m, 4.0, quick=True) for m in ("walras", "clarabel")]
    real += [cell(Spec("dede-456", 456, 2000, load=8.0), "walras", 12.0)]
    return (*small, *reported_cells(OBJECTIVE), *peers, *real)


def targets(records: Records) -> Sequence[Target]:
    """A certified gap of 1e-6 nat a job in at most the time that max-min takes."""
    case = CERTIFIED.format("proportional fairness")
    certified = certified_target(records, case, OBJECTIVE, REPORTED)
    return [*(_target(records, c) for c in CAPACITIES), certified]


def _target(records: Records, capacity: float) -> Target:
    case = f"proportional fairness 456x2,000, capacity x {capacity:g}"
    aim = f"gap <= {TOLERANCE:g} nat a job, at most the max-min time"
    fair = of_method(records, OBJECTIVE, spec(capacity), "walras")
    max_min = of_method(records, "max-min", spec(capacity), "walras")
    if fair is None or max_min is None or "total" not in fair or "total" not in max_min:
        return Target(case, aim)
    distance, ratio = gap(records, fair), fair["total"] / max_min["total"]
    if distance is None:
        return Target(case, aim, f"{ratio:.2f} of the max-min time")
    measured = f"gap {distance:.1e}; {fair['total']:.2f} s, {ratio:.2f} of the max-min time"
    return Target(case, aim, measured, distance <= TOLERANCE and ratio <= 1.0)


BENCHMARK = Benchmark(OBJECTIVE, "Proportional fairness", cells(), targets)
