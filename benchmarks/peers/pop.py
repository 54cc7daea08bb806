"""POP: random parts solved side by side by our own engine; kinder to POP than a general solver."""

from __future__ import annotations

import time

from benchmarks.peers.walras_engine import BUILDERS
from benchmarks.problem import Budget, Instance, Outcome
from walras.engines.pop import pop
from walras.engines.settings import Settings


def solve(instance: Instance, objective: str, budget: Budget, *, parts: int) -> Outcome:
    """Solve ``parts`` random parts; ``ideal`` is the time with a machine for every part."""
    start = time.perf_counter()
    problem = BUILDERS[objective](
        instance.throughput, instance.size, instance.capacity, allowed=instance.allowed
    )
    settings = Settings(budget.tolerance, budget.time_limit, budget.threads)
    built = time.perf_counter()
    found = pop(problem, settings, parts)
    solved = time.perf_counter()
    return Outcome(
        problem.dense(found.x),
        built - start,
        solved - built,
        len(found.history),
        f"{found.status}; {found.timings.ideal:.3g} s with a machine a part",
        {"ideal": found.timings.ideal},
    )
