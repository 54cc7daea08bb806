"""HiGHS on rounds of matching: the mixed-integer program round by round, or its relaxation."""

from __future__ import annotations

import time
from dataclasses import replace

import highspy
import numpy as np
import scipy.sparse as sp

from benchmarks.forms import LinearProgram
from benchmarks.matching import MatchInstance
from benchmarks.peers.highs import load
from benchmarks.problem import Budget, Outcome


def solve(
    instance: MatchInstance,
    objective: str,
    budget: Budget,
    *,
    integer: bool,
    algorithm: str = "choose",
    crossover: str = "on",
) -> Outcome:
    """Every round of the batch; of a relaxation the largest shares are the answer."""
    rounds, m, n = instance.times.shape
    x = np.zeros((rounds, n))
    build = spent = value = 0.0
    for b in range(rounds):
        start = time.perf_counter()
        program = state(instance, b)
        left = replace(budget, time_limit=max(0.1, budget.time_limit - build - spent))
        solver = load(program, left, algorithm, crossover)
        if integer:
            whole, free = highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous
            kinds = np.array([whole] * (m * n) + [free])
            solver.changeColsIntegrality(m * n + 1, np.arange(m * n + 1, dtype=np.int32), kinds)
            solver.setOptionValue("mip_rel_gap", 0.0)
        built = time.perf_counter()
        solver.run()
        spent += time.perf_counter() - built
        build += built - start
        columns = np.asarray(solver.getSolution().col_value)
        x[b] = columns[: m * n].reshape(n, m).argmax(axis=1)
        value += float(solver.getInfo().objective_function_value)
    return Outcome(
        x,
        build,
        spent,
        message=solver.modelStatusToString(solver.getModelStatus()),
        numbers={"optimum": value / rounds, "rounds": float(rounds)},
    )


def state(instance: MatchInstance, b: int) -> LinearProgram:
    """Rows: loads under the makespan, one cluster a task, the floor; columns task by task."""
    t, a = instance.times[b], instance.success[b]
    m, n = t.shape
    task, cluster = (k.ravel() for k in np.indices((n, m)))
    row = np.stack([cluster, m + task, np.full(m * n, m + n)], axis=1)
    data = np.stack([t[cluster, task], np.ones(m * n), a[cluster, task]], axis=1)
    matrix = sp.csc_array(
        (data.ravel(), row.ravel(), np.arange(0, 3 * m * n + 1, 3)), shape=(m + n + 1, m * n)
    )
    span = sp.csc_array((-np.ones(m), (np.arange(m), np.zeros(m, int))), shape=(m + n + 1, 1))
    none, one = np.full(m, -np.inf), np.ones(n)
    return LinearProgram(
        cost=np.append(np.zeros(m * n), 1.0),
        matrix=sp.csc_array(sp.hstack([matrix, span])),
        lower=np.concatenate([none, one, [n * (instance.floor[b] - 1e-9)]]),
        upper=np.concatenate([np.zeros(m), one, [np.inf]]),
    )
