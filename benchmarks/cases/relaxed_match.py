"""The smoothed matching: Newton's method on every instance, mirror descent as its reference."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from benchmarks.benchmark import Benchmark, Records, Target, basis, of_method
from benchmarks.cell import Cell
from benchmarks.matching import MatchSpec

RESIDUAL = 1e-8
ROUNDS = 64
SIZES = ((3, 5), (3, 15), (10, 50))
SPECS = tuple(
    MatchSpec(m, n, ROUNDS, temperature=tau, barrier=barrier)
    for (m, n), tau, barrier in product(SIZES, (0.1, 0.03, 0.01), ("log", "elastic"))
)


def cells() -> tuple[Cell, ...]:
    """Newton's method at every size, temperature and barrier; mirror descent at the warmest."""
    found = [
        Cell(
            "relaxed-match",
            spec,
            "relaxed-match",
            "walras-relaxed",
            2.0,
            quick=spec.temperature == 0.1,
        )
        for spec in SPECS
    ]
    return (
        *found,
        *(
            Cell("relaxed-match", spec, "relaxed-match", "walras-mirror", 10.0, runs=3)
            for spec in SPECS
            if spec.temperature == 0.1
        ),
    )


def targets(records: Records) -> Sequence[Target]:
    """Every instance solved; and how much quicker than the reference."""
    return [_solved(records), *(_quicker(records, s) for s in SPECS if s.temperature == 0.1)]


def _solved(records: Records) -> Target:
    count = ROUNDS * len(SPECS)
    case, aim = f"relaxed matching, {count} instances", f"residual <= {RESIDUAL:g} on every one"
    found = [of_method(records, "relaxed-match", spec, "walras-relaxed") for spec in SPECS]
    ran = [record for record in found if record is not None and "numbers" in record]
    if len(ran) < len(found):
        return Target(case, aim)
    worst = max(record["numbers"]["residual"] for record in ran)
    unsolved = int(sum(record["numbers"]["unsolved"] for record in ran))
    measured = f"largest residual {worst:.1e}, {unsolved} unsolved"
    return Target(case, aim, measured, worst <= RESIDUAL, basis(ran))


def _quicker(records: Records, spec: MatchSpec) -> Target:
    case = f"{ROUNDS} relaxed rounds {spec.clusters}x{spec.tasks}, {spec.barrier} barrier"
    aim = "quicker than mirror descent, and nearer to the optimum"
    ours = of_method(records, "relaxed-match", spec, "walras-relaxed")
    theirs = of_method(records, "relaxed-match", spec, "walras-mirror")
    if ours is None or theirs is None or "total" not in ours or "total" not in theirs:
        return Target(case, aim)
    ratio = theirs["total"] / ours["total"]
    errors = ours["numbers"]["residual"], theirs["numbers"]["residual"]
    measured = (
        f"{ratio:.0f}x ({1e3 * ours['total']:.0f} ms of {1e3 * theirs['total']:.0f} ms), residual "
        f"{errors[0]:.0e} against {errors[1]:.0e}"
    )
    met = ratio > 1.0 and errors[0] <= errors[1]
    return Target(case, aim, measured, met, basis((ours, theirs)))


BENCHMARK = Benchmark("relaxed-match", "Relaxed matching", cells(), targets)
