"""Compiled search for generalised assignments: prices of the agents, then annealed local search.

Each task goes to one agent; tasks on an agent weigh at most its capacity; costs are minimised. The
bound of agents' prices p >= 0 is

    L(p) = sum_j min_i (c_ij + p_i a_ij) - p.b,

which at the best p equals the linear relaxation. The search moves a task (move), exchanges two
(swap), or lets a task push another one to a third agent (ejection chain). Weight above a capacity
costs a penalty, so the search may pass through overloads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from walras.kernels.local_search.random_numbers import State, below, draw
from walras.kernels.parallel import inner, jit
from walras.types import Floats, Ints

_SMOOTH = 0.7  # weight of the last direction of the prices
_PATIENCE = 15  # steps without a better bound after which steps become shorter
_AHEAD = 1e-3  # least relative distance of the target above the best bound
# first and last penalty of weight above a capacity, relative to its worth
_MILD, _STERN = 1.1, 100.0
# shares of proposals: moves below the first, chains above the second, swaps between
_SWAP, _CHAIN = 0.45, 0.8


class Assignment(NamedTuple):
    """An assignment of tasks to agents under change.

    Attributes:
        agent: (tasks,) agent of each task.
        load: (agents,) weight on each agent.
        member: (agents, tasks) tasks of each agent, unordered.
        place: (tasks,) index of a task among its agent's members.
        count: (agents,) number of members.
    """

    agent: Ints
    load: Floats
    member: Ints
    place: Ints
    held: Ints


def make_assignment(agent: Ints, weight: Floats) -> Assignment:
    """The lists of a given assignment; ``weight`` is (tasks, agents)."""
    tasks, agents = weight.shape
    member = np.zeros((agents, tasks), dtype=np.int32)
    place, held = np.zeros(tasks, dtype=np.int32), np.zeros(agents, dtype=np.int32)
    for j, i in enumerate(agent.tolist()):
        member[i, held[i]], place[j] = j, held[i]
        held[i] += 1
    load = np.bincount(agent, weight[np.arange(tasks), agent], agents).astype(np.float64)
    return Assignment(agent.astype(np.int32).copy(), load, member, place, held)


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
    now, load, direction = price.copy(), np.zeros(agents), np.zeros(agents)
    best, length, waited = -np.inf, 1.0, 0
    for _ in range(steps):
        bound = priced(cost, weight, capacity, now, load)
        waited += 1
        if bound - best > 1e-12 * abs(bound):
            best, waited = bound, 0
            price[:] = now
        if waited > _PATIENCE:
            length, waited = 0.6 * length, 0
            now[:] = price
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


@inner
def _reassign(a: Assignment, weight: Floats, j: int, i: int) -> None:
    old, spot = a.agent[j], a.place[j]
    a.held[old] -= 1
    last = a.member[old, a.held[old]]
    a.member[old, spot] = last
    a.place[last] = spot
    a.member[i, a.held[i]], a.place[j] = j, a.held[i]
    a.held[i] += 1
    a.load[old] -= weight[j, old]
    a.load[i] += weight[j, i]
    a.agent[j] = i


@inner
def _excess(load: float, capacity: float) -> float:
    return max(0.0, load - capacity)


@inner
def _fine(load: float, more: float, less: float, capacity: float, penalty: float) -> float:
    """Change of an agent's penalty when its load gains ``more`` and loses ``less``."""
    gained: float = _excess(load + more - less, capacity) - _excess(load, capacity)
    return penalty * gained


@inner
def _change(
    cost: Floats,
    weight: Floats,
    capacity: Floats,
    a: Assignment,
    penalty: Floats,
    rise: float,
    j: int,
    i: int,
    k: int,
    h: int,
) -> float:
    """Change of the penalised cost when task j goes to agent i, and task k (if any) to agent h."""
    old = a.agent[j]
    change = cost[j, i] - cost[j, old]
    out, back, fines = 0.0, 0.0, 0.0
    if k >= 0:
        change += cost[k, h] - cost[k, i]
        out = weight[k, i]
        if h == old:
            back = weight[k, h]
        else:
            fines += _fine(a.load[h], weight[k, h], 0.0, capacity[h], penalty[h])
    fines += _fine(a.load[i], weight[j, i], out, capacity[i], penalty[i])
    fines += _fine(a.load[old], back, weight[j, old], capacity[old], penalty[old])
    return float(change + rise * fines)


@inner
def _overload(a: Assignment, capacity: Floats, old: int, i: int, h: int) -> float:
    """Weight above the capacities of the agents that a proposal touches."""
    out = _excess(a.load[old], capacity[old]) + _excess(a.load[i], capacity[i])
    if h >= 0 and h != old:
        out += _excess(a.load[h], capacity[h])
    return float(out)


@jit
def anneal(
    cost: Floats,
    weight: Floats,
    capacity: Floats,
    near: Ints,
    a: Assignment,
    best: Ints,
    best_cost: float,
    hot: float,
    cold: float,
    penalty: Floats,
    steps: int,
    random: State,
) -> float:
    """Annealed local search by moves, swaps and ejection chains.

    Args:
        cost: (tasks, agents).
        weight: (tasks, agents).
        capacity: (agents,).
        near: (tasks, k) agents to try for each task.
        a: The present assignment.
        best: (tasks,) the best assignment within the capacities; changed in place.
        best_cost: Its cost, infinite if there is none.
        hot: First temperature.
        cold: Last temperature.
        penalty: (agents,) cost of weight above a capacity, times ``_MILD`` first and ``_STERN``
            last.
        steps: Number of proposals.
        random: State of the random numbers.

    Returns:
        The cost of ``best``.
    """
    tasks, width = near.shape
    cooling = (cold / hot) ** (1.0 / max(1, steps))
    growth = (_STERN / _MILD) ** (1.0 / max(1, steps))
    heat, rise = hot, _MILD
    now, over = 0.0, 0.0
    for j in range(tasks):
        now += cost[j, a.agent[j]]
    for i in range(len(capacity)):
        over += _excess(a.load[i], capacity[i])
    for _ in range(steps):
        heat *= cooling
        rise *= growth
        j = below(random, tasks)
        i = near[j, below(random, width)]
        old = a.agent[j]
        if i == old:
            continue
        kind, k, h = draw(random), -1, -1
        if kind > _SWAP and a.held[i] > 0:
            k = a.member[i, below(random, a.held[i])]
            h = old if kind < _CHAIN else near[k, below(random, width)]
            if h == i or not np.isfinite(cost[k, h]):
                continue
        change = _change(cost, weight, capacity, a, penalty, rise, j, i, k, h)
        if change > 0.0 and draw(random) >= np.exp(-change / heat):
            continue
        over -= _overload(a, capacity, old, i, h)
        now += cost[j, i] - cost[j, old]
        _reassign(a, weight, j, i)
        if k >= 0:
            now += cost[k, h] - cost[k, i]
            _reassign(a, weight, k, h)
        over += _overload(a, capacity, old, i, h)
        if over <= 1e-9 and now < best_cost - 1e-9:
            best_cost = now
            best[:] = a.agent
    return best_cost
