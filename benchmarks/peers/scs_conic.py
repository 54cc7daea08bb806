"""SCS, a first-order conic method, on the conic programs."""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse as sp
import scs

from benchmarks.forms import Entries, conic_program
from benchmarks.problem import Budget, Instance, Outcome

_ITERATIONS = 10_000_000  # the time limit ends the run


def solve(instance: Instance, objective: str, budget: Budget) -> Outcome:
    """Solve any objective to SCS' tolerances at the budget's value (its default is 1e-4)."""
    start = time.perf_counter()
    entries = Entries.of(instance)
    form = conic_program(entries, instance.capacity, objective)
    cone = {"l": form.nonnegative, "q": [3] * form.second_order, "ep": form.exponential}
    data = {"A": sp.csc_matrix(form.matrix), "b": form.offset, "c": form.cost}
    solver = scs.SCS(
        data,
        cone,
        verbose=False,
        eps_abs=budget.tolerance,
        eps_rel=budget.tolerance,
        max_iters=_ITERATIONS,
        time_limit_secs=budget.time_limit,
    )
    built = time.perf_counter()
    solution = solver.solve()
    solved = time.perf_counter()
    return Outcome(
        entries.dense(np.asarray(solution["x"])),
        built - start,
        solved - built,
        int(solution["info"]["iter"]),
        str(solution["info"]["status"]),
    )
