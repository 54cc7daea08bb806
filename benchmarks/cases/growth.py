"""How time, iterations and memory grow with the number of jobs, and with the number of types."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarks.benchmark import TOLERANCE, Benchmark, Records, Target, gap, of_method
from benchmarks.cell import Cell
from benchmarks.instances import Spec

OBJECTIVES = ("max-min", "proportional-fairness")
JOBS = (2000, 4000, 8000, 16000, 32000)
WIDE = Spec("heterogeneous", 1000, 10000)
MEMORY = 12.0  # arrays of the size of X
NEAR_LINEAR = 1.25  # largest exponent of the time in the number of jobs

_ESTIMATE = {4000: 20.0, 8000: 50.0, 16000: 30.0, 32000: 60.0}


def spec(jobs: int) -> Spec:
    """The instance with a number of jobs."""
    return Spec("heterogeneous", 456, jobs)


def cells() -> tuple[Cell, ...]:
    """Walras alone: no peer ends within the limit beyond 456 x 2,000. Large cells run once.

    456 x 2,000 itself is measured by the benchmarks of the two objectives.
    """
    found = []
    for objective in OBJECTIVES:
        found += [
            Cell(
                "growth",
                spec(jobs),
                objective,
                "walras",
                _ESTIMATE[jobs],
                runs=5 if jobs <= 8000 else 1,
                quick=(objective, jobs) == (OBJECTIVES[0], JOBS[1]),
            )
            for jobs in JOBS[1:]
        ]
        found.append(Cell("growth", WIDE, objective, "walras", 45.0, runs=1))
    return tuple(found)


def targets(records: Records) -> Sequence[Target]:
    """Near linear time, iterations growing by at most a half, every gap closed, memory bounded."""
    return [target for objective in OBJECTIVES for target in _of(records, objective)]


def _of(records: Records, objective: str) -> list[Target]:
    aims = (
        (f"{objective} 456 x 2,000 to 32,000: time", f"exponent <= {NEAR_LINEAR:g} in the jobs"),
        (f"{objective} 456 x 2,000 to 32,000: iterations", "at most 1.5 times the first"),
        (f"{objective}: every instance converges", f"gap <= {TOLERANCE:g}"),
        (f"{objective}: peak memory", f"at most {MEMORY:g} arrays of X's size"),
    )
    found = [of_method(records, objective, s, "walras") for s in (*map(spec, JOBS), WIDE)]
    ran = [record for record in found if record is not None and "total" in record]
    if len(ran) < len(found):
        return [Target(*aim) for aim in aims]
    narrow = ran[:-1]
    exponent = math.log(narrow[-1]["total"] / narrow[0]["total"]) / math.log(JOBS[-1] / JOBS[0])
    counts = [record["iterations"] or 0 for record in narrow]
    growth = max(counts) / max(1, counts[0])
    gaps = [gap(records, record) for record in ran]
    memory = max(record["memory_arrays"] or 0.0 for record in ran)
    closed = None if None in gaps else all(g is not None and g <= TOLERANCE for g in gaps)
    worst = max((g for g in gaps if g is not None), default=math.nan)
    return [
        Target(*aims[0], f"exponent {exponent:.2f}", exponent <= NEAR_LINEAR),
        Target(*aims[1], f"{counts}: {growth:.2f} times", growth <= 1.5),
        Target(*aims[2], f"largest gap {worst:.1e}", closed),
        Target(*aims[3], f"{memory:.1f} arrays", memory <= MEMORY),
    ]


BENCHMARK = Benchmark("growth", "Growth", cells(), targets)
