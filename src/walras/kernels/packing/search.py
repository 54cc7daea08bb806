"""Compiled search for packings: fill machines, empty some and fill them again in another order.

Items of a type are alike but for where they were before, so that the free ones of a type form one
stack. The search removes the items of a few machines, fills these again in a random order of types,
and keeps the result where it is worth no less (ruin and recreate: Schrimpf et al., 2000).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from walras.kernels.local_search.random_numbers import State, below, draw
from walras.kernels.packing.machines import Machines, Types, fits, put, take_back
from walras.kernels.parallel import inner, jit
from walras.kernels.room import filled_ints, floats, ints
from walras.types import Floats, Ints, Longs

_SEEN = 16  # free items of a type among which one that was on the machine is looked for
_MOST = 4  # machines that are emptied at once


class Packing(NamedTuple):
    """Items on machines, and free ones.

    Attributes:
        kind: (items,) type of each.
        was: (items,) its machine before, -1 for none.
        home: (items,) its machine now, -1 for none.
        first: (items,) place of its first request in ``chosen``.
        chosen: (requests,) device of each request.
        after: (items,) the next item on the same machine, or the next free one of the type; -1 at
            the end.
        top: (machines,) an item on each machine, or -1.
        free: (types,) a free item of each type, or -1.
        move_price: (items,) what it costs an item to be on another machine than before.
    """

    kind: Ints
    was: Ints
    home: Ints
    first: Longs
    chosen: Ints
    after: Ints
    top: Ints
    free: Ints
    move_price: Floats


@inner
def _popped(packing: Packing, j: int, i: int) -> int:
    """A free item of type j, taken off its stack: one that was on machine i, else a new one."""
    best, before_best, rank = -1, -1, 3
    before, item = -1, packing.free[j]
    for _ in range(_SEEN):
        if item < 0:
            break
        own = 0 if packing.was[item] == i else (1 if packing.was[item] < 0 else 2)
        if own < rank:
            best, before_best, rank = item, before, own
            if own == 0:
                break
        before, item = item, packing.after[item]
    if before_best < 0:
        packing.free[j] = packing.after[best]
    else:
        packing.after[before_best] = packing.after[best]
    return best


@inner
def _worth(packing: Packing, types: Types, item: int) -> float:
    """What an item brings where it is."""
    moved = packing.was[item] >= 0 and packing.was[item] != packing.home[item]
    return float(types.value[packing.kind[item]] - packing.move_price[item] * moved)


@inner
def _settle(packing: Packing, machines: Machines, types: Types, item: int, i: int) -> None:
    j = packing.kind[item]
    put(machines, i, types, j, packing.chosen, packing.first[item])
    packing.home[item], packing.after[item] = i, packing.top[i]
    packing.top[i] = item


@inner
def _filled(
    packing: Packing,
    machines: Machines,
    types: Types,
    i: int,
    order: Longs,
    most: Ints,
    scratch: Ints,
) -> float:
    """Fill machine i with free items, at most ``most`` of a type; returns their worth."""
    total = 0.0
    for j in order:
        count = 0
        while packing.free[j] >= 0 and count < most[j] and fits(machines, i, types, j, scratch):
            item = _popped(packing, j, i)
            packing.home[item] = i
            gain = _worth(packing, types, item)
            if gain < 0.0:  # moving it costs more than it is worth
                packing.home[item] = -1
                packing.after[item] = packing.free[j]
                packing.free[j] = item
                break
            _settle(packing, machines, types, item, i)
            total += gain
            count += 1
    return total


@inner
def _emptied(packing: Packing, machines: Machines, types: Types, i: int) -> float:
    """Free all items of machine i; returns what they were worth."""
    total, item = 0.0, packing.top[i]
    while item >= 0:
        j, following = packing.kind[item], packing.after[item]
        total += _worth(packing, types, item)
        take_back(machines, i, types, j, packing.chosen, packing.first[item])
        packing.home[item], packing.after[item] = -1, packing.free[j]
        packing.free[j] = item
        item = following
    packing.top[i] = -1
    return total


@jit
def fill(
    packing: Packing, machines: Machines, types: Types, which: Longs, order: Longs, most: Ints
) -> float:
    """Fill machines, one after the other, with free items in an order of types; at most ``most``.

    Returns the worth of what they got.
    """
    scratch = ints(machines.device.shape[1])
    total = 0.0
    for i in which:
        total += _filled(packing, machines, types, i, order, most, scratch)
    return total


@jit
def restore(packing: Packing, machines: Machines, types: Types) -> None:
    """Take the items' homes and devices as given: what is left, and the lists, follow from them."""
    packing.top[:], packing.free[:] = -1, -1
    for item in range(len(packing.kind) - 1, -1, -1):  # so that the first are taken first
        i, j = packing.home[item], packing.kind[item]
        if i < 0:
            packing.after[item] = packing.free[j]
            packing.free[j] = item
            continue
        _placed_again(packing, machines, types, item, i)


