"""Max-min fairness against linear programming, DeDe and POP."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.benchmark import Benchmark, Records, Target, certified_target, speed_target
from benchmarks.cell import LIMIT, Cell
from benchmarks.instances import REPORT_SEEDS, Spec

OBJECTIVE = "max-min"
CAPACITIES = (0.2, 1.0, 5.0)
PEERS = ("highs-ipm", "highs-hipo", "highs", "pdlp-1e-4", "pdlp-1e-6", "clarabel", "scs", "cvxpy")
SMALL = Spec("heterogeneous", 50, 300)
GAVEL = Spec("gavel", 3, 300)

_SMALL = {
    "highs-ipm": 2.0,
    "highs-hipo": 2.0,
    "highs": 4.0,
    "pdlp-1e-4": 8.0,
    "pdlp-1e-6": 6.0,
    "clarabel": 2.0,
    "scs": 3.0,
    "cvxpy": 5.0,
    "pop-4": 5.0,
    "pop-16": 5.0,
}
_QUICK = ("highs-ipm", "highs", "pdlp-1e-4", "clarabel", "pop-4")

# Peers that need over 30 s run once, on the cells named here: capacity, estimate, and the limit
# after which they are stopped. Stopping early favours the peer: its ratio is a lower bound.
_LARGE = (
    ("highs-ipm", 0.2, 80.0, 300.0),
    ("highs-ipm", 1.0, 40.0, 300.0),
    ("highs-ipm", 5.0, 40.0, 300.0),
    *(("highs-hipo", capacity, 60.0, 60.0) for capacity in CAPACITIES),
    *(("pdlp-1e-4", capacity, 60.0, 60.0) for capacity in CAPACITIES),
    *(("highs", capacity, 60.0, 60.0) for capacity in CAPACITIES),
    ("dede-example", 0.2, 60.0, 60.0),
)


def spec(capacity: float, seed: int = 100) -> Spec:
    """The 456 x 2,000 instance of a capacity factor."""
    return Spec("heterogeneous", 456, 2000, seed, capacity)


REPORTED = tuple(spec(c, s) for c in CAPACITIES for s in REPORT_SEEDS)
CERTIFIED = "{} 456x2,000, three capacities and five seeds"


def cell_of(objective: str) -> Callable[..., Cell]:
    """Cells of the benchmark named as its objective: spec, method, estimate, and what differs."""

    def cell(
        spec: Spec,
        method: str,
        estimate: float,
        limit: float = LIMIT,
        *,
        runs: int = 5,
        quick: bool = False,
    ) -> Cell:
        return Cell(objective, spec, objective, method, estimate, runs, limit, quick)

    return cell


def reported_cells(objective: str) -> list[Cell]:
    """Walras on every reported instance; the quick benchmark takes the first as it is."""
    cell, first = cell_of(objective), spec(1.0)
    return [cell(instance, "walras", 12.0, quick=instance == first) for instance in REPORTED]


def cells() -> tuple[Cell, ...]:
    """All cells of the benchmark."""
    cell = cell_of(OBJECTIVE)
    small = [cell(SMALL, "walras", 4.0, quick=True)]
    small += [cell(SMALL, m, seconds, quick=m in _QUICK) for m, seconds in _SMALL.items()]
    small += [cell(SMALL, "dede-example", 45.0, 60.0)]
    peers = [cell(spec(c), m, seconds, limit) for m, c, seconds, limit in _LARGE]
    peers += [cell(spec(c), f"pop-{k}", 8.0, runs=1) for c in CAPACITIES for k in (4, 16)]
    real = [cell(GAVEL, m, 4.0, quick=True) for m in ("walras", "highs-ipm", "highs", "pop-4")]
    real += [cell(GAVEL, "highs-hipo", 4.0)]
    for load in (1.25, 8.0):
        dede = Spec("dede-456", 456, 2000, load=load)
        real += [cell(dede, "walras", 12.0)]
    real += [cell(dede, m, 50.0) for m in ("highs-ipm", "highs-hipo")]
    return (*small, *reported_cells(OBJECTIVE), *peers, *real)


def targets(records: Records) -> Sequence[Target]:
    """At least 25 times the quickest peer: tight, as is and loose; certified on every seed."""
    speed = [
        speed_target(
            records, f"max-min 456x2,000, capacity x {c:g}", OBJECTIVE, spec(c), PEERS, 25.0
        )
        for c in CAPACITIES
    ]
    return [*speed, certified_target(records, CERTIFIED.format(OBJECTIVE), OBJECTIVE, REPORTED)]


BENCHMARK = Benchmark("max-min", "Max-min fairness", cells(), targets)
