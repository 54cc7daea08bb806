"""Compiled search for generalised assignments by ejection chains.

Let p be prices of the agents, r_ij = c_ij + p_i a_ij - min_k (c_kj + p_k a_kj) the reduced costs
and s_i the room left on agent i. Within the capacities, an assignment costs

    L(p) + sum_j r(j's agent, j) + sum_i p_i s_i,

so near the best prices only small reduced costs and small rooms matter. Here a room s < 0 costs a
penalty u_i per unit. The sum after L(p) is the *energy*.

A chain takes one or two tasks from an agent, which leaves a hole. Another task fills the hole and
leaves one on its own agent, and so on, until the tasks that were taken first fill the last hole. In
a share of the chains a task of the agent with the hole may go the other way at each step. A
beam search keeps the partial chains of least energy at each length. The cheapest chain is taken if
it changes the energy by less than -heat log(uniform), as in annealing. Source of the chains and the
penalties: Yagiura, Ibaraki and Glover 2004; of the limit on partial sums: Lin and Kernighan 1973.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from walras.kernels.local_search.random_numbers import State, below, draw
from walras.kernels.parallel import copy, inner, jit
from walras.types import Bools, Floats, Ints

_FILLING, _PAIRS = 0.1, 0.4  # shares of chains that take no task first, and two tasks
_SWAPS = 0.5  # share of chains in which two agents may exchange tasks at each step
_TRIES = 20  # draws of a second task
_AHEAD = 2.0  # energy that later steps may win back, in mean energies of an agent
_BOTH = 3  # both of the tasks that were taken first wait
_TINY = 1e-9


class Near(NamedTuple):
    """The likely entries of an assignment, by agent and weight, and the prices.

    Attributes:
        first: (agents + 1,) first entry of each agent.
        task: (entries,) their tasks, by weight within an agent.
        size: (entries,) their weights.
        reduced: (tasks, agents) reduced costs.
        weight: (tasks, agents).
        price: (agents,) cost of a unit of room.
        penalty: (agents,) cost of a unit above the capacity, above 0.
        unit: Classes of holes for each unit of weight.
        option: (tasks + 1,) first of the likely agents of each task.
        agent: (entries,) the likely agents of each task.
    """

    first: Ints
    task: Ints
    size: Floats
    reduced: Floats
    weight: Floats
    price: Floats
    penalty: Floats
    unit: float
    option: Ints
    agent: Ints


class Beam(NamedTuple):
    """Partial chains by length and slot.

    Attributes:
        taken: (2,) the tasks that were taken first, or -1.
        task: (lengths, slots) the last task that moved.
        back: (lengths, slots) a task that took the place of ``task``, or -1.
        came: (lengths, slots) slot of the chain without it, or -1 where the slot is free.
        agent: (lengths, slots) agent with the hole.
        waits: (lengths, slots) which of the tasks taken first wait: 1, 2, 3 both, 0 none.
        hole: (lengths, slots) room on that agent.
        change: (lengths, slots) change of the energy, without that agent's room.
        slot: (lengths, slots) the slots in use.
        used: (lengths,) number of them.
        path: (2 lengths, 2) moves (task, agent) of the best chain.
        head: (agents,) first of the tasks that could go to an agent, or -1.
        chained: (entries, 2) such tasks, and where the next one stands.
    """

    taken: Ints
    task: Ints
    back: Ints
    came: Ints
    agent: Ints
    waits: Ints
    hole: Floats
    change: Floats
    slot: Ints
    used: Ints
    path: Ints
    head: Ints
    chained: Ints


class Assigned(NamedTuple):
    """An assignment, which may exceed capacities.

    Attributes:
        agent: (tasks,) agent of each task.
        room: (agents,) room left on each.
    """

    agent: Ints
    room: Floats


def make_near(
    reduced: Floats, weight: Floats, price: Floats, penalty: Floats, keep: Bools, unit: float
) -> Near:
    """The lists of the entries in ``keep``, which is (tasks, agents)."""
    agent, task = (k.astype(np.int32) for k in np.nonzero(keep.T))
    order = np.lexsort((weight[task, agent], agent))
    task = task[order]
    first = np.searchsorted(agent, np.arange(len(price) + 1)).astype(np.int32)
    option = np.concatenate([[0], np.cumsum(keep.sum(axis=1))]).astype(np.int32)
    likely = np.nonzero(keep)[1].astype(np.int32)
    size = weight[task, agent]
    return Near(first, task, size, reduced, weight, price, penalty, unit, option, likely)


def make_beam(lengths: int, slots: int, near: Near) -> Beam:
    """An empty beam."""
    shape = (lengths, slots)
    whole = [np.zeros(shape, dtype=np.int32) for _ in range(6)]
    whole[2][:] = -1
    change, hole = np.zeros(shape), np.zeros(shape)
    used, path = np.zeros(lengths, dtype=np.int32), np.zeros((2 * lengths + 4, 2), dtype=np.int32)
    head = np.full(len(near.price), -1, dtype=np.int32)
    chained = np.zeros((len(near.agent), 2), dtype=np.int32)
    task, back, came, agent, waits, slot = whole
    taken = np.full(2, -1, dtype=np.int32)
    return Beam(
        taken, task, back, came, agent, waits, hole, change, slot, used, path, head, chained
    )


@inner
def room_cost(near: Near, i: int, room: float) -> float:
    """Energy of the room on an agent."""
    return float(near.price[i] * room if room >= 0.0 else -near.penalty[i] * room)


@inner
def _bisect(near: Near, i: int, size: float) -> int:
    """The agent's first entry of at least this size."""
    low, high = near.first[i], near.first[i + 1]
    while low < high:
        middle = (low + high) // 2
        if near.size[middle] < size:
            low = middle + 1
        else:
            high = middle
    return int(low)


