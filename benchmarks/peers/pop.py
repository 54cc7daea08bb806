"""POP: random parts solved side by side by our own engine; kinder to POP than a general solver."""

from __future__ import annotations

import time

from benchmarks.flow import AnyInstance, FlowInstance
from benchmarks.peers.walras_engine import state
from benchmarks.problem import Budget, Outcome
from walras.engines.pop.engine import POP
from walras.select.blas_threads import blas_limited
from walras.separable import Separable
from walras.settings import Settings


def solve(instance: AnyInstance, objective: str, budget: Budget, *, parts: int) -> Outcome:
    """Solve ``parts`` random parts; ``ideal`` is the time with a machine for every part."""
    start = time.perf_counter()
    problem = state(instance, objective)
    if not isinstance(problem, Separable):
        raise TypeError(f"POP does not solve {objective}")
    settings = Settings(budget.tolerance, budget.time_limit, budget.threads)
    built = time.perf_counter()
    with blas_limited(problem, "pop", budget.threads):  # as in walras.solve
        found = POP(parts).solve(problem, settings)
    solved = time.perf_counter()
    return Outcome(
        found.x if isinstance(instance, FlowInstance) else problem.dense(found.x),
        built - start,
        solved - built,
        len(found.history),
        f"{found.status}; {found.timings.ideal:.3g} s with a machine a part",
        {"ideal": found.timings.ideal},
        found.prices,
    )
