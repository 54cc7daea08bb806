"""Minimum maximum link utilisation: instances that presolve sees through, and hard ones."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.benchmark import (
    TOLERANCE,
    Benchmark,
    Records,
    Target,
    gap,
    of_method,
    quickest_peer,
    speed_target,
)
from benchmarks.cell import Cell
from benchmarks.flow_instances import FlowSpec

NAME = "utilisation"
OBJECTIVE = "min-max-utilisation"
PEERS = ("highs-ipm", "highs")
FACTOR = 5.0
EASY = tuple(FlowSpec("UsCarrier", level) for level in (0.05, 0.5))
HARD = tuple(FlowSpec(f"ASN2k-{nodes}", 0.5, traffic="hard") for nodes in (40, 60, 100, 200))


def cells() -> tuple[Cell, ...]:
    """Walras and HiGHS on both kinds."""
    easy = [Cell(NAME, s, OBJECTIVE, m, 8.0) for s in EASY for m in ("walras", *PEERS)]
    hard = [Cell(NAME, s, OBJECTIVE, "walras", 8.0, quick=s is HARD[0]) for s in HARD]
    hard += [Cell(NAME, s, OBJECTIVE, "walras-interior", 8.0) for s in HARD]
    hard += [Cell(NAME, s, OBJECTIVE, m, 60.0, runs=3, limit=120.0) for s in HARD for m in PEERS]
    return (*easy, *hard)


def targets(records: Records) -> Sequence[Target]:
    """Never slower on the easy, five times as quick on the hard."""
    hard = [
        speed_target(records, f"least utilisation, hard, {s.topology}", OBJECTIVE, s, PEERS, FACTOR)
        for s in HARD
    ]
    return [*(_never_slower(records, s) for s in EASY), *hard]


def _never_slower(records: Records, spec: FlowSpec) -> Target:
    case = f"least utilisation, easy, {spec.topology} x {spec.level:g}"
    aim = f"gap <= {TOLERANCE:g}, never slower than HiGHS"
    ours = of_method(records, OBJECTIVE, spec, "walras")
    rival = quickest_peer(records, OBJECTIVE, spec, PEERS)
    if ours is None or rival is None or "total" not in ours:
        return Target(case, aim)
    distance = gap(records, ours)
    if distance is None:
        return Target(case, aim, "no bound", False)
    measured = f"gap {distance:.1e}; {ours['total']:.2f} s, {rival[0]} {rival[1]:.2f} s"
    return Target(case, aim, measured, distance <= TOLERANCE and ours["total"] <= rival[1])


BENCHMARK = Benchmark(NAME, "Minimum maximum link utilisation", cells(), targets)
