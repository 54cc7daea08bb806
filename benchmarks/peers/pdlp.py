"""OR-tools' PDLP, a first-order method, on the linear programs."""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse as sp
from ortools.pdlp import solvers_pb2
from ortools.pdlp.python import pdlp

from benchmarks.flow import AnyInstance
from benchmarks.forms import stated
from benchmarks.problem import Budget, Outcome


def solve(instance: AnyInstance, objective: str, budget: Budget, *, tolerance: float) -> Outcome:
    """Solve an objective that is linear to a relative and absolute tolerance."""
    start = time.perf_counter()
    form, allocation = stated(instance, objective)
    program = pdlp.QuadraticProgram()
    rows, columns = form.matrix.shape
    program.resize_and_initialize(columns, rows)
    program.objective_vector = form.cost
    program.constraint_matrix = sp.csc_matrix(form.matrix)
    none = np.full(rows, -np.inf)
    program.constraint_lower_bounds = none if form.lower is None else form.lower
    program.constraint_upper_bounds = form.upper
    program.variable_lower_bounds = np.zeros(columns)
    program.variable_upper_bounds = np.full(columns, np.inf)
    settings = solvers_pb2.PrimalDualHybridGradientParams()
    settings.num_threads = budget.threads
    criteria = settings.termination_criteria
    criteria.simple_optimality_criteria.eps_optimal_relative = tolerance
    criteria.simple_optimality_criteria.eps_optimal_absolute = tolerance
    criteria.time_sec_limit = budget.time_limit
    built = time.perf_counter()
    result = pdlp.primal_dual_hybrid_gradient(program, settings)
    solved = time.perf_counter()
    log = result.solve_log
    return Outcome(
        allocation(np.asarray(result.primal_solution)),
        built - start,
        solved - built,
        int(log.iteration_count),
        type(log)
        .DESCRIPTOR.fields_by_name["termination_reason"]
        .enum_type.values_by_number[log.termination_reason]
        .name,
        prices=-np.asarray(result.dual_solution),
    )
