"""Walras on rounds of matching: exact, large with a certified gap, and relaxed."""

from __future__ import annotations

import time

import numpy as np

import walras as wl
from benchmarks.matching import MatchInstance
from benchmarks.problem import Budget, Outcome


def exact(instance: MatchInstance, objective: str, budget: Budget) -> Outcome:
    """All rounds of the batch by branch and bound."""
    start = time.perf_counter()
    found = wl.matching.match_rounds(
        instance.times, instance.success, instance.floor, threads=budget.threads
    )
    seconds = time.perf_counter() - start
    return Outcome(
        found.assignment.astype(np.float64),
        0.0,
        seconds,
        int(found.nodes.sum()),
        numbers={
            "bound": float(found.bound.mean()),
            "gap": float(found.gap.max()),
            "rounds": float(len(found.assignment)),
        },
    )


def large(instance: MatchInstance, objective: str, budget: Budget, *, tolerance: float) -> Outcome:
    """One large round to a certified gap."""
    start = time.perf_counter()
    plan = wl.matching.match(
        instance.times[0],
        instance.success[0],
        float(instance.floor[0]),
        slots=instance.slots if len(instance.slots) else None,
        ready=instance.ready if len(instance.slots) else None,
        tolerance=tolerance,
        time_limit=budget.time_limit,
        threads=budget.threads,
    )
    seconds = time.perf_counter() - start
    return Outcome(
        plan.assignment[None].astype(np.float64),
        0.0,
        seconds,
        message=f"{plan.status}: {plan.method}",
        numbers={"bound": plan.bound, "gap": plan.gap},
    )


def relaxed(
    instance: MatchInstance, objective: str, budget: Budget, *, mode: str, iterations: int = 3000
) -> Outcome:
    """The smoothed matching of all rounds."""
    import torch

    torch.set_num_threads(budget.threads)
    smoothing = wl.matching.Smoothing(instance.temperature, barrier=instance.barrier)
    start = time.perf_counter()
    found = wl.matching.relaxed_match(
        instance.times,
        instance.success,
        instance.floor,
        smoothing,
        mode=mode,
        iterations=iterations,
    )
    seconds = time.perf_counter() - start
    return Outcome(
        found.x.numpy(),
        0.0,
        seconds,
        int(found.steps.max()),
        numbers={
            "residual": float(found.residual.max()),
            "smoothed": float(found.value.sum()),
            "unsolved": float((found.residual > 1e-8).sum()),
        },
    )
