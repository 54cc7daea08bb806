"""Compiled search for patterns: what one machine may hold that is worth most at given prices."""

from __future__ import annotations

import numpy as np

from walras.kernels.local_search.random_numbers import State, below, draw
from walras.kernels.packing.machines import Machines, Types, fits, largest_first, put
from walras.kernels.parallel import copy, inner, jit
from walras.types import Floats, Ints, Longs


@inner
def _order(worth: Floats, size: Floats, score: Floats, state: State) -> Longs:
    """Types by worth over a random mean of their sizes, the greatest first."""
    lean = np.empty(size.shape[1])
    for r in range(len(lean)):
        lean[r] = -np.log(1.0 - draw(state))
    for j in range(len(worth)):
        score[j] = np.inf
        if worth[j] > 0.0:
            weight = 1e-9
            for r in range(len(lean)):
                weight += lean[r] * size[j, r]
            score[j] = -worth[j] / weight * (0.7 + 0.6 * draw(state))
    return np.argsort(score)


@inner
def _completed(
    count: Ints,
    machine: Machines,
    types: Types,
    limit: Ints,
    worth: Floats,
    order: Longs,
    scratch: Ints,
    chosen: Ints,
) -> float:
    """Add items in an order of types while they fit; returns the worth of those added."""
    total = 0.0
    for j in order:
        if worth[j] <= 0.0:
            break
        while count[j] < limit[j] and fits(machine, 0, types, j, scratch):
            put(machine, 0, types, j, chosen, 0)
            count[j] += 1
            total += worth[j]
    return total


@inner
def _packed(
    count: Ints, machine: Machines, types: Types, scratch: Ints, chosen: Ints, order: Longs
) -> None:
    """Put the items of a pattern on the empty machine, the largest first; drop what does not fit.

    Best fit depends on the order of the requests, so a pattern found in another may not fit.
    """
    for j in order:
        for k in range(count[j]):
            if not fits(machine, 0, types, j, scratch):
                count[j] = k
                break
            put(machine, 0, types, j, chosen, 0)


@jit
def search_pattern(
    machines: Machines,
    i: int,
    types: Types,
    size: Floats,
    worth: Floats,
    limit: Ints,
    attempts: int,
    state: State,
) -> tuple[Ints, float]:
    """The best pattern found for the empty machine i: (types,) numbers of items, and its worth.

    ``worth``: (types,) of an item; types with none are left out. ``limit``: (types,) most items.
    """
    scratch = np.zeros(machines.device.shape[1], dtype=np.int32)
    chosen = np.zeros(max(1, len(types.request)), dtype=np.int32)
    score = np.empty(len(worth))
    best, best_worth = np.zeros(len(worth), dtype=np.int32), 0.0
    largest = largest_first(types)
    for attempt in range(attempts):
        machine = Machines(
            machines.left[i : i + 1].copy(),
            machines.device[i : i + 1].copy(),
            machines.held[i : i + 1].copy(),
            machines.model[i : i + 1],
        )
        count = np.zeros(len(worth), dtype=np.int32)
        if attempt > attempts // 4:
            copy(best, count)
            for _ in range(1 + below(state, 3)):
                held = np.flatnonzero(count)
                if len(held) > 0:
                    count[held[below(state, len(held))]] -= 1
            _packed(count, machine, types, scratch, chosen, largest)
        total = 0.0
        for j in range(len(worth)):
            total += count[j] * worth[j]
        order = _order(worth, size, score, state)
        total += _completed(count, machine, types, limit, worth, order, scratch, chosen)
        if total > best_worth:
            best, best_worth = count, total
    return best, best_worth
