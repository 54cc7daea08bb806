"""Load balancing round after round by Walras, E-Store's greedy, POP, and the plain program."""

from __future__ import annotations

import time
from functools import partial

import numpy as np

from benchmarks.balancing import BalanceInstance
from benchmarks.balancing_rounds import first_problem, round_loads
from benchmarks.problem import Budget, Outcome
from walras.domains import load_balancing as lb
from walras.errors import EngineError

_OWN = 2.0 / 3.0  # of the wall limit: HiGHS' own, which it may overrun while it presolves


def walras(instance: BalanceInstance, objective: str, budget: Budget, *, keep: bool) -> Outcome:
    """Bound, local search, HiGHS where they leave a gap."""
    return _played(instance, partial(lb.solve_round, options=lb.Options(keep=keep)))


def estore(instance: BalanceInstance, objective: str, budget: Budget) -> Outcome:
    """Whole shards from the fullest server to the emptiest, split where they do not fit."""
    return _played(instance, lb.estore)


def pop(instance: BalanceInstance, objective: str, budget: Budget, *, parts: int) -> Outcome:
    """Random parts, the plain program for each with a share of the time."""
    limit = _OWN * budget.time_limit / (parts * len(instance.numbers))
    return _played(instance, partial(lb.pop_rebalance, parts=parts, time_limit=limit))


def plain(instance: BalanceInstance, objective: str, budget: Budget) -> Outcome:
    """HiGHS on the program as stated in the paper; nothing where it has no placement in time."""
    limit = _OWN * budget.time_limit / len(instance.numbers)
    began = time.perf_counter()
    try:
        return _played(instance, partial(lb.plain_program, time_limit=limit))
    except EngineError:
        seconds = time.perf_counter() - began
        return Outcome(None, 0.0, seconds, message=f"no placement within {limit:.0f} s")


def _played(instance: BalanceInstance, policy: lb.sequence.Policy) -> Outcome:
    problem, rows, seconds, bounds = first_problem(instance), [], [], []
    for k in range(len(instance.numbers)):
        began = time.perf_counter()
        found = policy(problem)
        seconds.append(time.perf_counter() - began)
        bounds.append(found.bound)
        index = np.full(len(found.server), float(k))
        rows.append(np.stack([index, found.server, found.shard, found.load], axis=1))
        if k + 1 < len(instance.numbers):
            problem = found.next_round(round_loads(instance, k + 1))
    skip = 20 if len(seconds) > 20 else 0
    numbers = {
        "round": float(np.median(seconds[skip:])),
        "longest": float(max(seconds)),
        "first": seconds[0],
        "bound": float(np.mean(bounds[skip:])),
        "replicas": float(len(rows[-1])),
    }
    return Outcome(
        np.concatenate(rows), 0.0, float(sum(seconds)), len(seconds), found.method, numbers
    )
