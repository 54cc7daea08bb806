"""Generalised assignment on the literature's files: ours, HiGHS and CP-SAT beside the best known.

    python -m benchmarks.gap --seconds 10 d801600 e801600
    python -m benchmarks.gap --seconds 1 10 60 --methods walras highs cp-sat --threads 2 --keep

Files: types C, D and E of Chu and Beasley (1997) and of Yagiura, Ibaraki and Glover (2004), in the
folder ``gap`` of ``$WALRAS_DATA``, with ``best_known.csv``. Without names all files run. A row has
the cost, recomputed from the assignment, its distance from the best known cost in percent, the
method's bound, CPU seconds of all threads and seconds of the clock. CP-SAT needs ``ortools``.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import importlib.metadata
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import walras as wl
from benchmarks.assigning import OBJECTIVE, AssignInstance, judge_assign
from benchmarks.peers import assigning
from benchmarks.problem import Budget, Outcome
from walras.types import Floats

RESULTS = Path(__file__).parent / "results" / "gap.jsonl"
_WARM_UP = ("c05100", 1.0)  # file and seconds with which the kernels are compiled


def folder() -> Path:
    """The folder of the files."""
    return Path(os.environ.get("WALRAS_DATA", ".")) / "gap"


def read(name: str) -> AssignInstance:
    """Read one of the literature's files: agents, tasks, costs, weights, capacities."""
    values = np.array(gzip.decompress((folder() / f"{name}.gz").read_bytes()).split(), dtype=float)
    m, n = int(values[0]), int(values[1])
    parts = np.split(values[2:], [m * n, 2 * m * n])
    if len(parts[2]) != m:
        message = f"{name}.gz: {m} agents and {n} tasks need {2 * m * n + m} values after the sizes"
        raise wl.DataError(message)
    return AssignInstance(parts[0].reshape(m, n), parts[1].reshape(m, n), parts[2], name)


def best_known() -> dict[str, float]:
    """The least known cost of each file."""
    with (folder() / "best_known.csv").open(encoding="utf-8") as rows:
        return {
            Path(row["Path"]).name: float(row["Best known solution value"])
            for row in csv.DictReader(rows)
        }


def cp_sat(instance: AssignInstance, objective: str, budget: Budget, *, seconds: float) -> Outcome:
    """CP-SAT with one literal for each pair of a task and an agent."""
    from ortools.sat.python import cp_model

    start = time.perf_counter()
    model, (agents, tasks) = cp_model.CpModel(), instance.shape
    x = [[model.new_bool_var("") for _ in range(tasks)] for _ in range(agents)]
    for j in range(tasks):
        model.add_exactly_one(x[i][j] for i in range(agents))
    cost, weight = instance.cost.astype(int), instance.weight.astype(int)
    for i in range(agents):
        model.add(cp_model.LinearExpr.weighted_sum(x[i], weight[i]) <= int(instance.capacity[i]))
    flat = [literal for row in x for literal in row]
    model.minimize(cp_model.LinearExpr.weighted_sum(flat, cost.ravel()))
    built = time.perf_counter()
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = max(0.05, seconds - (built - start))
    solver.parameters.num_workers = budget.threads
    status = solver.solve(model)
    agent: Floats | None = None
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        chosen = np.array([[solver.boolean_value(v) for v in row] for row in x])
        agent = np.argmax(chosen, axis=0).astype(float)
    numbers = {"bound": float(solver.best_objective_bound)}
    return Outcome(
        agent, built - start, time.perf_counter() - built, solver.status_name(), numbers=numbers
    )


METHODS: dict[str, Callable[..., Outcome]] = {
    "walras": assigning.walras,
    "highs": assigning.highs,
    "cp-sat": cp_sat,
}


def version(method: str) -> str:
    """The version of a method's package."""
    package = {"walras": "walras", "highs": "highspy", "cp-sat": "ortools"}[method]
    return importlib.metadata.version(package)


def measured(name: str, method: str, seconds: float, threads: int) -> dict[str, Any]:
    """Run one method on one file."""
    instance, known = read(name), best_known()[name]
    cpu, clock = time.process_time(), time.perf_counter()
    found = METHODS[method](instance, OBJECTIVE, Budget(threads), seconds=seconds)
    cpu, clock = time.process_time() - cpu, time.perf_counter() - clock
    value = float("inf")
    if found.x is not None:
        value = judge_assign(instance, found.x).value
    bound = found.numbers.get("bound", float("-inf"))
    return {
        "file": name,
        "method": method,
        "version": version(method),
        "limit": seconds,
        "threads": threads,
        "best_known": known,
        "cost": value if np.isfinite(value) else None,
        "percent_above": round(100.0 * (value / known - 1.0), 4) if np.isfinite(value) else None,
        "bound": bound if np.isfinite(bound) else None,
        "cpu_seconds": round(cpu, 2),
        "seconds": round(clock, 2),
    }


def means(rows: Iterable[dict[str, Any]]) -> list[str]:
    """Mean distances from the best known costs by type, method and limit."""
    groups: dict[tuple[str, str, float], list[float]] = defaultdict(list)
    for row in rows:
        above = row["percent_above"]
        groups[row["file"][0].upper(), row["method"], row["limit"]].append(
            float("inf") if above is None else above
        )
    return [
        f"{kind}: {method} {limit:g} s: {np.mean(above):.4f} % over {len(above)} files"
        for (kind, method, limit), above in sorted(groups.items())
    ]


def main() -> None:
    """Run the methods on the files and print a row each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", help="names such as d801600; all without one")
    parser.add_argument("--seconds", type=float, nargs="+", default=[10.0])
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=["walras"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--keep", action="store_true", help=f"add the rows to {RESULTS.name}")
    given = parser.parse_args()
    stored = sorted(path.name.removesuffix(".gz") for path in folder().glob("*.gz"))
    unknown = sorted(set(given.files) - set(stored))
    if unknown or not stored:
        parser.error(f"{folder()} has no {', '.join(unknown) or 'files'}; set WALRAS_DATA")
    if "walras" in given.methods:
        name, seconds = _WARM_UP
        METHODS["walras"](read(name), OBJECTIVE, Budget(1), seconds=seconds)
    rows = []
    for seconds in given.seconds:
        for name in given.files or stored:
            for method in given.methods:
                rows.append(measured(name, method, seconds, given.threads))
                print(json.dumps(rows[-1]), flush=True)
    if given.keep:
        with RESULTS.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    print("\n".join(means(rows)), file=sys.stderr)


if __name__ == "__main__":
    main()
