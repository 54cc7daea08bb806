"""Generalised assignment by Walras' integer engine and by HiGHS, with the same time."""

from __future__ import annotations

import time

import numpy as np

import walras as wl
from benchmarks.assigning import AssignInstance
from benchmarks.problem import Budget, Outcome
from walras.engines.exact.engine import linear_program
from walras.programs.highs import solve_program
from walras.separable import Separable, assignment
from walras.settings import Settings
from walras.types import Floats

_TOLERANCE = 1e-9


def walras(instance: AssignInstance, objective: str, budget: Budget, *, seconds: float) -> Outcome:
    """Prices, annealed search, HiGHS on what reduced costs leave."""
    start = time.perf_counter()
    problem = assignment(instance.cost, instance.weight, instance.capacity)
    built = time.perf_counter()
    s = wl.solve(
        problem,
        engine="integer",
        integer=True,
        tolerance=_TOLERANCE,
        time_limit=max(0.05, seconds - (built - start)),
        threads=budget.threads,
    )
    solved = time.perf_counter()
    x = _agents(problem, s.entries) if s.certificate.feasible else None
    return Outcome(
        x, built - start, solved - built, message=str(s.status), numbers=_finite(s.bound)
    )


def highs(instance: AssignInstance, objective: str, budget: Budget, *, seconds: float) -> Outcome:
    """HiGHS' branch and bound."""
    start = time.perf_counter()
    problem = assignment(instance.cost, instance.weight, instance.capacity)
    program = linear_program(problem)
    built = time.perf_counter()
    left = max(0.05, seconds - (built - start))
    answer = solve_program(program, Settings(_TOLERANCE, left, budget.threads))
    solved = time.perf_counter()
    x = None if answer.x is None else _agents(problem, answer.x)
    return Outcome(
        x, built - start, solved - built, message=answer.message, numbers=_finite(answer.bound)
    )


def _finite(bound: float) -> dict[str, float]:
    return {"bound": bound} if np.isfinite(bound) else {}


def _agents(problem: Separable, x: Floats) -> Floats:
    """(tasks,) agent of each task."""
    out = np.full(problem.shape[1], np.nan)
    chosen = x > 0.5
    out[problem.demand[chosen]] = problem.resource[chosen]
    return out
