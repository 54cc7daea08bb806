"""Compiled moves of replicas between very many servers, each with a cost in proportion to a few.

A round has three passes. Servers with too much load or memory give the cheapest cover of it to a
pool. The pool's replicas, largest first, go to the server that lacks most among those with room.
Servers that still lack load pull one replica at a time from servers that can spare it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from walras.kernels.local_search.cover import Items, cover
from walras.kernels.local_search.flow import NEW, OLD, Limits, Replicas, put, take
from walras.kernels.local_search.tournament import (
    Rules,
    Tree,
    may_hold,
    neediest,
    update,
    update_all,
)
from walras.kernels.parallel import inner, jit
from walras.types import Floats, Ints

_DONORS = 96  # servers that a server in need looks at
_TRIES = 200  # replicas that a server in need pulls or moves out at most
_STAY = 1e3  # factor on the cost of what has just come to a server
_FULL = 1e-11  # relative rounding of memory in use


class Need(NamedTuple):
    """What a server below its least load lacks, and what it can take.

    Attributes:
        server: The server.
        lack: Load up to its least load.
        room: Load up to its largest.
        memory: Free memory.
        price: Least cost for which it frees a unit of memory; infinite if it cannot.
        least: Least load of its replicas.
    """

    server: int
    lack: float
    room: float
    memory: float
    price: float
    least: float


@inner
def _over(replicas: Replicas, limits: Limits, i: int) -> float:
    """Memory in use beyond what a server has."""
    if replicas.first_at[i] < 0:
        return 0.0
    most = max(0.0, limits.memory[i])
    over = replicas.used[i] - most
    return float(over) if over > _FULL * max(most, replicas.used[i]) else 0.0


@inner
def _keeps_spread(replicas: Replicas, rules: Rules, e: int) -> bool:
    """Whether a shard stands in enough zones without replica e."""
    zones = 0
    f = replicas.first_of[replicas.shard[e]]
    while f >= 0:
        if f != e:
            zone, first = rules.zone[replicas.server[f]], True
            g = replicas.first_of[replicas.shard[e]]
            while g != f:
                same = g != e and rules.zone[replicas.server[g]] == zone
                first = first and not same
                g = replicas.next_of[g]
            zones += first
        f = replicas.next_of[f]
    return zones >= rules.spread


@jit
def drop_spares(replicas: Replicas, limits: Limits, rules: Rules, items: Items) -> None:
    """Drop replicas from servers without memory for them where another one can take over."""
    for i in range(len(limits.lower)):
        if _over(replicas, limits, i) <= 0.0:
            continue
        n, e = 0, replicas.first_at[i]
        while e >= 0:
            items.place[n] = e
            n += 1
            e = replicas.next_at[e]
        for k in range(n):
            e = items.place[k]
            if _over(replicas, limits, i) > 0.0 and _keeps_spread(replicas, rules, e):
                _hand_over(replicas, limits, e)


@inner
def _hand_over(replicas: Replicas, limits: Limits, e: int) -> None:
    """Remove a replica; its load goes to the replica of its shard with most room."""
    best, most = -1, -np.inf
    f = replicas.first_of[replicas.shard[e]]
    while f >= 0:
        b = replicas.server[f]
        if f != e and limits.upper[b] - replicas.total[b] > most:
            best, most = f, limits.upper[b] - replicas.total[b]
        f = replicas.next_of[f]
    replicas.load[best] += replicas.load[e]
    replicas.total[replicas.server[best]] += replicas.load[e]
    take(replicas, limits, e)


@inner
def _gather(
    replicas: Replicas, limits: Limits, items: Items, i: int, slots: Ints, again: float
) -> int:
    """Put the replicas of a server into the scratch space of its cover."""
    n, e = 0, replicas.first_at[i]
    while e >= 0:
        j = replicas.shard[e]
        items.load[n] = replicas.load[e]
        items.memory[n] = limits.footprint[j]
        items.cost[n] = limits.cost[j] * (again if replicas.kind[e] == NEW else 1.0)
        slots[n] = e
        n += 1
        e = replicas.next_at[e]
    return n


@inner
def _choose(
    items: Items, n: int, need_load: float, need_memory: float, most: float, unit: float
) -> int:
    """The cheapest cover; one of load above ``most``, to be filled again, only if it costs less."""
    _, kept = cover(items, n, need_load, need_memory, most, unit)
    cost = 0.0
    for k in range(kept):
        cost += items.cost[items.best[k]]
    least, count = cover(items, n, need_load, need_memory, np.inf, unit)
    if kept < 0 or least < cost * (1.0 - 1e-9):
        return int(count)
    _, kept = cover(items, n, need_load, need_memory, most, unit)
    return int(kept)


@jit
def release(
    replicas: Replicas,
    limits: Limits,
    items: Items,
    slots: Ints,
    unit: float,
    again: float,
    splits: bool,
    shard: Ints,
    load: Floats,
) -> int:
    """Move the excess of every server to the pool; return the number of replicas in it.

    Args:
        replicas: The placement, changed in place.
        limits: The bands, and the memory; negative on draining servers.
        items: Scratch space.
        slots: Scratch space.
        unit: A unit of which all costs are multiples, or 0.
        again: Factor on the cost of replicas that are new; to move them again costs nothing more.
        splits: Whether a part of a replica's load may stay.
        shard: Gets the shards in the pool.
        load: Gets their loads.
    """
    size = 0
    for i in range(len(limits.lower)):
        excess, over = replicas.total[i] - limits.upper[i], _over(replicas, limits, i)
        if limits.memory[i] >= 0.0 and excess <= limits.tiny and over <= 0.0:
            continue
        n = _gather(replicas, limits, items, i, slots, again)
        if limits.memory[i] < 0.0:
            chosen = n
            for k in range(n):
                items.best[k] = k
        else:
            excess = excess if excess > limits.tiny else 0.0
            most = np.inf if splits else replicas.total[i] - limits.lower[i]
            chosen = _choose(items, n, excess, over, most, unit)
        for k in range(chosen):
            e = slots[items.best[k]]
            amount = replicas.load[e]
            spare = replicas.total[i] - limits.lower[i]
            shard[size], load[size] = replicas.shard[e], amount
            if splits and over <= 0.0 and limits.memory[i] >= 0.0 and spare < amount:
                load[size] = spare
                replicas.load[e] -= spare
                replicas.total[i] -= spare
            else:
                take(replicas, limits, e)
            size += 1
    return size


@jit
def settle(
    replicas: Replicas,
    limits: Limits,
    rules: Rules,
    tree: Tree,
    order: Ints,
    shard: Ints,
    load: Floats,
    splits: bool,
) -> int:
    """Place the pool in an order; return how many replicas went where a limit is exceeded.

    Such a replica goes where memory is, else where load fits, else anywhere: a later round moves
    something else out.
    """
    update_all(tree, replicas, limits)
    forced = 0
    for k in range(len(order)):
        j, rest = shard[order[k]], load[order[k]]
        memory = limits.footprint[j]
        while True:
            i = neediest(tree, replicas, rules, j, rest - limits.tiny, memory)
            amount = rest
            if i < 0 and splits:
                i = neediest(tree, replicas, rules, j, limits.tiny, memory)
                if i >= 0:
                    amount = min(rest, tree.room[len(tree.room) // 2 + i])
            if i < 0:
                forced += 1
                i = neediest(tree, replicas, rules, j, -np.inf, memory)
            if i < 0:
                i = neediest(tree, replicas, rules, j, rest - limits.tiny, 0.0)
            if i < 0:
                i = neediest(tree, replicas, rules, j, -np.inf, 0.0)
            if i < 0 or replicas.left[0] == 0:
                return -1
            put(replicas, limits, i, j, amount, NEW)
            update(tree, replicas, limits, i)
            rest -= amount
            if rest <= limits.tiny:
                break
    return forced


@inner
def _need(replicas: Replicas, limits: Limits, i: int) -> Need:
    """What server i lacks, and what it can take."""
    price, least = np.inf, np.inf
    e = replicas.first_at[i]
    while e >= 0:
        j = replicas.shard[e]
        price = min(price, limits.cost[j] / limits.footprint[j])
        least = min(least, replicas.load[e])
        e = replicas.next_at[e]
    total, memory = replicas.total[i], limits.memory[i] - replicas.used[i]
    return Need(i, limits.lower[i] - total, limits.upper[i] - total, memory, price, least)


@inner
def _offer(
    replicas: Replicas, limits: Limits, rules: Rules, need: Need, b: int, splits: bool, again: float
) -> tuple[int, float]:
    """The replica of server b that helps a server in need most for its cost, and its score.

    Where memory for it is lacking, another one must leave: its load is at least ``least``, and it
    costs ``price`` for each unit of memory.
    """
    spare = replicas.total[b] - limits.lower[b]
    best, most = -1, 0.0
    e = replicas.first_at[b]
    while e >= 0:
        j, amount = replicas.shard[e], replicas.load[e]
        if splits:
            amount = min(amount, min(spare, need.room))
        lacks = max(0.0, limits.footprint[j] - need.memory)
        fits = lacks <= 0.0 or need.price < np.inf
        if limits.tiny < amount <= min(spare, need.room) and fits:
            cost = limits.cost[j] * (again if replicas.kind[e] == NEW else 1.0)
            helps = amount
            if lacks > 0.0:
                cost += need.price * lacks
                helps -= need.least
            # Of two that do, the smaller one leaves the giver more.
            score = min(helps, need.lack) / cost * (1.0 - 1e-3 * amount / need.room)
            if score > most and may_hold(replicas, rules, need.server, j):
                best, most = e, score
        e = replicas.next_at[e]
    return int(best), float(most)


@inner
def _search_donors(
    replicas: Replicas,
    limits: Limits,
    rules: Rules,
    donors: Ints,
    turn: int,
    i: int,
    splits: bool,
    again: float,
) -> tuple[int, int]:
    """The best offer to server i of the next donors in turn, and how many were looked at."""
    best, most, looked = -1, 0.0, 0
    need = _need(replicas, limits, i)
    for k in range(len(donors)):
        b = donors[(turn + k) % len(donors)]
        if b == i or replicas.total[b] - limits.lower[b] <= limits.tiny:
            continue
        e, score = _offer(replicas, limits, rules, need, b, splits, again)
        looked += 1
        if score > most:
            best, most = e, score
        if looked >= _DONORS and best >= 0:
            break
    return best, looked


@inner
def _make_room(
    replicas: Replicas,
    limits: Limits,
    rules: Rules,
    tree: Tree,
    items: Items,
    slots: Ints,
    i: int,
    need: float,
    most: float,
) -> bool:
    """Free memory on server i by moving replicas of little load elsewhere."""
    n = _gather(replicas, limits, items, i, slots, _STAY)
    _, chosen = cover(items, n, 0.0, need, most, 0.0)
    for k in range(chosen):
        items.place[k] = slots[items.best[k]]
    for k in range(chosen):
        e = items.place[k]
        j, amount = replicas.shard[e], replicas.load[e]
        take(replicas, limits, e)
        tree.lack[len(tree.lack) // 2 + i] = -np.inf  # not back to where it was
        to = neediest(tree, replicas, rules, j, amount - limits.tiny, limits.footprint[j])
        if to == i or to < 0:
            put(replicas, limits, i, j, amount, NEW)
            update(tree, replicas, limits, i)
            return False
        put(replicas, limits, to, j, amount, NEW)
        update(tree, replicas, limits, i)
        update(tree, replicas, limits, to)
    return bool(chosen > 0)


@jit
def pull(
    replicas: Replicas,
    limits: Limits,
    rules: Rules,
    tree: Tree,
    items: Items,
    slots: Ints,
    donors: Ints,
    needy: Ints,
    splits: bool,
    again: float,
) -> int:
    """Fill the needy servers one replica at a time; return how many stay in need.

    Args:
        replicas: The placement, changed in place.
        limits: The bands.
        rules: Where replicas may be.
        tree: The servers' limits.
        items: Scratch space.
        slots: Scratch space.
        donors: Servers that can spare load, those with most first.
        needy: Servers below their least load.
        splits: Whether a part of a replica's load may stay.
        again: Factor on the cost of replicas that are new.
    """
    update_all(tree, replicas, limits)
    left, turn = 0, 0
    for i in needy:
        tries = 0
        while limits.lower[i] - replicas.total[i] > limits.tiny:
            tries += 1
            best, looked = _search_donors(replicas, limits, rules, donors, turn, i, splits, again)
            if best < 0 or replicas.left[0] == 0 or tries > _TRIES:
                left += 1
                break
            j, amount, b = replicas.shard[best], replicas.load[best], replicas.server[best]
            lacks = limits.footprint[j] - (limits.memory[i] - replicas.used[i])
            if lacks > 0.0:
                most = max(0.5 * amount, amount - (limits.lower[i] - replicas.total[i]))
                freed = _make_room(replicas, limits, rules, tree, items, slots, i, lacks, most)
                if not freed:
                    freed = _make_room(
                        replicas, limits, rules, tree, items, slots, i, lacks, np.inf
                    )
                if not freed:
                    left += 1
                    break
                continue
            turn += looked
            spare = replicas.total[b] - limits.lower[b]
            room = limits.upper[i] - replicas.total[i]
            if splits and amount > min(spare, room):
                amount = min(spare, room)
                replicas.load[best] -= amount
                replicas.total[b] -= amount
            else:
                take(replicas, limits, best)
            put(replicas, limits, i, j, amount, NEW)
            update(tree, replicas, limits, i)
            update(tree, replicas, limits, b)
    return left


@jit
def excess(replicas: Replicas, limits: Limits) -> float:
    """Load outside the bands and memory beyond its limits, each as a share of all there is."""
    load, memory, whole, bulk = 0.0, 0.0, 0.0, 0.0
    for i in range(len(limits.lower)):
        load += max(0.0, limits.lower[i] - replicas.total[i] - limits.tiny)
        load += max(0.0, replicas.total[i] - limits.upper[i] - limits.tiny)
        memory += _over(replicas, limits, i)
        whole += replicas.total[i]
        bulk += replicas.used[i]
    return float(load / whole + memory / bulk)


@jit
def go_home(replicas: Replicas, limits: Limits, rules: Rules, start: Ints, server: Ints) -> int:
    """Move replicas back where their shard was at first if all limits allow; return how many.

    Args:
        replicas: The placement, changed in place.
        limits: The bands.
        rules: Where replicas may be.
        start: (shards + 1,) first of each shard's servers at first.
        server: These servers.
    """
    count = 0
    for e in range(len(replicas.kind)):
        if replicas.kind[e] != NEW:
            continue
        i, j, amount = replicas.server[e], replicas.shard[e], replicas.load[e]
        if replicas.total[i] - amount < limits.lower[i]:
            continue
        take(replicas, limits, e)
        to, kind = i, NEW
        for k in range(start[j], start[j + 1]):
            b = server[k]
            fits = replicas.total[b] + amount <= limits.upper[b]
            fits = fits and replicas.used[b] + limits.footprint[j] <= limits.memory[b]
            if fits and may_hold(replicas, rules, b, j):
                to, kind = b, OLD
        put(replicas, limits, to, j, amount, kind)
        count += kind == OLD
    return count
