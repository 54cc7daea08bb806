"""Generalised assignment by CP-SAT, in a process of its own.

OR-tools brings a HiGHS library of its own under the same file name, so it cannot be imported where
``highspy`` has been: ``python -m benchmarks.peers.cp_sat INSTANCE SECONDS THREADS`` reads an
``.npz`` file and prints one JSON line.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks import memory
from benchmarks.assigning import AssignInstance
from benchmarks.problem import Budget, Outcome

_LEAST_SECONDS = 0.05  # for the solver, however long the statement took


def cp_sat(instance: AssignInstance, objective: str, budget: Budget, *, seconds: float) -> Outcome:
    """Run CP-SAT; ``numbers`` has its bound and what statement and solution took."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "instance.npz"
        instance.save(file)
        command = [sys.executable, "-m", "benchmarks.peers.cp_sat", str(file)]
        command += [str(seconds), str(budget.threads)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(done.stdout)
    agent = None if found["agent"] is None else np.array(found["agent"], dtype=float)
    numbers = {"bound": found["bound"], "cpu_seconds": found["cpu_seconds"]}
    numbers["peak_mebibytes"] = found["peak_mebibytes"]
    return Outcome(agent, found["build"], found["solve"], found["status"], numbers=numbers)


def solve(instance: AssignInstance, seconds: float, threads: int) -> dict[str, object]:
    """CP-SAT with one literal for each pair of a task and an agent; costs and weights are whole."""
    from ortools.sat.python import cp_model

    start, cpu = time.perf_counter(), time.process_time()
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
    solver.parameters.max_time_in_seconds = max(_LEAST_SECONDS, seconds - (built - start))
    solver.parameters.num_workers = threads
    status, agent = solver.solve(model), None
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        chosen = np.array([[solver.boolean_value(v) for v in row] for row in x])
        agent = np.argmax(chosen, axis=0).tolist()
    return {
        "agent": agent,
        "bound": float(solver.best_objective_bound),
        "build": built - start,
        "solve": time.perf_counter() - built,
        "cpu_seconds": time.process_time() - cpu,
        "peak_mebibytes": memory.peak_mebibytes(),
        "status": solver.status_name(status),
    }


if __name__ == "__main__":
    file, limit, workers = sys.argv[1:]
    print(json.dumps(solve(AssignInstance.read(Path(file)), float(limit), int(workers))))