@inner
def _visited(now: Assigned, beam: Beam, length: int, slot: int, i: int) -> bool:
    """Whether a partial chain has changed the room of agent i."""
    agent = now.agent
    while beam.agent[length, slot] != i:
        if length == 0:
            return False
        if beam.back[length, slot] >= 0 and agent[beam.task[length, slot]] == i:
            return True
        slot = beam.came[length, slot]
        length -= 1
    return True


@inner
def _moved(beam: Beam, length: int, slot: int, k: int) -> bool:
    """Whether task k moves in a partial chain."""
    while length > 0:
        if beam.task[length, slot] == k or beam.back[length, slot] == k:
            return True
        slot = beam.came[length, slot]
        length -= 1
    return False


@inner
def _keep(
    near: Near,
    beam: Beam,
    length: int,
    came: int,
    j: int,
    back: int,
    i: int,
    waits: int,
    hole: float,
    change: float,
) -> None:
    """Put a partial chain into its slot if the slot is free or holds a dearer one."""
    slot = (i * 37 + int(hole * near.unit) * 101 + waits * 11) % beam.task.shape[1]
    if beam.came[length, slot] < 0:
        beam.slot[length, beam.used[length]] = slot
        beam.used[length] += 1
    elif beam.change[length, slot] <= change:
        return
    beam.task[length, slot], beam.came[length, slot] = j, came
    beam.back[length, slot] = back
    beam.agent[length, slot], beam.waits[length, slot] = i, waits
    beam.hole[length, slot], beam.change[length, slot] = hole, change


@inner
def _move(beam: Beam, moves: int, j: int, i: int) -> int:
    beam.path[moves, 0], beam.path[moves, 1] = j, i
    return moves + 1


@inner
def _trace(now: Assigned, beam: Beam, length: int, slot: int, j: int, k: int, i: int) -> int:
    """Write the moves of a chain: task j leaves agent i, to which k and the waiting tasks go."""
    waits, moves = beam.waits[length, slot], 0
    for bit in range(2):
        if waits & (1 << bit):
            moves = _move(beam, moves, beam.taken[bit], i)
    moves = _move(beam, moves, j, beam.agent[length, slot])
    if k >= 0:
        moves = _move(beam, moves, k, i)
    while length > 0:
        j, k = beam.task[length, slot], beam.back[length, slot]
        slot = beam.came[length, slot]
        length -= 1
        moves = _move(beam, moves, j, beam.agent[length, slot])
        if k >= 0:
            moves = _move(beam, moves, k, now.agent[j])
    return int(moves)


@inner
def _closed(near: Near, beam: Beam, waits: int, i: int, hole: float) -> float:
    """Energy of the waiting tasks on agent i, and of the room that they leave in its hole."""
    out = 0.0
    for bit in range(2):
        if waits & (1 << bit):
            out += near.reduced[beam.taken[bit], i]
            hole -= near.weight[beam.taken[bit], i]
    return float(out + room_cost(near, i, hole))


@inner
def _split(near: Near, beam: Beam, length: int, slot: int, limit: float) -> None:
    """Let one of two waiting tasks fill a part of the hole."""
    i, hole = beam.agent[length, slot], beam.hole[length, slot]
    for bit in range(2):
        k = beam.taken[bit]
        change = beam.change[length, slot] + near.reduced[k, i]
        if change <= limit:
            _keep(near, beam, length + 1, slot, k, -1, i, 2 - bit, hole - near.weight[k, i], change)


