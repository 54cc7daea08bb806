"""Minimum maximum link utilisation: instances that presolve sees through, and hard ones."""

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
    quickest_peer,
    speed_target,
)
from benchmarks.cell import Cell
from benchmarks.flow_instances import FlowSpec

NAME = "utilisation"
OBJECTIVE = "min-max-utilisation"
PEERS = ("highs-ipm", "highs-hipo", "highs")
FACTOR = 5.0
EASY = tuple(FlowSpec("UsCarrier", level) for level in (0.05, 0.5))
KDL = FlowSpec("Kdl", 0.05)  # all pairs; easy too
ASN = FlowSpec("ASN2k", 0.2)  # all pairs, beyond every peer
PARTS = tuple(FlowSpec(f"ASN2k-{nodes}", 0.5, traffic="hard") for nodes in (40, 60, 100, 200))
WHOLE = tuple(FlowSpec(name, 0.5, traffic="hard") for name in ("UsCarrier", "Kdl"))
HARD = (*PARTS, *WHOLE)
SECONDS = 60.0  # on two cores, for ASN2k
MEMORY = 16 * 2**30  # bytes


def cells() -> tuple[Cell, ...]:
    """Walras and HiGHS on both kinds."""
    easy = [Cell(NAME, s, OBJECTIVE, m, 8.0) for s in EASY for m in ("walras", *PEERS)]
    hard = [Cell(NAME, s, OBJECTIVE, "walras", 8.0, quick=s is HARD[0]) for s in PARTS]
    hard += [Cell(NAME, s, OBJECTIVE, "walras-interior", 8.0) for s in PARTS]
    hard += [Cell(NAME, s, OBJECTIVE, m, 60.0, limit=120.0) for s in PARTS for m in PEERS]
    whole = [Cell(NAME, s, OBJECTIVE, "walras", 30.0) for s in (KDL, *WHOLE)]
    whole += [Cell(NAME, s, OBJECTIVE, m, 210.0, limit=200.0) for s in WHOLE for m in PEERS]
    whole += [Cell(NAME, KDL, OBJECTIVE, m, 130.0, 1, 120.0) for m in PEERS]
    whole += [Cell(NAME, ASN, OBJECTIVE, "walras", 280.0, 1, 300.0)]
    return (*easy, *hard, *whole)


def targets(records: Records) -> Sequence[Target]:
    """Never slower on the easy, five times as quick on the hard."""
    hard = [
        speed_target(records, f"least utilisation, hard, {s.topology}", OBJECTIVE, s, PEERS, FACTOR)
        for s in HARD
    ]
    return [*(_never_slower(records, s) for s in (*EASY, KDL)), *hard, _large(records)]


def _never_slower(records: Records, spec: FlowSpec) -> Target:
    case = f"least utilisation, easy, {spec.topology} x {spec.level:g}"
    aim = f"gap <= {TOLERANCE:g}, never slower than HiGHS"
    ours = of_method(records, OBJECTIVE, spec, "walras")
    peer = quickest_peer(records, OBJECTIVE, spec, PEERS)
    if ours is None or peer is None or "total" not in ours:
        return Target(case, aim)
    distance = gap(records, ours)
    if distance is None:
        return Target(case, aim, "no bound", False)
    sign = ">" if peer[2] else ""
    measured = f"gap {distance:.1e}; {ours['total']:.2f} s, {peer[0]} {sign}{peer[1]:.2f} s"
    met = distance <= TOLERANCE and ours["total"] <= peer[1]
    known = basis((ours, of_method(records, OBJECTIVE, spec, peer[0])))
    return Target(case, aim, measured, met, known)


def _large(records: Records) -> Target:
    """The network beyond every peer, with all its pairs."""
    case = "least utilisation, ASN2k, all pairs"
    aim = f"gap <= {TOLERANCE:g} in {SECONDS:g} s, within {MEMORY / 2**30:g} GiB"
    ours = of_method(records, OBJECTIVE, ASN, "walras")
    distance = None if ours is None or "total" not in ours else gap(records, ours)
    if ours is None or distance is None:
        return Target(case, aim)
    peak = ours["peak_bytes"] or 0
    measured = (
        f"gap {distance:.1e} in {ours['total']:.0f} s, {peak / 2**30:.1f} GiB; "
        f"{ours['cell']['demands']:,} pairs, {ours['entries']:,} paths"
    )
    met = distance <= TOLERANCE and ours["total"] <= SECONDS and peak <= MEMORY
    return Target(case, aim, measured, met, basis([ours]))


BENCHMARK = Benchmark(NAME, "Minimum maximum link utilisation", cells(), targets)
