"""The first-order engine on cluster rounds: 1 % certified, the published scheme beside it, Ray."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.benchmark import Benchmark, Records, Target, basis, gap, of_method
from benchmarks.cases.maxmin import SMALL, spec
from benchmarks.cell import Cell
from benchmarks.instances import Spec

NAME = "first-order"
OBJECTIVES = ("max-min", "proportional-fairness")
SECONDS = 2.0
GAP = 1e-2
RAY = (2, 4)
JOBS = (1000, 8000)
_SAME = 0.01  # relative: bytes that do not depend on the number of demands


def wide(jobs: int) -> Spec:
    """The instances between which traffic over the network is compared."""
    return Spec("heterogeneous", 456, jobs)


def cells() -> tuple[Cell, ...]:
    """Ours to 1 %, the published scheme with ten times the time, Ray on n and 8n jobs."""
    found = []
    for objective in OBJECTIVES:
        found += [
            Cell(NAME, SMALL, objective, "walras-admm", 5.0, limit=10.0, quick=True),
            Cell(NAME, spec(1.0), objective, "walras-admm", 20.0, limit=20.0),
            Cell(NAME, spec(1.0), objective, "walras-paper", 22.0, 1, limit=20.0),
        ]
    found += [
        Cell(NAME, wide(jobs), OBJECTIVES[0], f"walras-ray-{actors}", 40.0, 1, limit=60.0)
        for jobs in JOBS
        for actors in RAY
    ]
    return tuple(found)


def targets(records: Records) -> Sequence[Target]:
    """1 % in two seconds; on Ray, bytes that do not grow with the demands."""
    return [
        *(_quick(records, objective) for objective in OBJECTIVES),
        *(_bytes(records, actors) for actors in RAY),
    ]


def _quick(records: Records, objective: str) -> Target:
    case, aim = f"{objective} 456x2,000, first order", f"1 % certified in {SECONDS:g} s"
    ours = of_method(records, objective, spec(1.0), "walras-admm", NAME)
    if ours is None or "total" not in ours:
        return Target(case, aim)
    distance, theirs = gap(records, ours), _published(records, objective)
    if distance is None:
        return Target(case, aim, f"no certified gap after {ours['total']:.1f} s", False)
    measured = f"gap {distance:.2%} in {ours['total']:.2f} s{theirs}"
    peer = of_method(records, objective, spec(1.0), "walras-paper", NAME)
    met = distance <= GAP and ours["total"] <= SECONDS
    return Target(case, aim, measured, met, basis((ours, peer)))


def _published(records: Records, objective: str) -> str:
    """What the published scheme reaches, in words."""
    theirs = of_method(records, objective, spec(1.0), "walras-paper", NAME)
    distance = None if theirs is None else gap(records, theirs)
    if theirs is None or distance is None:
        return ""
    return f" (the published scheme: {distance:.2%} in {theirs.get('total', 0.0):.1f} s)"


def _bytes(records: Records, actors: int) -> Target:
    few, many = JOBS
    case = f"max-min on {actors} Ray actors, {few:,} and {many:,} jobs"
    aim = "bytes of an iteration, and of one with a proof, independent of the number of jobs"
    found = [
        of_method(records, OBJECTIVES[0], wide(jobs), f"walras-ray-{actors}", NAME) for jobs in JOBS
    ]
    sent = [r["numbers"] for r in found if r is not None and "proof" in r.get("numbers", {})]
    if len(sent) < len(JOBS):
        return Target(case, aim)
    one, other = ((numbers["bytes"], numbers["proof"]) for numbers in sent)
    measured = f"{one[0]:,.0f} and {one[1]:,.0f}; {other[0]:,.0f} and {other[1]:,.0f}"
    same = all(abs(b / a - 1.0) <= _SAME for a, b in zip(one, other, strict=True))
    return Target(case, aim, measured, same, basis(found))


BENCHMARK = Benchmark(NAME, "First order", cells(), targets)