@inner
def _exchange(near: Near, now: Assigned, beam: Beam, limit: float) -> None:
    """Exchange one of two tasks that an agent loses for a task of another agent."""
    agent, room = now.agent, now.room
    slot = beam.slot[0, 0]
    i, hole, change = beam.agent[0, slot], beam.hole[0, slot], beam.change[0, slot]
    for e in range(near.first[i], near.first[i + 1]):
        j = near.task[e]
        b = agent[j]
        if b == i:
            continue
        gained = change + near.reduced[j, i] - near.reduced[j, b] - room_cost(near, b, room[b])
        for bit in range(2):
            total = gained + _closed(near, beam, 1 << bit, b, room[b] + near.weight[j, b])
            if total <= limit:
                rest = hole - near.size[e]
                _keep(near, beam, 1, slot, j, beam.taken[bit], i, 2 - bit, rest, total)


@inner
def _extend(
    near: Near,
    now: Assigned,
    beam: Beam,
    length: int,
    slot: int,
    ahead: float,
    limit: float,
    moves: int,
) -> tuple[float, int]:
    """Let each task that fits fill the hole of a partial chain.

    Returns:
        The change of the best complete chain so far, or the limit, and its number of moves.
    """
    agent, room = now.agent, now.room
    i, hole, waits = beam.agent[length, slot], beam.hole[length, slot], beam.waits[length, slot]
    spare = limit - beam.change[length, slot] + ahead
    e = _bisect(near, i, hole - spare / max(near.price[i], 1e-12))
    largest = hole + spare / near.penalty[i]
    while e < near.first[i + 1] and near.size[e] <= largest:
        j, size = near.task[e], near.size[e]
        e += 1
        b = agent[j]
        change = beam.change[length, slot] + near.reduced[j, i] - near.reduced[j, b]
        change += room_cost(near, i, hole - size) - room_cost(near, b, room[b])
        if change > limit or _visited(now, beam, length, slot, b):
            continue
        left = room[b] + near.weight[j, b]
        closed = change + _closed(near, beam, waits, b, left)
        if closed < limit:
            limit, moves = closed, _trace(now, beam, length, slot, j, -1, b)
        if length + 1 < len(beam.used):
            _keep(near, beam, length + 1, slot, j, -1, b, waits, left, change)
    return limit, moves


@inner
def _gather(near: Near, now: Assigned, beam: Beam, i: int, most: float) -> None:
    """List the tasks of agent i by the agents to which they can go at no more than a cost."""
    agent, taken = now.agent, beam.taken
    beam.head[:] = -1
    count = 0
    for e in range(near.first[i], near.first[i + 1]):
        k = near.task[e]
        if agent[k] != i or k == taken[0] or k == taken[1]:
            continue
        for o in range(near.option[k], near.option[k + 1]):
            b = near.agent[o]
            if b != i and near.reduced[k, b] - near.reduced[k, i] <= most:
                beam.chained[count, 0], beam.chained[count, 1] = k, beam.head[b]
                beam.head[b] = count
                count += 1


@inner
def _swap(
    near: Near, now: Assigned, beam: Beam, length: int, slot: int, limit: float, moves: int
) -> tuple[float, int]:
    """Let the agent with the hole exchange a task for one of another agent, as _extend does."""
    agent, room = now.agent, now.room
    i, hole, waits = beam.agent[length, slot], beam.hole[length, slot], beam.waits[length, slot]
    spare = limit - beam.change[length, slot]
    _gather(near, now, beam, i, spare)
    for e in range(near.first[i], near.first[i + 1]):
        j = near.task[e]
        b = agent[j]
        if b == i or beam.head[b] < 0 or near.reduced[j, i] - near.reduced[j, b] > spare:
            continue
        if _visited(now, beam, length, slot, b):
            continue
        here = beam.change[length, slot] + near.reduced[j, i] - near.reduced[j, b]
        here -= room_cost(near, b, room[b])
        at = beam.head[b]
        while at >= 0:
            k = beam.chained[at, 0]
            at = beam.chained[at, 1]
            change = here + near.reduced[k, b] - near.reduced[k, i]
            change += room_cost(near, i, hole + near.weight[k, i] - near.size[e])
            if change > limit or _moved(beam, length, slot, k):
                continue
            left = room[b] + near.weight[j, b] - near.weight[k, b]
            closed = change + _closed(near, beam, waits, b, left)
            if closed < limit:
                limit, moves = closed, _trace(now, beam, length, slot, j, k, b)
            if length + 1 < len(beam.used):
                _keep(near, beam, length + 1, slot, j, k, b, waits, left, change)
    return limit, moves


