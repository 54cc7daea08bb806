"""How time, iterations and memory grow with the number of jobs, and with the number of types."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.benchmark import TOLERANCE, Benchmark, Records, Target, basis, gap, of_method
from benchmarks.cell import Cell
from benchmarks.instances import REPORT_SEEDS, Spec

OBJECTIVES = ("max-min", "proportional-fairness")
JOBS = (2000, 4000, 8000, 16000, 32000)
WIDE = Spec("heterogeneous", 1000, 10000)
MEMORY = 12.0  # arrays of the size of X
NEAR_LINEAR = 1.25  # largest exponent of the time in the number of jobs

_ESTIMATE = {4000: 20.0, 8000: 50.0, 16000: 30.0, 32000: 60.0}


def spec(jobs: int, seed: int = REPORT_SEEDS[0]) -> Spec:
    """The instance with a number of jobs."""
    return Spec("heterogeneous", 456, jobs, seed=seed)


def cells() -> tuple[Cell, ...]:
    """Walras alone: no peer ends within the limit beyond 456 x 2,000. Large ones run once.

    456 x 2,000 itself is measured by the benchmarks of the two objectives.
    """
    found = []
    for objective in OBJECTIVES:
        found += [
            Cell(
                "growth",
                spec(jobs, seed),
                objective,
                "walras",
                _ESTIMATE[jobs],
                runs=5 if jobs <= 8000 else 1,
                quick=(objective, jobs, seed) == (OBJECTIVES[0], JOBS[1], REPORT_SEEDS[0]),
            )
            for jobs in JOBS[1:]
            for seed in REPORT_SEEDS
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
    sizes = [[spec(jobs, seed) for seed in REPORT_SEEDS] for jobs in JOBS]
    found = [_ran(records, objective, specs) for specs in (*sizes, [WIDE])]
    if not all(found):
        return [Target(*aim) for aim in aims]
    seconds = [_median(ran, "total") for ran in found[:-1]]
    exponent = math.log(seconds[-1] / seconds[0]) / math.log(JOBS[-1] / JOBS[0])
    counts = [_median(ran, "iterations") for ran in found[:-1]]
    growth = max(counts) / max(1.0, counts[0])
    ran = [record for size in found for record in size]
    gaps = [gap(records, record) for record in ran]
    memory = max(record["memory_arrays"] or 0.0 for record in ran)
    closed = None if None in gaps else all(g is not None and g <= TOLERANCE for g in gaps)
    worst = max((g for g in gaps if g is not None), default=math.nan)
    shown = f"{', '.join(f'{k:g}' for k in counts)} (medians of {len(REPORT_SEEDS)} seeds)"
    measured = (
        (f"exponent {exponent:.2f}", exponent <= NEAR_LINEAR),
        (f"{shown}: {growth:.2f} times", growth <= 1.5),
        (f"largest gap {worst:.1e}, {len(ran)} instances", closed),
        (f"{memory:.1f} arrays", memory <= MEMORY),
    )
    known = basis(ran)
    return [Target(*aim, *one, known) for aim, one in zip(aims, measured, strict=True)]


def _ran(records: Records, objective: str, specs: Sequence[Spec]) -> list[Mapping[str, Any]]:
    """The records of instances; empty where one of them has not run."""
    found = [of_method(records, objective, each, "walras") for each in specs]
    ran = [record for record in found if record is not None and "total" in record]
    return ran if len(ran) == len(specs) else []


def _median(records: Sequence[Mapping[str, Any]], key: str) -> float:
    return float(statistics.median(record[key] or 0.0 for record in records))


BENCHMARK = Benchmark("growth", "Growth", cells(), targets)
