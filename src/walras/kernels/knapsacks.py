"""Compiled relaxation of generalised assignments: a knapsack for each agent, prices on the tasks.

With a price q_j for each task's row of ones, the problem separates by agents:

    L(q) = sum_j q_j - sum_i max { sum_j (q_j - c_ij) x_ij : sum_j a_ij x_ij <= b_i, x_ij = 0, 1 }.

Each knapsack is solved to its optimum by dynamic programming over whole weights, so the best L is
at least the linear relaxation and mostly above it. Source: Fisher, Jaikumar and Van Wassenhove
1986.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from walras.kernels.parallel import copy, inner, jit
from walras.kernels.room import filled_floats, filled_ints
from walras.types import Bools, Floats, Ints

_SMOOTH = 0.6  # weight of the last direction of the prices
_PATIENCE = 20  # steps without a better bound after which steps become shorter
# factor on the step length, and the length at which the ascent ends
_SHORTER, _SHORTEST = 0.7, 1e-4
_AHEAD = 1e-4  # least relative distance of the target above the best bound


class Entries(NamedTuple):
    """Entries of an assignment, agent by agent, with scratch space.

    Attributes:
        first: (agents + 1,) first entry of each agent.
        task: (entries,) their tasks.
        cost: (entries,) their costs.
        size: (entries,) their integer weights.
        room: (agents,) integer capacities.
        table: (most entries of an agent + 1, largest room + 1) profits of a knapsack.
        used: (most entries of an agent,) entries of the table's rows.
    """

    first: Ints
    task: Ints
    cost: Floats
    size: Ints
    room: Ints
    table: Floats
    used: Ints


class Ascent(NamedTuple):
    """The state of the ascent of the prices.

    Attributes:
        price: (tasks,) the best prices so far.
        now: (tasks,) the last tried prices.
        direction: (tasks,) direction of the last step.
        taken: (entries,) number of steps in which each entry was in its agent's knapsack. state:
            [best bound, length of the steps, steps since the best].
    """

    price: Floats
    now: Floats
    direction: Floats
    taken: Ints
    state: Floats


def make_entries(cost: Floats, size: Ints, room: Ints, keep: Bools) -> tuple[Entries, Ints]:
    """The chosen entries of (tasks, agents) arrays, and their agents.

    Args:
        cost: (tasks, agents).
        size: (tasks, agents) integer weights.
        room: (agents,) integer capacities.
        keep: (tasks, agents).
    """
    agent, task = (k.astype(np.int32) for k in np.nonzero(keep.T))
    first = np.searchsorted(agent, np.arange(len(room) + 1)).astype(np.int32)
    most = int(np.diff(first).max(initial=0))
    table = np.zeros((most + 1, int(room.max()) + 1))
    used = np.zeros(most, dtype=np.int32)
    return Entries(first, task, cost[task, agent], size[task, agent], room, table, used), agent


def make_ascent(price: Floats, entries: int) -> Ascent:
    """An ascent that begins at given prices."""
    taken = np.zeros(entries, dtype=np.int32)
    state = np.array([-np.inf, 1.0, 0.0])
    return Ascent(price.copy(), price.copy(), np.zeros(len(price)), taken, state)


@inner
def _fill(e: Entries, i: int, price: Floats) -> int:
    """Fill agent i's table: row r + 1 has the best profits by room of the first r + 1 entries.

    Only entries of positive profit get a row. Returns the number of rows.
    """
    room, rows = e.room[i], 0
    e.table[0, : room + 1] = 0.0
    for k in range(e.first[i], e.first[i + 1]):
        profit, size = price[e.task[k]] - e.cost[k], e.size[k]
        if profit <= 0.0 or size > room:
            continue
        copy(e.table[rows, :size], e.table[rows + 1])
        # Slices from 0 let the compiler use vector instructions.
        without = e.table[rows, size : room + 1]
        rest, best = e.table[rows, : room + 1 - size], e.table[rows + 1, size : room + 1]
        for c in range(len(best)):
            more = rest[c] + profit
            best[c] = more if more > without[c] else without[c]
        e.used[rows] = k
        rows += 1
    return rows


@jit
def relaxed(e: Entries, price: Floats, taken: Ints, count: Ints) -> float:
    """Compute L(price); add one to ``taken`` of chosen entries, and count them by task."""
    count[:] = 0
    total = 0.0
    for q in price:
        total += q
    for i in range(len(e.room)):
        rows, left = _fill(e, i, price), e.room[i]
        total -= e.table[rows, left]
        for r in range(rows - 1, -1, -1):
            if e.table[r + 1, left] > e.table[r, left]:
                k = e.used[r]
                taken[k] += 1
                count[e.task[k]] += 1
                left -= e.size[k]
    return total


@jit
def climb(e: Entries, a: Ascent, target: float, steps: int) -> bool:
    """Take subgradient steps of Polyak's length; return False if the ascent has ended.

    Args:
        e: The entries.
        a: The ascent; changed in place.
        target: An upper limit of the bound, such as the cost of an assignment.
        steps: Number of steps.
    """
    tasks = len(a.price)
    count = filled_ints(tasks, 0)
    for _ in range(steps):
        bound = relaxed(e, a.now, a.taken, count)
        a.state[2] += 1.0
        if bound > a.state[0] + 1e-9 * abs(bound):
            a.state[0], a.state[2] = bound, 0.0
            copy(a.now, a.price)
        if a.state[2] > _PATIENCE:
            a.state[1], a.state[2] = _SHORTER * a.state[1], 0.0
            copy(a.price, a.now)
            a.direction[:] = 0.0
            continue
        square = 0.0
        for j in range(tasks):
            a.direction[j] = _SMOOTH * a.direction[j] + (1.0 - _SMOOTH) * (1.0 - count[j])
            square += a.direction[j] * a.direction[j]
        if square <= 0.0 or a.state[1] < _SHORTEST:
            return False
        best = a.state[0]
        step = a.state[1] * (max(target, best + _AHEAD * abs(best)) - bound) / square
        for j in range(tasks):
            a.now[j] += step * a.direction[j]
    return True


@jit
def losses(e: Entries, price: Floats) -> Floats:
    """(entries,) a lower bound on the rise of L(price) when an entry must be used.

    Let V_i(b) be the best profit in room b. An agent that must use an entry of profit p and size s
    gets at most p + V_i(b_i - s).
    """
    out: Floats = filled_floats(len(e.task), 0.0)
    for i in range(len(e.room)):
        rows, room = _fill(e, i, price), e.room[i]
        for k in range(e.first[i], e.first[i + 1]):
            if e.size[k] > room:
                out[k] = np.inf
                continue
            used = price[e.task[k]] - e.cost[k] + e.table[rows, room - e.size[k]]
            out[k] = max(0.0, e.table[rows, room] - used)
    return out


@inner
def _fill_rest(e: Entries, i: int, price: Floats, slack: float) -> int:
    """Fill agent i's table from its last entry: row r has the best profits of entries r and later.

    Only entries that lose at most ``slack`` get a row. Returns their number.
    """
    room, rows = e.room[i], 0
    for k in range(e.first[i], e.first[i + 1]):
        if price[e.task[k]] - e.cost[k] >= -slack and e.size[k] <= room:
            e.used[rows] = k
            rows += 1
    e.table[rows, : room + 1] = 0.0
    for r in range(rows - 1, -1, -1):
        k = e.used[r]
        profit, size = price[e.task[k]] - e.cost[k], e.size[k]
        copy(e.table[r + 1, :size], e.table[r])
        for c in range(size, room + 1):
            e.table[r, c] = max(e.table[r + 1, c], e.table[r + 1, c - size] + profit)
    return rows


@jit
def near_best(e: Entries, price: Floats, slack: float, first: Ints, chosen: Ints) -> int:
    """All fillings of all knapsacks whose profit is at most ``slack`` below the agent's best.

    Those without an entry are left out.

    Args:
        e: The entries.
        price: (tasks,) prices.
        slack: At least 0.
        first: (most + 1,) gets the first place in ``chosen`` of each filling.
        chosen: (places,) gets the entries of the fillings.

    Returns:
        The number of fillings, or -1 if there is no place for all of them.
    """
    count, place, most = 0, 0, len(first) - 1
    first[0], held = 0, 0
    took = filled_ints(len(e.used), 0)
    for i in range(len(e.room)):
        rows, left, profit, r = _fill_rest(e, i, price, slack), e.room[i], 0.0, 0
        least = e.table[0, left] - slack
        while True:
            if r < rows and profit + e.table[r, left] >= least:
                k = e.used[r]
                if e.size[k] <= left:
                    took[r] = 1
                    held += 1
                    left -= e.size[k]
                    profit += price[e.task[k]] - e.cost[k]
                r += 1
                continue
            if r == rows and profit >= least:
                if count == most or place + held > len(chosen):
                    return -1
                for q in range(rows):
                    if took[q]:
                        chosen[place] = e.used[q]
                        place += 1
                if place > first[count]:
                    count += 1
                    first[count] = place
            # Go back to the last entry that was taken, and leave it out.
            r -= 1
            while r >= 0 and not took[r]:
                r -= 1
            if r < 0:
                break
            k = e.used[r]
            took[r] = 0
            held -= 1
            left += e.size[k]
            profit -= price[e.task[k]] - e.cost[k]
            r += 1
    return count