@inner
def _begin(near: Near, now: Assigned, beam: Beam, i: int) -> int:
    """Begin the beam with agent i without the tasks that were taken; return which of them wait."""
    waits = 0
    hole, change = now.room[i], -room_cost(near, i, now.room[i])
    for bit in range(2):
        k = beam.taken[bit]
        if k >= 0:
            waits |= 1 << bit
            hole += near.weight[k, i]
            change -= near.reduced[k, i]
    _keep(near, beam, 0, 0, -1, -1, i, waits, hole, change)
    return waits


@inner
def _clear(beam: Beam) -> None:
    """Free all slots."""
    for length in range(len(beam.used)):
        for s in range(beam.used[length]):
            beam.came[length, beam.slot[length, s]] = -1
        beam.used[length] = 0


@inner
def _best_chain(
    near: Near, now: Assigned, beam: Beam, i: int, swaps: bool, ahead: float, limit: float
) -> tuple[float, int]:
    """The cheapest chain that begins on agent i, if it changes the energy by less than a limit."""
    moves = 0
    if _begin(near, now, beam, i) == _BOTH:
        _exchange(near, now, beam, limit)
    for length in range(len(beam.used)):
        for s in range(beam.used[length]):
            slot = beam.slot[length, s]
            if beam.change[length, slot] > limit:
                continue
            if beam.waits[length, slot] == _BOTH and length + 1 < len(beam.used):
                _split(near, beam, length, slot, limit)
            limit, moves = _extend(near, now, beam, length, slot, ahead, limit, moves)
            if swaps:
                limit, moves = _swap(near, now, beam, length, slot, limit, moves)
    _clear(beam)
    return limit, moves


@inner
def _take(near: Near, now: Assigned, beam: Beam, random: State) -> int:
    """Choose an agent, and up to two tasks of it, at random."""
    agent, taken = now.agent, beam.taken
    taken[:] = -1
    kind = draw(random)
    if kind < _FILLING:
        return int(below(random, len(near.price)))
    taken[0] = below(random, len(agent))
    i = agent[taken[0]]
    if kind < _FILLING + _PAIRS:
        listed = near.first[i + 1] - near.first[i]
        for _ in range(_TRIES if listed > 0 else 0):
            j = near.task[near.first[i] + below(random, listed)]
            if agent[j] == i and j != taken[0]:
                taken[1] = j
                break
    return int(i)


@inner
def _apply(near: Near, now: Assigned, beam: Beam, moves: int) -> None:
    """Carry out the moves of the best chain."""
    agent, room, weight = now.agent, now.room, near.weight
    for s in range(moves):
        j, b = beam.path[s, 0], beam.path[s, 1]
        room[agent[j]] += weight[j, agent[j]]
        room[b] -= weight[j, b]
        agent[j] = b


@inner
def _fits(room: Floats) -> bool:
    """Whether no agent is above its capacity."""
    for i in range(len(room)):  # noqa: SIM110 (compiled)
        if room[i] < -_TINY:
            return False
    return True


@jit
def search(
    near: Near,
    agent: Ints,
    room: Floats,
    best: Ints,
    least: float,
    heat: float,
    count: int,
    beam: Beam,
    random: State,
) -> float:
    """Take chains.

    Args:
        near: Likely entries and prices. The lists have the entries of ``agent``.
        agent: (tasks,) agent of each task; changed in place.
        room: (agents,) room left on each; changed in place.
        best: (tasks,) the best assignment within the capacities; changed in place.
        least: Its energy, infinite if there is none.
        heat: In units of cost.
        count: Number of chains.
        beam: Scratch space.
        random: State of the random numbers.

    Returns:
        The energy of ``best``.
    """
    agents = len(room)
    now = Assigned(agent, room)
    energy = 0.0
    for j in range(len(agent)):
        energy += near.reduced[j, agent[j]]
    for i in range(agents):
        energy += room_cost(near, i, room[i])
    for _ in range(count):
        i, swaps = _take(near, now, beam, random), draw(random) < _SWAPS
        limit = -heat * np.log(1.0 - draw(random)) - _TINY
        ahead = _AHEAD * energy / agents
        change, moves = _best_chain(near, now, beam, i, swaps, ahead, limit)
        if moves:
            _apply(near, now, beam, moves)
            energy += change
            if energy < least - _TINY and _fits(room):
                least = energy
                copy(agent, best)
    return least
