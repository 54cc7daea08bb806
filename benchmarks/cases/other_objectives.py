"""Total throughput, alpha fairness with alpha = 2, and leximin over ten levels."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.benchmark import Benchmark, Records, Target, basis, of_method, speed_target
from benchmarks.cases.maxmin import SMALL, spec
from benchmarks.cell import SLOW, Cell

NAME = "other-objectives"
_SAME = 1e-5  # relative: ten rounds of tolerances add up

# Objective -> peers, with seconds expected on 50x300, on 456x2,000, and the limit there.
_PEERS = {
    "total-throughput": {
        "highs-ipm": (3.0, 30.0, 300.0),
        "highs-hipo": (3.0, 30.0, 60.0),
        "highs": (3.0, 30.0, 60.0),
    },
    "alpha-fair-2": {"clarabel": (4.0, 60.0, 60.0)},
    "leximin": {"highs-leximin": (8.0, 120.0, 120.0)},
}
_SMALL_ONLY = {
    "total-throughput": {"pdlp-1e-6": 10.0, "clarabel": 5.0, "cvxpy": 5.0, "dede-library": 35.0},
    "alpha-fair-2": {"cvxpy": 8.0},
    "leximin": {},
}


def cells() -> tuple[Cell, ...]:
    """All cells of the benchmark."""
    found = []
    for objective, peers in _PEERS.items():
        found += [
            Cell(NAME, SMALL, objective, "walras", 4.0, quick=True),
            Cell(NAME, spec(1.0), objective, "walras", 40.0 if objective == "leximin" else 15.0),
        ]
        for peer, (small, large, limit) in peers.items():
            found += [
                Cell(NAME, SMALL, objective, peer, small, quick=peer != "highs-hipo"),
                Cell(NAME, spec(1.0), objective, peer, large, runs=1, limit=limit),
            ]
        found += [
            Cell(
                NAME,
                SMALL,
                objective,
                peer,
                seconds,
                runs=5 if seconds < SLOW else 1,
                limit=60.0,
            )
            for peer, seconds in _SMALL_ONLY[objective].items()
        ]
    return tuple(found)


def targets(records: Records) -> Sequence[Target]:
    """At least ten times the quickest peer on 456 x 2,000; leximin's levels as high as a peer's."""
    speed = [
        speed_target(records, f"{objective} 456x2,000", objective, spec(1.0), list(peers), 10.0)
        for objective, peers in _PEERS.items()
    ]
    return [*speed, _levels_target(records)]


def _levels_target(records: Records) -> Target:
    """Compare the lowest throughputs in order: the first that differs decides."""
    case, aim = "leximin 50x300, ten lowest jobs", "lexicographically as high as HiGHS' rounds"
    ours = of_method(records, "leximin", SMALL, "walras")
    theirs = of_method(records, "leximin", SMALL, "highs-leximin")
    if ours is None or theirs is None or "lowest" not in ours or "lowest" not in theirs:
        return Target(case, aim)
    known = basis((ours, theirs))
    for rank, (a, b) in enumerate(zip(ours["lowest"], theirs["lowest"], strict=True), start=1):
        if abs(a - b) > _SAME * abs(b):
            return Target(
                case, aim, f"lowest but {rank - 1}: {a:.7g} against {b:.7g}", a > b, known
            )
    return Target(case, aim, f"the {len(ours['lowest'])} lowest agree to {_SAME:g}", True, known)


BENCHMARK = Benchmark(NAME, "Other objectives", cells(), targets)
