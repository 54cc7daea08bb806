"""Compiled covers: the cheapest replicas whose departure frees enough load and memory of a server.

A server with ``need`` too much of load and of memory must lose replicas x with

    min sum c_e x_e   with   sum l_e x_e >= need_l,   sum f_e x_e >= need_f,   x binary.

Branch and bound in the order of size per cost, where size is a weighted mean of the two rows, each
divided by its need and cut off there, which keeps all binary solutions. The weights are the costs
of the rows' own relaxations. The bound of a node is the largest of the linear relaxations of both
rows and of their mean. Where all costs are multiples of a unit, it is rounded up to one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from walras.kernels.parallel import inner, jit
from walras.types import Floats, Ints

_NODES = 4000  # of one search
_SURE = 1e-9  # relative rounding
LOAD, MEMORY, MEAN = 0, 1, 2


class Items(NamedTuple):
    """Scratch space for the replicas of one server; the first ``n`` entries count.

    Attributes:
        load: (most,) load that leaves with each replica.
        memory: (most,) memory that it frees.
        cost: (most,) its cost, > 0.
        size: (3, most) its size in each row, with a need of 1.
        order: (3, most) replicas by size per cost in each row, largest first.
        place: (most,) place of each replica in the order of the mean.
        stack: (most,) places of those chosen on the way.
        best: (most,) replicas of the best cover.
    """

    load: Floats
    memory: Floats
    cost: Floats
    size: Floats
    order: Ints
    place: Ints
    stack: Ints
    best: Ints


def make_items(most: int) -> Items:
    """Scratch space for at most so many replicas."""

    def ints(*shape: int) -> Ints:
        return np.zeros(shape, dtype=np.int32)

    load, memory, cost = np.zeros((3, most))
    rows = np.zeros((3, most))
    return Items(load, memory, cost, rows, ints(3, most), ints(most), ints(most), ints(most))


@inner
def _sort(items: Items, n: int, row: int) -> None:
    """Put the replicas in the order of size per cost in a row."""
    size, order = items.size[row], items.order[row]
    for e in range(n):
        k = e
        while k > 0:
            f = order[k - 1]
            if size[f] * items.cost[e] >= size[e] * items.cost[f]:
                break
            order[k] = f
            k -= 1
        order[k] = e


@inner
def _relaxed(items: Items, n: int, row: int, first: int, rest: float) -> float:
    """Cost of a row's linear relaxation on the replicas from place ``first`` on.

    Infinite if they are too little.
    """
    size, order, cost = items.size[row], items.order[row], 0.0
    for k in range(first if row == MEAN else 0, n):
        if rest <= _SURE:
            break
        e = order[k]
        if items.place[e] < first:
            continue
        if size[e] <= 0.0:
            return np.inf
        cost += min(1.0, rest / size[e]) * items.cost[e]
        rest -= size[e]
    return cost if rest <= _SURE else np.inf


@inner
def _prepare(items: Items, n: int, need_load: float, need_memory: float) -> None:
    """Set sizes and orders of all rows."""
    for e in range(n):
        items.place[e] = 0
        items.size[LOAD, e] = items.size[MEMORY, e] = 0.0
        if need_load > 0.0:
            items.size[LOAD, e] = min(items.load[e], need_load) / need_load
        if need_memory > 0.0:
            items.size[MEMORY, e] = min(items.memory[e], need_memory) / need_memory
    weight = 0.0 if need_memory > 0.0 else 1.0
    if need_load > 0.0 and need_memory > 0.0:
        _sort(items, n, LOAD)
        _sort(items, n, MEMORY)
        load, memory = _relaxed(items, n, LOAD, 0, 1.0), _relaxed(items, n, MEMORY, 0, 1.0)
        weight = load / (load + memory)
    for e in range(n):
        items.size[MEAN, e] = weight * items.size[LOAD, e] + (1.0 - weight) * items.size[MEMORY, e]
    _sort(items, n, MEAN)
    for k in range(n):
        items.place[items.order[MEAN, k]] = k


@inner
def rounded(cost: float, unit: float) -> float:
    """The least multiple of the unit that is not below a cost; the cost if there is no unit."""
    return float(np.ceil(cost / unit - 1e-6) * unit) if unit > 0.0 else cost


@inner
def _bound(
    items: Items, n: int, first: int, load: float, memory: float, mean: float, both: bool
) -> float:
    """Least further cost, given what each row still needs."""
    found = _relaxed(items, n, MEAN, first, mean)
    if both and found < np.inf:
        found = max(found, _relaxed(items, n, LOAD, first, load))
        found = max(found, _relaxed(items, n, MEMORY, first, memory))
    return float(found)


@inner
def _greedy(items: Items, n: int, need_load: float, need_memory: float, most: float) -> int:
    """A cover in ``items.best``, the most relief of both needs per cost first; -1 if none."""
    count, taken = 0, 0.0
    for e in range(n):
        items.stack[e] = 0
    while need_load > 0.0 or need_memory > 0.0:
        best, score = -1, 0.0
        for e in range(n):
            if items.stack[e] == 1 or taken + items.load[e] > most:
                continue
            relief = 0.0
            if need_load > 0.0:
                relief += min(items.load[e] / need_load, 1.0)
            if need_memory > 0.0:
                relief += min(items.memory[e] / need_memory, 1.0)
            if relief > score * items.cost[e]:
                best, score = e, relief / items.cost[e]
        if best < 0:
            return -1
        items.best[count] = best
        items.stack[best] = 1
        count += 1
        taken += items.load[best]
        need_load -= items.load[best] * (1.0 + _SURE)
        need_memory -= items.memory[best] * (1.0 + _SURE)
    return count


@inner
def cover(
    items: Items, n: int, need_load: float, need_memory: float, most: float, unit: float
) -> tuple[float, int]:
    """The cheapest cover whose load is at most ``most``, in ``items.best``.

    Args:
        items: The replicas.
        n: Their number.
        need_load: Load that must leave; none if <= 0.
        need_memory: Memory that must be freed; none if <= 0.
        most: Load that may leave.
        unit: A unit of which all costs are multiples, or 0.

    Returns:
        A lower bound on the cost of such covers, and the number of replicas of the best one; -1 if
        none was found.
    """
    _prepare(items, n, need_load, need_memory)
    both = need_load > 0.0 and need_memory > 0.0
    root = rounded(_bound(items, n, 0, 1.0, 1.0, 1.0, both), unit)
    found, best = _greedy(items, n, need_load, need_memory, most), np.inf
    if found >= 0:
        best = 0.0
        for d in range(found):
            best += items.cost[items.best[d]]
    cost, load, memory, size = 0.0, 0.0, 0.0, 0.0
    depth, k, nodes = 0, 0, 0
    while nodes < _NODES and best > root * (1.0 + _SURE):
        nodes += 1
        back = False
        if load >= need_load * (1.0 - _SURE) and memory >= need_memory * (1.0 - _SURE):
            if cost < best:
                best, found = cost, depth
                for d in range(depth):
                    items.best[d] = items.order[MEAN, items.stack[d]]
            back = True
        elif k >= n:
            back = True
        else:
            lacks_load = 1.0 - load / need_load if both else 0.0
            lacks_memory = 1.0 - memory / need_memory if both else 0.0
            rest = _bound(items, n, k, lacks_load, lacks_memory, 1.0 - size, both)
            back = rounded(cost + rest, unit) >= best * (1.0 - _SURE)
        if back and depth == 0:  # all was searched
            return (best if found >= 0 else root), found
        if back:
            depth -= 1
            k = items.stack[depth]
        e = items.order[MEAN, k]
        sign = -1.0 if back else 1.0
        if back or load + items.load[e] <= most:
            if not back:
                items.stack[depth] = k
                depth += 1
            cost += sign * items.cost[e]
            load += sign * items.load[e]
            memory += sign * items.memory[e]
            size += sign * items.size[MEAN, e]
        k += 1
    return root, found


@jit
def departures(
    start: npt.NDArray[np.int64],
    load: Floats,
    memory: Floats,
    cost: Floats,
    need_load: Floats,
    need_memory: Floats,
    unit: float,
    items: Items,
    out: Floats,
) -> None:
    """A lower bound on what leaving replicas cost, for each server, in ``out``.

    Args:
        start: (servers + 1,) first replica of each server.
        load: (replicas,) load that leaves with each, in the order of servers.
        memory: (replicas,) memory that it frees.
        cost: (replicas,) its cost, > 0.
        need_load: (servers,) load that must leave; infinite if every replica must.
        need_memory: (servers,) memory that must be freed.
        unit: A unit of which all costs are multiples, or 0.
        items: Scratch space.
        out: (servers,) the bounds.
    """
    for i in range(len(need_load)):
        first, last = start[i], start[i + 1]
        out[i] = 0.0
        if need_load[i] == np.inf:
            for e in range(first, last):
                out[i] += cost[e]
        elif need_load[i] > 0.0 or need_memory[i] > 0.0:
            n = last - first
            for k in range(n):
                items.load[k] = load[first + k]
                items.memory[k] = memory[first + k]
                items.cost[k] = cost[first + k]
            out[i], _ = cover(items, n, need_load[i], need_memory[i], np.inf, unit)
