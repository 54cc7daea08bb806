"""Clarabel, a conic interior point, on the conic programs."""

from __future__ import annotations

import time

import clarabel
import numpy as np
import scipy.sparse as sp

from benchmarks.forms import Entries, conic_program
from benchmarks.problem import Budget, Instance, Outcome


def solve(instance: Instance, objective: str, budget: Budget) -> Outcome:
    """Solve any objective with Clarabel's own tolerances (1e-8)."""
    start = time.perf_counter()
    entries = Entries.of(instance)
    form = conic_program(entries, instance.capacity, objective)
    cones = [clarabel.NonnegativeConeT(form.nonnegative)]
    cones += [clarabel.SecondOrderConeT(3)] * form.second_order
    cones += [clarabel.ExponentialConeT()] * form.exponential
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.time_limit = budget.time_limit
    settings.max_threads = budget.threads
    width = len(form.cost)
    quadratic = sp.csc_matrix((width, width))
    solver = clarabel.DefaultSolver(
        quadratic, form.cost, sp.csc_matrix(form.matrix), form.offset, cones, settings
    )
    built = time.perf_counter()
    solution = solver.solve()
    solved = time.perf_counter()
    return Outcome(
        entries.dense(np.asarray(solution.x)),
        built - start,
        solved - built,
        int(solution.iterations),
        str(solution.status),
    )
