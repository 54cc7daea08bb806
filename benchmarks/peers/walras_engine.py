"""Walras itself: the domain's builders and ``solve``, cold and warm."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

import walras as wl
from benchmarks.flow import AnyInstance, FlowInstance
from benchmarks.flow_instances import statement
from benchmarks.problem import Budget, Instance, Outcome
from walras.engines.admm.engine import PROOF

cs = wl.domains.cluster_scheduling

BUILDERS: dict[str, Callable[..., wl.Separable]] = {
    "max-min": cs.max_min,
    "proportional-fairness": cs.proportional_fairness,
    "alpha-fair-2": lambda *arrays, **more: cs.alpha_fair(*arrays, alpha=2.0, **more),
    "total-throughput": cs.total_throughput,
}


def solve(
    instance: AnyInstance,
    objective: str,
    budget: Budget,
    *,
    tolerance: float | None = None,
    actors: int = 0,
    **options: Any,
) -> Outcome:
    """Build and solve; ``build`` ends where :func:`walras.solve` begins.

    Args:
        instance: The instance.
        objective: The objective.
        budget: Threads and limits.
        tolerance: The gap to prove, where it is not the budget's.
        actors: Ray actors to solve on; none when 0.
        options: Of :func:`walras.solve`, such as the engine, and of that engine.
    """
    if actors:
        options["executor"] = wl.Ray(actors=actors)
    limit = _limit(instance, budget, options.get("engine"))
    if options.get("engine") == "admm":
        own = {field.name for field in fields(wl.engines.ADMM)} & options.keys()
        options["engine"] = wl.engines.ADMM(**{name: options.pop(name) for name in own})
    start = time.perf_counter()
    problem = state(instance, objective)
    built = time.perf_counter()
    solution = wl.solve(
        problem,
        tolerance=budget.tolerance if tolerance is None else tolerance,
        threads=budget.threads,
        **limit,
        **options,
    )
    solved = time.perf_counter()
    return outcome(solution, built - start, solved - built)


def _limit(instance: AnyInstance, budget: Budget, engine: object) -> dict[str, Any]:
    """What ends the first-order engine in time; the others end by themselves.

    A time limit would let a max-min round whose ceiling is reached go on to leximin.
    """
    if engine != "admm":
        return {}
    if isinstance(instance, FlowInstance):
        return {"time_limit": budget.time_limit}
    return {"on_progress": lambda step: step.elapsed > budget.time_limit}


def solve_warm(instance: AnyInstance, objective: str, budget: Budget) -> Outcome:
    """Solve the previous round untimed, then this one from its solution, matched by name.

    The same round is solved cold right before it, so that both meet the same phase of the machine:
    ``cold_seconds``, and the share ``cold_ratio`` of them that the warm solve took.
    """
    if instance.previous is None:
        raise wl.InputError(
            "there is no previous round",
            where="instance",
            allowed="a churn above 0",
            remedy="name an instance with churn",
        )
    before = wl.solve(
        state(instance.previous, objective), tolerance=budget.tolerance, threads=budget.threads
    )
    names = job_names(instance) if isinstance(instance, Instance) else None
    start = time.perf_counter()
    problem = state(instance, objective, names)
    wl.solve(problem, tolerance=budget.tolerance, threads=budget.threads)
    cold = time.perf_counter() - start
    start = time.perf_counter()
    problem = state(instance, objective, names)
    built = time.perf_counter()
    solution = wl.solve(
        problem,
        start=before,
        tolerance=budget.tolerance,
        threads=budget.threads,
    )
    solved = time.perf_counter()
    found = outcome(solution, built - start, solved - built)
    turns = {"cold_seconds": cold, "cold_ratio": (solved - start) / cold}
    return replace(found, numbers=found.numbers | turns)


def state(
    instance: AnyInstance, objective: str, names: Sequence[str] | None = None
) -> wl.Separable | wl.Leximin:
    """The domain's statement of an objective; jobs are numbered unless named."""
    if isinstance(instance, FlowInstance):
        return statement(instance, objective)
    names = [f"job-{j}" for j in range(instance.shape[1])] if names is None else names
    builder = cs.leximin if objective == "leximin" else BUILDERS[objective]
    return builder(
        instance.throughput,
        instance.size,
        instance.capacity,
        allowed=instance.allowed,
        demand_names=names,
    )


def crossed(solution: wl.Solution) -> dict[str, float]:
    """Bytes of an iteration without a proof, and of one with a proof: the medians."""
    steps = solution.history
    if not len(steps) or not steps[-1].traffic:
        return {}
    sums = np.diff([step.traffic * step.iteration for step in steps], prepend=0.0)
    proved = np.array([step.note == PROOF for step in steps])
    kinds = {"bytes": sums[~proved], "proof": sums[proved]}
    return {kind: float(np.median(found)) for kind, found in kinds.items() if len(found)}


def job_names(instance: Instance) -> list[str]:
    """Names that tell the jobs of this round that were not in the previous one."""
    before = instance.previous or instance
    same = (instance.throughput == before.throughput).all(axis=0) & (instance.size == before.size)
    return [f"job-{j}" if kept else f"new-{j}" for j, kept in enumerate(same)]


def outcome(solution: wl.Solution, build: float, seconds: float) -> Outcome:
    """What is recorded of a solution, with the bytes that crossed between processes, if any."""
    numbers = {
        "bound": float(solution.bound),
        "reported": float(solution.value),
        "gap": float(solution.gap),
    }
    numbers |= crossed(solution)
    return Outcome(
        solution.x,
        build,
        seconds,
        len(solution.history),
        str(solution.status),
        numbers,
        solution.prices.rows,
        _trace(solution),
    )


def _trace(solution: wl.Solution) -> list[tuple[float, float, float]]:
    """(seconds, value, bound) of the steps that bettered either, once both are known."""
    out = list[tuple[float, float, float]]()
    for step in solution.history:
        proved = math.isfinite(step.value) and math.isfinite(step.bound)
        if proved and (not out or (step.value, step.bound) != out[-1][1:]):
            out.append((step.elapsed, step.value, step.bound))
    return out