@inner
def _placed_again(packing: Packing, machines: Machines, types: Types, item: int, i: int) -> None:
    """Put an item on machine i, on the devices that it had there."""
    j = packing.kind[item]
    for r in range(types.need.shape[1]):
        machines.left[i, r] -= types.need[j, r]
    for at in range(types.group_ptr[j], types.group_ptr[j + 1]):
        group = types.group[at]
        machines.held[i, group >> 6] |= np.uint64(1) << np.uint64(group & 63)
    for at in range(types.ptr[j], types.ptr[j + 1]):
        k = packing.chosen[packing.first[item] + at - types.ptr[j]]
        machines.device[i, k] -= types.request[at]
    packing.home[item], packing.after[item] = i, packing.top[i]
    packing.top[i] = item


@inner
def _random_order(
    packing: Packing, types: Types, size: Floats, score: Floats, state: State
) -> Longs:
    """Types by their value over a random mean of their sizes, the greatest first."""
    lean = np.empty(size.shape[1])
    for r in range(len(lean)):
        lean[r] = -np.log(1.0 - draw(state))
    for j in range(len(score)):
        score[j] = np.inf
        if packing.free[j] >= 0:
            weight = 1e-9
            for r in range(len(lean)):
                weight += lean[r] * size[j, r]
            score[j] = -types.value[j] / weight * (0.5 + draw(state))
    return np.argsort(score)


@inner
def _changed(
    packing: Packing, machines: Machines, types: Types, chosen: Longs, saved: Ints
) -> tuple[float, int]:
    """Empty the chosen machines; remember items, homes and devices. Returns worth and number."""
    count, worth, at = 0, 0.0, 0
    for i in chosen:
        item = packing.top[i]
        while item >= 0:
            j = packing.kind[item]
            requests = types.ptr[j + 1] - types.ptr[j]
            if at + 3 + requests > len(saved):
                return worth, -1
            saved[at], saved[at + 1], saved[at + 2] = item, i, requests
            for k in range(requests):
                saved[at + 3 + k] = packing.chosen[packing.first[item] + k]
            at += 3 + requests
            count += 1
            item = packing.after[item]
    for i in chosen:
        worth += _emptied(packing, machines, types, i)
    return worth, count


@inner
def _undo(
    packing: Packing, machines: Machines, types: Types, chosen: Longs, saved: Ints, count: int
) -> None:
    """Give the chosen machines back the items that were remembered."""
    for i in chosen:
        _emptied(packing, machines, types, i)
    at = 0
    for _ in range(count):
        item, i, requests = saved[at], saved[at + 1], saved[at + 2]
        j = packing.kind[item]
        for k in range(requests):
            packing.chosen[packing.first[item] + k] = saved[at + 3 + k]
        _unlink_free(packing, j, item)
        _placed_again(packing, machines, types, item, i)
        at += 3 + requests


@inner
def _unlink_free(packing: Packing, j: int, item: int) -> None:
    before, at = -1, packing.free[j]
    while at != item:
        before, at = at, packing.after[at]
    if before < 0:
        packing.free[j] = packing.after[item]
    else:
        packing.after[before] = packing.after[item]


@jit
def improve(
    packing: Packing,
    machines: Machines,
    types: Types,
    size: Floats,
    attempts: int,
    state: State,
) -> float:
    """Empty a few machines and fill them again, many times; returns what was gained.

    ``size``: (types, sizes) what an item takes of each resource and of the devices, relative to
    what a machine has of it.
    """
    devices = machines.device.shape[1]
    scratch, saved = ints(devices), ints(1 << 16)
    score, most = floats(len(types.value)), filled_ints(len(types.value), 1 << 30)
    gained = 0.0
    for _ in range(attempts):
        count = 1 + below(state, min(_MOST, len(machines.model)))
        chosen = np.empty(count, dtype=np.int64)
        for k in range(count):
            chosen[k] = below(state, len(machines.model))
            for before in range(k):
                if chosen[before] == chosen[k]:
                    chosen[k] = -1
                    break
        chosen = chosen[chosen >= 0]
        was, held = _changed(packing, machines, types, chosen, saved)
        if held < 0:
            continue
        now = 0.0
        for i in chosen:
            order = _random_order(packing, types, size, score, state)
            now += _filled(packing, machines, types, i, order, most, scratch)
        if now < was - 1e-12 * abs(was):
            _undo(packing, machines, types, chosen, saved, held)
        else:
            gained += now - was
    return gained


@jit
def put_running(packing: Packing, machines: Machines, types: Types, order: Longs) -> None:
    """Put free items on the machines that they were on, in an order, where they fit."""
    scratch = ints(machines.device.shape[1])
    for item in order:
        i, j = packing.was[item], packing.kind[item]
        if i >= 0 and fits(machines, i, types, j, scratch):
            put(machines, i, types, j, packing.chosen, packing.first[item])
            packing.home[item] = i
