"""Leximin by rounds of linear programs: solve max-min, freeze the jobs at the bound, repeat."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from benchmarks.forms import Entries, max_min_lp
from benchmarks.judge import LEXIMIN_LEVELS
from benchmarks.peers.highs import load
from benchmarks.problem import Budget, Instance, Outcome

Floats = npt.NDArray[np.float64]

_BINDING = 1e-7  # dual of a job's progress row, all of which sum to one


def solve(instance: Instance, objective: str, budget: Budget) -> Outcome:
    """Raise the lowest level, freeze the jobs whose progress row has a positive dual, repeat."""
    start = time.perf_counter()
    entries = Entries.of(instance)
    build = time.perf_counter() - start
    n = instance.shape[1]
    frozen: Floats = np.full(n, np.nan)
    x: Floats | None = None
    rounds = 0
    while rounds < LEXIMIN_LEVELS and np.isnan(frozen).any():
        left = budget.time_limit - (time.perf_counter() - start)
        if left <= 0:
            return Outcome(x, build, time.perf_counter() - start - build, rounds, "Time limit")
        solver = load(
            max_min_lp(entries, instance.capacity, frozen),
            replace(budget, time_limit=left),
            "ipm",
            "off",
        )
        solver.run()
        solution = solver.getSolution()
        if not (solution.value_valid and solution.dual_valid):
            break
        column = np.asarray(solution.col_value)
        x = entries.dense(column)
        binding = np.isnan(frozen) & (np.abs(np.asarray(solution.row_dual)[-n:]) > _BINDING)
        # The slack below the level keeps the next round feasible within HiGHS' tolerance.
        frozen[binding] = column[-1] * (1.0 - 1e-9)
        rounds += 1
    message = solver.modelStatusToString(solver.getModelStatus())
    return Outcome(x, build, time.perf_counter() - start - build, rounds, message)
