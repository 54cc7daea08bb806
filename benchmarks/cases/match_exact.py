"""Exact decoding of small rounds: branch and bound against HiGHS' mixed-integer solver."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.benchmark import Benchmark, Records, Target, basis, of_method
from benchmarks.cell import Cell
from benchmarks.matching import MatchSpec

FACTORS = {MatchSpec(3, 5, 128): 500.0, MatchSpec(3, 15, 128): 80.0}
EQUAL = 1e-6  # relative; HiGHS' own feasibility tolerance lets its makespans be off by as much


def cells() -> tuple[Cell, ...]:
    """Batches of 128 rounds; a call of HiGHS solves one round."""
    found = []
    for spec in FACTORS:
        found += [
            Cell("match-exact", spec, "match", "walras-match", 3.0, quick=True),
            Cell("match-exact", spec, "match", "highs-match", 30.0, runs=3),
        ]
    return tuple(found)


def targets(records: Records) -> Sequence[Target]:
    """Equal makespans, in so many times less time, totals of both over the batch."""
    return [_target(records, spec, factor) for spec, factor in FACTORS.items()]


def _target(records: Records, spec: MatchSpec, factor: float) -> Target:
    case = f"exact matching {spec.clusters}x{spec.tasks}, {spec.rounds} rounds"
    aim = f"equal to HiGHS, at least {factor:g}x"
    ours = of_method(records, "match", spec, "walras-match")
    theirs = of_method(records, "match", spec, "highs-match")
    if ours is None or theirs is None or "total" not in ours or "total" not in theirs:
        return Target(case, aim)
    ratio, apart = theirs["total"] / ours["total"], ours["value"] / theirs["value"] - 1.0
    each = 1e6 / spec.rounds
    measured = (
        f"{ratio:.0f}x ({each * ours['total']:.1f} us a round of {each * theirs['total']:.0f} us), "
        f"mean makespan off by {apart:.1e}"
    )
    met = ratio >= factor and abs(apart) <= EQUAL
    return Target(case, aim, measured, met, basis((ours, theirs)))


BENCHMARK = Benchmark("match-exact", "Exact matching of small rounds", cells(), targets)
