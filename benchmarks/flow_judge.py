"""The check of every flow: repaired, valued from the data alone, and bounded by its own prices.

The repair and the bound are those of :mod:`walras.certificate`, which knows no engine and serves
every method alike; values and violations are plain NumPy from the definition.
"""

from __future__ import annotations

import numpy as np

from benchmarks.flow import FlowInstance
from benchmarks.flow_instances import statement
from benchmarks.judge import Verdict
from walras.certificate import certify
from walras.types import Floats

_FEASIBLE = 1e-9  # relative


def judge_flow(
    instance: FlowInstance, objective: str, flow: Floats, prices: Floats | None
) -> Verdict:
    """Repair a flow, value it, and bound the optimum by the method's prices.

    Args:
        instance: The instance.
        objective: ``max-total-flow`` or ``min-max-utilisation``.
        flow: (paths,) traffic on each path, any numbers.
        prices: (links + pairs,) prices of the rows, any numbers; None if the method has none.
    """
    before = flow_violation(instance, objective, flow)
    if not np.isfinite(before):
        return Verdict(float("nan"), before, ())
    problem = statement(instance, objective)
    zeros = np.zeros(problem.rows.count)
    start = np.array([utilisation(instance, flow)])[: problem.scalars]
    proof = certify(problem, flow, start, zeros if prices is None else prices)
    left = flow_violation(instance, objective, proof.x)
    value = flow_value(instance, objective, proof.x) if left <= _FEASIBLE else float("inf")
    bound = None if prices is None else problem.reported(proof.bound)
    return Verdict(value, before, (), bound)


def flow_value(instance: FlowInstance, objective: str, flow: Floats) -> float:
    """The traffic served, or the largest utilisation of a link."""
    if objective == "max-total-flow":
        return float(flow.sum())
    return utilisation(instance, flow)


def utilisation(instance: FlowInstance, flow: Floats) -> float:
    """Largest load of a link over its capacity."""
    return float((instance.loads(flow) / instance.capacity).max())


def flow_violation(instance: FlowInstance, objective: str, flow: Floats) -> float:
    """Largest violation of capacity, demand and sign, relative to what bounds them."""
    if not np.all(np.isfinite(flow)):
        return float("inf")
    served = instance.served(flow) / instance.demand - 1.0
    unmet = served if objective == "max-total-flow" else np.abs(served)
    over = utilisation(instance, flow) - 1.0 if objective == "max-total-flow" else 0.0
    negative = (-flow / instance.demand[instance.pair]).max()
    return float(max(0.0, over, unmet.max(), negative))


def largest_share(instance: FlowInstance, prices: Floats) -> float:
    """How much of the bound on the utilisation a single demand makes up.

    The bound sum_k d_k L_k / sum_e c_e p_e, with L_k the price of the pair's cheapest path, falls
    by no more than its k-th term when demand k is relaxed, even to nothing; so no relaxation of a
    single demand lowers the optimum by more than this share of it, as far as the bound is tight.

    Args:
        instance: The instance.
        prices: (links,) prices of capacity, >= 0.
    """
    terms = instance.demand * instance.least(prices)
    return float(terms.max() / terms.sum())
