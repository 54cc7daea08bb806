"""Proportional fairness against conic solvers and DeDe."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from benchmarks.benchmark import (
    TOLERANCE,
    Benchmark,
    Records,
    Target,
    basis,
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
from benchmarks.instances import REPORT_SEEDS, Spec

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
    seconds, ratios, gaps, ran = [], [], [], []
    for instance in (spec(capacity, seed) for seed in REPORT_SEEDS):
        fair = of_method(records, OBJECTIVE, instance, "walras")
        max_min = of_method(records, "max-min", instance, "walras")
        if fair is None or max_min is None or "total" not in fair or "total" not in max_min:
            return Target(case, aim)
        seconds.append(fair["total"])
        ratios.append(fair["total"] / max_min["total"])
        gaps.append(gap(records, fair))
        ran += [fair, max_min]
    ratio, time = statistics.median(ratios), statistics.median(seconds)
    measured = f"{time:.2f} s, {ratio:.2f} of the max-min time (medians of {len(ratios)} seeds)"
    if None in gaps:
        return Target(case, aim, measured, basis=basis(ran))
    worst = max(g for g in gaps if g is not None)
    measured = f"gap {worst:.1e}; {measured}"
    return Target(case, aim, measured, worst <= TOLERANCE and ratio <= 1.0, basis(ran))


BENCHMARK = Benchmark(OBJECTIVE, "Proportional fairness", cells(), targets)
