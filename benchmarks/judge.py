"""The independent check of every allocation: repaired, valued, and held against a bound.

It knows neither the engines nor the certificate of Walras: plain NumPy from the definition.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.problem import Instance

Floats = npt.NDArray[np.float64]

LEXIMIN_LEVELS = 10
# Objectives of which less is better.
MINIMISED = (
    "min-max-utilisation",
    "match",
    "relaxed-match",
    "gradient-step",
    "assignment",
    "moves",
)
# Objectives over rounds that begin where a method's own last one ended: bounds are its own, too.
SEQUENTIAL = ("moves",)


@dataclass(frozen=True)
class Verdict:
    """Quality of an allocation.

    Attributes:
        value: Objective after repair to a feasible allocation.
        violation: Largest violation before repair, relative to the row's right-hand side.
        utilities: A few order statistics of the jobs' throughputs after repair.
        bound: What the method's own prices prove about the optimum, if it has prices.
    """

    value: float
    violation: float
    utilities: tuple[float, ...]
    bound: float | None = None


def judge(instance: Instance, objective: str, x: Floats) -> Verdict:
    """Repair an allocation and value it by the definition of the objective."""
    if objective == "dede-toy":
        return _judge_toy(instance, x)
    feasible = repair(instance, x)
    utility = (instance.throughput * feasible).sum(axis=0)
    lowest = np.sort(utility)[:LEXIMIN_LEVELS]
    return Verdict(value(objective, utility), violation(instance, x), tuple(map(float, lowest)))


def repair(instance: Instance, x: Floats) -> Floats:
    """Nearest simple feasible allocation: clip, scale resources, then scale demands.

    What is not finite counts as nothing. Scaling a demand down only lowers the loads, so the
    second step keeps the first.
    """
    fixed = np.where(instance.usable & np.isfinite(x), np.maximum(x, 0.0), 0.0)
    load = fixed @ instance.size
    fixed *= np.minimum(1.0, instance.capacity / np.maximum(load, 1e-300))[:, None]
    return fixed / np.maximum(1.0, fixed.sum(axis=0))


def violation(instance: Instance, x: Floats) -> float:
    """Largest violation of capacity (relative), time, sign and mask; infinite when not finite."""
    if not np.all(np.isfinite(x)):
        return float("inf")  # NaN fails every comparison, and so would look feasible
    allowed = np.where(instance.allowed, x, 0.0)
    return float(
        max(
            0.0,
            (allowed @ instance.size / instance.capacity - 1.0).max(),
            (allowed.sum(axis=0) - 1.0).max(),
            (-allowed).max(),
            np.abs(x - allowed).max(),
        )
    )


def value(objective: str, utility: Floats) -> float:
    """Objective of the jobs' throughputs (to be maximised)."""
    if objective in ("max-min", "leximin"):
        return float(utility.min())
    if objective == "total-throughput":
        return float(utility.sum())
    if utility.min() <= 0:
        return float("-inf")
    if objective == "proportional-fairness":
        return float(np.log(utility).sum())
    return float(-(1.0 / utility).sum())  # alpha-fair with alpha = 2


def relative_gap(objective: str, value: float, bound: float, demands: int) -> float:
    """Distance from a bound: nats a job for logs, relative to the bound otherwise."""
    if objective == "proportional-fairness":
        return (bound - value) / demands
    if objective == "dede-toy":
        return abs(value - bound) / abs(bound)
    ahead = value - bound if objective in MINIMISED else bound - value
    return ahead / max(abs(bound), 1e-300)


def _judge_toy(instance: Instance, x: Floats) -> Verdict:
    """Minimise sum x with row sums >= i and column sums <= j: no repair, absolute violation."""
    if not np.all(np.isfinite(x)):
        return Verdict(float("nan"), float("inf"), ())
    worst = max(
        (instance.capacity - x.sum(axis=1)).max(),
        (x.sum(axis=0) - instance.size).max(),
        (-x).max(),
        0.0,
    )
    return Verdict(float(x.sum()), float(worst), ())
