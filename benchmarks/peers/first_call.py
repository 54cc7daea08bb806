"""What the first call of each family of kernels takes longer than the second: its compilation."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import walras as wl
from benchmarks.peers.walras_engine import BUILDERS, state
from benchmarks.problem import Budget, Instance, Outcome


def measure(instance: Instance, family: str, budget: Budget) -> Outcome:
    """Call one family twice, or each of ``all``; ``compile`` is the sum over the families.

    The engines for continuous problems are asked for by name, since small problems go to the exact
    one.
    """
    families: dict[str, Callable[[], object]] = {
        "interior": lambda: _objectives(instance, budget, "interior"),
        "first order": lambda: _objectives(instance, budget, "admm"),
        "whole entries": lambda: _whole(instance, budget),
        "load balancing": lambda: _rebalance(instance),
        "matching": lambda: _matches(instance),
    }
    chosen = families if family == "all" else {family: families[family]}
    seconds = {name: _longer_at_first(call) for name, call in chosen.items()}
    total = sum(seconds.values())
    return Outcome(None, 0.0, total, numbers={"compile": total, **seconds})


def _longer_at_first(call: Callable[[], object]) -> float:
    taken = []
    for _ in range(2):
        began = time.perf_counter()
        call()
        taken.append(time.perf_counter() - began)
    return max(0.0, taken[0] - taken[1])


def _objectives(instance: Instance, budget: Budget, engine: str) -> None:
    names = [*BUILDERS, "leximin"] if engine == "interior" else list(BUILDERS)
    for name in names:
        wl.solve(state(instance, name), engine=engine, tolerance=1e-3, threads=budget.threads)


def _whole(instance: Instance, budget: Budget) -> None:
    problem = state(instance, "total-throughput")
    wl.solve(problem, integer=True, tolerance=1e-3, threads=budget.threads)


def _rebalance(instance: Instance) -> None:
    servers, shards = instance.shape
    placement = np.zeros((servers, shards))
    placement[np.arange(shards) % servers, np.arange(shards)] = 1.0
    loads = 1.0 + np.arange(shards) / shards
    wl.domains.load_balancing.rebalance(loads, placement, band=0.1, memory=shards)


def _matches(instance: Instance) -> None:
    """A round that branch and bound ends, and one too large for it."""
    success = np.full(instance.shape, 0.9)
    few = slice(None, 3), slice(None, 12)
    wl.matching.match(1.0 / instance.throughput[few].clip(0.1), success[few], min_success=0.8)
    many = np.tile(1.0 / instance.throughput.clip(0.1), 20)
    wl.matching.match(many, np.full(many.shape, 0.9), min_success=0.8)
