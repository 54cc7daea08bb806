"""Few types, very many jobs: the public instance of price discovery, ours beside plain passes.

    python -m benchmarks.few_types --types 4 --keep

Instance: Agrawal, Boyd, Narayanan, Kazhamiaka and Zaharia, "Allocation of fungible resources via a
fast, scalable price discovery method" (Mathematical Programming Computation, 2022), as their
repository cvxgrp/resalloc draws it: NumPy's legacy seed 0 once, then m = 2, 4, 8, 16 types in turn.
They give -0.810638 a job at m = 4 and 10^6 jobs, after 5.9 s on a CPU, and 114.9 s of MOSEK;
their package is not on PyPI, so that nothing of theirs runs here. Times are CPU seconds of all
threads and seconds of the clock, of the statement and the solution; ``reads`` is the time of twenty
plain sums over the throughputs, and ``evaluations`` that of twenty passes of the dual function.
Memory is the most that a second run allocated at a time besides the throughputs, in arrays of the
size of the shares in double precision.
"""

from __future__ import annotations

import argparse
import json
import time
import tracemalloc
from collections.abc import Callable
from importlib import metadata

import numpy as np
import numpy.typing as npt
import pandas as pd

import walras as wl
from benchmarks.tables import Tables
from walras.kernels.few_types.passes import exactly
from walras.machine import cores

TABLES = Tables("few-types")
PUBLISHED = -0.810638  # value a job at four types, as its authors have it
STUDY = "price discovery's instance"
STREAM = (2, 4, 8, 16)  # types of the instances, in the order in which they are drawn
cs = wl.domains.cluster_scheduling
OBJECTIVES: dict[str, Callable[..., wl.Separable]] = {
    "proportional-fairness": cs.proportional_fairness,
    "alpha-fair-2": lambda *arrays: cs.alpha_fair(*arrays, alpha=2.0),
    "total-throughput": cs.total_throughput,
    "max-min": cs.max_min,
}
Singles = npt.NDArray[np.float32]


def drawn(jobs: int, types: int, random: np.random.RandomState) -> tuple[Singles, Singles]:
    """Throughputs (types, jobs) and limits (types,) from a stream, both in single precision."""
    scale, limits = float(jobs), []
    for _ in range(types):
        limits.append(random.uniform(0.1, 1.0) * scale)
        scale /= 1.5
    speed = np.empty((types, jobs), dtype=np.float32)
    for i, most in enumerate(np.linspace(0.3, 1.0, types)):
        speed[i] = random.uniform(0.1, most, jobs)
        while np.any(same := np.any(speed[:i] == speed[i], axis=0)):
            speed[i, same] = random.uniform(0.1, most, int(same.sum()))
    return speed, np.array(limits, dtype=np.float32)


def instance(jobs: int, types: int) -> tuple[Singles, Singles]:
    """The instance of a number of types, after those that come before it in the stream."""
    random = np.random.RandomState(0)
    before = STREAM[: STREAM.index(types)] if types in STREAM else ()
    for each in before:
        drawn(jobs, each, random)
    return drawn(jobs, types, random)


def _timed(work: Callable[[], object], times: int = 1) -> tuple[float, float]:
    """CPU seconds and seconds of the clock."""
    cpu, clock = time.process_time(), time.perf_counter()
    for _ in range(times):
        work()
    return time.process_time() - cpu, time.perf_counter() - clock


def _peak(work: Callable[[], object]) -> float:
    """The most bytes that are allocated at a time; the clock would not be fair meanwhile."""
    tracemalloc.start()
    try:
        work()
        return float(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()


def measured(jobs: int, types: int, objective: str, part: float) -> dict[str, object]:
    """Solve one objective and return what is printed of it."""
    speed, limits = instance(jobs, types)
    ones = np.ones(jobs)
    wl.solve(OBJECTIVES[objective](speed[:, :30_000], ones[:30_000], limits), engine="prices")
    limited = part * limits.astype(np.float64)
    cpu, clock = time.process_time(), time.perf_counter()
    problem = OBJECTIVES[objective](speed, ones, limited)
    built = time.process_time()
    s = wl.solve(problem)
    solved, ended = time.process_time(), time.perf_counter()
    peak = _peak(lambda: wl.solve(OBJECTIVES[objective](speed, ones, limited)))
    found = {
        "objective": objective,
        "jobs": jobs,
        "types": types,
        "capacity": part,
        "version": f"walras {metadata.version('walras')}",
        "engine": s.engine,
        "status": str(s.status),
        "value": s.value if objective == "max-min" else s.value / jobs,
        "gap": s.gap,
        "gap_unit": s.gap_unit,
        "steps": len(s.history),
        "build_cpu_s": built - cpu,
        "solve_cpu_s": solved - built,
        "clock_s": ended - clock,
        "engine_s": s.timings.build + s.timings.iterate,
        "memory_arrays": peak / (8.0 * jobs * types),
    }
    alpha = {"alpha-fair-2": 2.0, "total-throughput": 0.0, "max-min": np.inf}.get(objective, 1.0)
    prices, worth = s.certificate.prices[:types].copy(), np.ones(jobs)
    arrays = speed, np.ones((1, jobs)), ones, alpha
    found["reads_cpu_s"], _ = _timed(speed.sum, 20)
    found["evaluations_cpu_s"], _ = _timed(
        lambda: exactly(arrays, 0.5 * s.value, prices, worth, cores()), 20
    )
    return found


def main(arguments: list[str] | None = None, tables: Tables = TABLES) -> None:
    """Print one JSON line an objective."""
    parser = argparse.ArgumentParser(description="Few types, very many jobs.")
    parser.add_argument("--jobs", type=int, default=1_000_000)
    parser.add_argument("--types", type=int, default=4)
    parser.add_argument("--capacity", type=float, default=1.0, help="factor of the limits")
    parser.add_argument(
        "--objective", choices=list(OBJECTIVES), nargs="+", default=list(OBJECTIVES)
    )
    parser.add_argument("--keep", action="store_true", help="write the rows to results/")
    given = parser.parse_args(arguments)
    for objective in given.objective:
        row = measured(given.jobs, given.types, objective, given.capacity)
        print(json.dumps(row), flush=True)
        if given.keep:
            cell = ("objective", "types", "jobs", "capacity")
            tables.write(STUDY, pd.DataFrame([row]), 7, cell=cell)


if __name__ == "__main__":
    main()
