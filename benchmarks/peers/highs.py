"""HiGHS on the linear programs: its interior points without crossover, or its default."""

from __future__ import annotations

import time

import highspy
import numpy as np

from benchmarks.flow import AnyInstance
from benchmarks.forms import LinearProgram, stated
from benchmarks.problem import Budget, Outcome


def solve(
    instance: AnyInstance, objective: str, budget: Budget, *, algorithm: str, crossover: str
) -> Outcome:
    """Solve an objective that is linear."""
    start = time.perf_counter()
    program, allocation = stated(instance, objective)
    solver = load(program, budget, algorithm, crossover)
    built = time.perf_counter()
    solver.run()
    solved = time.perf_counter()
    info = solver.getInfo()
    solution = solver.getSolution()
    return Outcome(
        allocation(np.asarray(solution.col_value)) if solution.value_valid else None,
        built - start,
        solved - built,
        int(max(info.simplex_iteration_count, info.ipm_iteration_count)),
        solver.modelStatusToString(solver.getModelStatus()),
        prices=-np.asarray(solution.row_dual) if solution.dual_valid else None,
    )


def load(program: LinearProgram, budget: Budget, algorithm: str, crossover: str) -> highspy.Highs:
    """A HiGHS model of a linear program, ready to run."""
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = program.matrix.shape
    lp.col_cost_ = program.cost
    lp.col_lower_ = np.zeros(lp.num_col_)
    lp.col_upper_ = np.full(lp.num_col_, highspy.kHighsInf)
    none = np.full(lp.num_row_, -highspy.kHighsInf)
    lp.row_lower_ = none if program.lower is None else program.lower
    lp.row_upper_ = program.upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = program.matrix.indptr
    lp.a_matrix_.index_ = program.matrix.indices
    lp.a_matrix_.value_ = program.matrix.data
    # HiGHS refuses a number of threads other than that of the process's first solve.
    highspy.Highs.resetGlobalScheduler(True)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    if solver.setOptionValue("solver", algorithm) != highspy.HighsStatus.kOk:
        raise RuntimeError(f"this HiGHS has no algorithm {algorithm!r}")
    solver.setOptionValue("run_crossover", crossover)
    solver.setOptionValue("threads", budget.threads)
    solver.setOptionValue("time_limit", budget.time_limit)
    solver.passModel(lp)
    return solver
