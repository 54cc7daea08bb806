"""Engines on a GPU beside all cores of the same machine: cluster rounds, and flows of all pairs.

The machine has 16 cores; both sides have them, the GPU for what stays on the CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.benchmark import Benchmark, Records, Target, basis, gap, of_method
from benchmarks.cases import first_order, maxmin, total_flow
from benchmarks.cell import Cell
from benchmarks.instances import AnySpec

NAME = "gpu"
CORES = 16
SECONDS = 30.0
FIRST_ORDER, INTERIOR = "walras-admm", "walras-interior"
ROUND, USCARRIER = maxmin.spec(1.0), total_flow.spec(total_flow.LEVELS[1])
KDL, ASN = total_flow.LARGE
ROUNDS = tuple((ROUND, objective) for objective in first_order.OBJECTIVES)
FLOWS = tuple((spec, total_flow.OBJECTIVE) for spec in (USCARRIER, ASN, KDL))
SMALL: tuple[tuple[AnySpec, str], ...] = (*ROUNDS, FLOWS[0])


def cells() -> tuple[Cell, ...]:
    """Each engine on the GPU, on all cores, and on two where that takes seconds."""
    found: list[Cell] = []
    for spec, objective in SMALL:
        for engine in (FIRST_ORDER, INTERIOR):
            found += _beside(spec, objective, engine, 3.0)
            found.append(Cell(NAME, spec, objective, engine, 5.0, limit=20.0))
    for spec, objective in FLOWS[1:]:
        found += _beside(spec, objective, FIRST_ORDER, 60.0, runs=3, limit=100.0)
    return tuple(found + _beside(*FLOWS[2], INTERIOR, 60.0, runs=1, limit=100.0))


def _beside(
    spec: AnySpec, objective: str, engine: str, estimate: float, runs: int = 5, limit: float = 20.0
) -> list[Cell]:
    """An engine on the GPU and on all cores."""
    device = Cell(
        NAME,
        spec,
        objective,
        f"{engine}-cuda",
        estimate,
        runs,
        limit,
        quick=spec is ROUND,
        threads=CORES,
    )
    return [device, replace(device, method=f"{engine}-{CORES}", quick=False)]


def targets(records: Records) -> Sequence[Target]:
    """1 % in seconds on the network of three million pairs."""
    spec, objective = FLOWS[1]
    case = "ASN2k total flow, all pairs, on a GPU"
    aim = f"1 % certified in {SECONDS:g} s"
    ours, beside = (
        of_method(records, objective, spec, f"{FIRST_ORDER}-{place}", NAME)
        for place in ("cuda", CORES)
    )
    if ours is None or "total" not in ours:
        return [Target(case, aim)]
    distance = gap(records, ours)
    if distance is None:
        return [Target(case, aim, f"no certified gap after {ours['total']:.1f} s", False)]
    measured = f"gap {distance:.2%} in {ours['total']:.1f} s; {ours['cell']['demands']:,} pairs"
    if beside is not None and "total" in beside:
        measured += f" ({beside['total']:.1f} s on {CORES} cores beside it)"
    met = distance <= total_flow.ONE_PER_CENT and ours["total"] <= SECONDS
    return [Target(case, aim, measured, met, basis((ours, beside)))]


BENCHMARK = Benchmark(NAME, "On a GPU", cells(), targets)
