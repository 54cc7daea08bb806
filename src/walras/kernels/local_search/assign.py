"""Compiled prices of the agents of a generalised assignment.

Each task goes to one agent; tasks on an agent weigh at most its capacity; costs are minimised. The
bound of agents' prices p >= 0 is

    L(p) = sum_j min_i (c_ij + p_i a_ij) - p.b,

which at the best p equals the linear relaxation.
"""

from __future__ import annotations

import numpy as np

from walras.kernels.parallel import copy, jit
from walras.kernels.room import filled_floats, floats
from walras.types import Floats

_SMOOTH = 0.7  # weight of the last direction of the prices
_PATIENCE = 15  # steps without a better bound after which steps become shorter
_AHEAD = 1e-3  # least relative distance of the target above the best bound


@jit
def priced(cost: Floats, weight: Floats, capacity: Floats, price: Floats, load: Floats) -> float:
    """L(price), with the weights of the tasks on their cheapest agents in ``load``."""
    load[:] = 0.0
    total = 0.0
    for j in range(cost.shape[0]):
        best, at = np.inf, 0
        for i in range(cost.shape[1]):
            reduced = cost[j, i] + price[i] * weight[j, i]
            if reduced < best:
                best, at = reduced, i
        total += best
        load[at] += weight[j, at]
    for i in range(cost.shape[1]):
        total -= price[i] * capacity[i]
    return total


@jit
def ascend(
    cost: Floats, weight: Floats, capacity: Floats, price: Floats, target: float, steps: int
) -> float:
    """Raise the bound by subgradient steps of Polyak's length; ``price`` gets the best prices."""
    agents = cost.shape[1]
    now, load, direction = floats(agents), floats(agents), filled_floats(agents, 0.0)
    copy(price, now)
    best, length, waited = -np.inf, 1.0, 0
    for _ in range(steps):
        bound = priced(cost, weight, capacity, now, load)
        waited += 1
        if bound - best > 1e-12 * abs(bound):
            best, waited = bound, 0
            copy(now, price)
        if waited > _PATIENCE:
            length, waited = 0.6 * length, 0
            copy(price, now)
            direction[:] = 0.0
            continue
        square = 0.0
        for i in range(agents):
            slope = load[i] - capacity[i]
            direction[i] = _SMOOTH * direction[i] + (1.0 - _SMOOTH) * slope
            square += direction[i] * direction[i]
        if square <= 0.0 or length < 1e-7:
            break
        # If the target is not an upper bound, aim a little higher than the best bound.
        aim = max(target, best + _AHEAD * abs(best))
        step = length * (aim - bound) / square
        for i in range(agents):
            now[i] = max(0.0, now[i] + step * direction[i])
    return float(best)
