"""Compiled balancing of loads over given replicas: augmenting paths between servers.

Replicas link servers and shards, and a shard's load may be split over its replicas in any way. Load
reaches a server with too little load along a chain of replicas: one of its shards takes load from
the same shard on a second server, which takes load from a third. If no chain is left, the servers
that the search reached are a cut. It proves that no split over these replicas is feasible
(Hoffman's circulation theorem).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from walras.kernels.local_search.random_numbers import State, seeded
from walras.kernels.parallel import inner, jit
from walras.types import Floats, Ints

Bytes = npt.NDArray[np.int8]

FREE, OLD, NEW = 0, 1, 2  # kinds of a replica's slot


class Replicas(NamedTuple):
    """A placement under change; lists of replicas by server and by shard.

    Attributes:
        server: (slots,) server of each replica.
        shard: (slots,) its shard.
        load: (slots,) its load.
        kind: (slots,) ``FREE``, ``OLD`` (was there before) or ``NEW``.
        next_at: (slots,) next replica of the same server, -1 at the end.
        next_of: (slots,) next replica of the same shard, -1 at the end.
        first_at: (servers,) first replica of each server.
        first_of: (shards,) first replica of each shard.
        spare: (slots,) stack of free slots.
        left: (1,) number of free slots.
        total: (servers,) load of each server.
        used: (servers,) memory in use.
    """

    server: Ints
    shard: Ints
    load: Floats
    kind: Bytes
    next_at: Ints
    next_of: Ints
    first_at: Ints
    first_of: Ints
    spare: Ints
    left: Ints
    total: Floats
    used: Floats


class Limits(NamedTuple):
    """The limits of a placement.

    Attributes:
        lower: (servers,) least load.
        upper: (servers,) largest load.
        memory: (servers,) room for replicas; negative if none may be added.
        footprint: (shards,) memory of a replica.
        cost: (shards,) cost of a new replica, > 0.
        size: (shards,) load of each shard.
        tiny: Load that counts as zero.
    """

    lower: Floats
    upper: Floats
    memory: Floats
    footprint: Floats
    cost: Floats
    size: Floats
    tiny: float


class Chain(NamedTuple):
    """Scratch space of a search; clean between searches.

    Attributes:
        taker: (servers,) replica that gains load at the search's entry to the server.
        giver: (servers,) replica that loses load.
        before: (servers,) server from which the search came, -1 if not seen.
        queue: (servers,) servers in the order in which they were seen.
        seen: (shards,) 1 if a shard's replicas have been visited.
        looked: (shards,) these shards.
        size: (2,) numbers of servers and shards seen.
        random: (1,) state of the random numbers.
    """

    taker: Ints
    giver: Ints
    before: Ints
    queue: Ints
    seen: Bytes
    looked: Ints
    size: Ints
    random: State


def make_replicas(server: Ints, shard: Ints, load: Floats, limits: Limits, extra: int) -> Replicas:
    """A placement of old replicas with room for ``extra`` new ones."""
    servers, shards = len(limits.lower), len(limits.size)
    slots = len(server) + extra

    def ints(size: int, fill: int = -1) -> Ints:
        return np.full(size, fill, dtype=np.int32)

    replicas = Replicas(
        ints(slots),
        ints(slots),
        np.zeros(slots),
        np.zeros(slots, dtype=np.int8),
        ints(slots),
        ints(slots),
        ints(servers),
        ints(shards),
        np.arange(slots - 1, -1, -1, dtype=np.int32),
        ints(1, slots),
        np.zeros(servers),
        np.zeros(servers),
    )
    _put_all(replicas, limits, server, shard, load)
    return replicas


def copied(replicas: Replicas) -> Replicas:
    """A copy of a placement."""
    arrays: list[Any] = [array.copy() for array in replicas]
    return Replicas(*arrays)


def make_chain(servers: int, shards: int) -> Chain:
    """Clean scratch space."""

    def ints(size: int) -> Ints:
        return np.full(size, -1, dtype=np.int32)

    return Chain(
        ints(servers),
        ints(servers),
        ints(servers),
        ints(servers),
        np.zeros(shards, dtype=np.int8),
        ints(shards),
        np.zeros(2, dtype=np.int32),
        seeded(0),
    )


@jit
def put(replicas: Replicas, limits: Limits, i: int, j: int, amount: float, kind: int) -> int:
    """Add a replica of shard j on server i; return its slot."""
    replicas.left[0] -= 1
    e = replicas.spare[replicas.left[0]]
    replicas.server[e], replicas.shard[e] = i, j
    replicas.load[e], replicas.kind[e] = amount, kind
    replicas.next_at[e], replicas.first_at[i] = replicas.first_at[i], e
    replicas.next_of[e], replicas.first_of[j] = replicas.first_of[j], e
    replicas.total[i] += amount
    replicas.used[i] += limits.footprint[j]
    return int(e)


@jit
def _put_all(replicas: Replicas, limits: Limits, server: Ints, shard: Ints, load: Floats) -> None:
    for k in range(len(server)):
        put(replicas, limits, server[k], shard[k], load[k], OLD)


@inner
def take(replicas: Replicas, limits: Limits, e: int) -> None:
    """Remove replica ``e`` and its load."""
    i, j = replicas.server[e], replicas.shard[e]
    f = replicas.first_at[i]
    if f == e:
        replicas.first_at[i] = replicas.next_at[e]
    else:
        while replicas.next_at[f] != e:
            f = replicas.next_at[f]
        replicas.next_at[f] = replicas.next_at[e]
    f = replicas.first_of[j]
    if f == e:
        replicas.first_of[j] = replicas.next_of[e]
    else:
        while replicas.next_of[f] != e:
            f = replicas.next_of[f]
        replicas.next_of[f] = replicas.next_of[e]
    replicas.total[i] -= replicas.load[e]
    replicas.used[i] -= limits.footprint[j]
    replicas.kind[e], replicas.load[e] = FREE, 0.0
    replicas.spare[replicas.left[0]] = e
    replicas.left[0] += 1


@inner
def _search(replicas: Replicas, limits: Limits, chain: Chain, start: int, filling: bool) -> int:
    """Search breadth-first for a server that can give to ``start`` (or take from it); or -1."""
    chain.before[start] = start
    chain.queue[0] = start
    head, tail, looked, found = 0, 1, 0, -1
    while head < tail and found < 0:
        a = chain.queue[head]
        head += 1
        e = replicas.first_at[a]
        while e >= 0 and found < 0:
            j = replicas.shard[e]
            if chain.seen[j] == 0 and (filling or replicas.load[e] > limits.tiny):
                # When filling, one look at a shard shows every server that can give. When shedding,
                # any replica can take, so one look is enough again.
                chain.seen[j] = 1
                chain.looked[looked] = j
                looked += 1
                f = replicas.first_of[j]
                while f >= 0:
                    b = replicas.server[f]
                    if chain.before[b] < 0 and (not filling or replicas.load[f] > limits.tiny):
                        chain.before[b] = a
                        chain.taker[b] = e if filling else f
                        chain.giver[b] = f if filling else e
                        chain.queue[tail] = b
                        tail += 1
                        spare = (
                            replicas.total[b] - limits.lower[b]
                            if filling
                            else limits.upper[b] - replicas.total[b]
                        )
                        if spare > limits.tiny:
                            found = b
                            break
                    f = replicas.next_of[f]
            e = replicas.next_at[e]
    chain.size[0], chain.size[1] = tail, looked
    return int(found)


@inner
def _clear(chain: Chain) -> None:
    for k in range(chain.size[0]):
        chain.before[chain.queue[k]] = -1
    for k in range(chain.size[1]):
        chain.seen[chain.looked[k]] = 0
    chain.size[0] = chain.size[1] = 0


@inner
def relieve(replicas: Replicas, limits: Limits, chain: Chain, i: int, filling: bool) -> bool:
    """Fill server i to its least load, or shed its load above the largest, if chains allow.

    Returns whether the server keeps to that limit afterwards.
    """
    while True:
        need = limits.lower[i] - replicas.total[i]
        if not filling:
            need = replicas.total[i] - limits.upper[i]
        if need <= limits.tiny:
            return True
        end = _search(replicas, limits, chain, i, filling)
        if end < 0:
            _clear(chain)
            return False
        amount = replicas.total[end] - limits.lower[end]
        if not filling:
            amount = limits.upper[end] - replicas.total[end]
        amount = min(amount, need)
        b = end
        while b != i:
            amount = min(amount, replicas.load[chain.giver[b]])
            b = chain.before[b]
        b = end
        while b != i:
            replicas.load[chain.giver[b]] -= amount
            replicas.load[chain.taker[b]] += amount
            b = chain.before[b]
        sign = 1.0 if filling else -1.0
        replicas.total[i] += sign * amount
        replicas.total[end] -= sign * amount
        _clear(chain)


@jit
def balance(replicas: Replicas, limits: Limits, chain: Chain) -> float:
    """Split loads over the existing replicas; return the remaining violation."""
    for _ in range(2):
        for filling in (True, False):
            for i in range(len(limits.lower)):
                relieve(replicas, limits, chain, i, filling)
    return float(violation(replicas, limits))


@jit
def violation(replicas: Replicas, limits: Limits) -> float:
    """Load below the least and above the largest, summed over servers."""
    out = 0.0
    for i in range(len(limits.lower)):
        out += max(0.0, limits.lower[i] - replicas.total[i] - limits.tiny)
        out += max(0.0, replicas.total[i] - limits.upper[i] - limits.tiny)
    return float(out)


@jit
def closure(replicas: Replicas, limits: Limits, chain: Chain, i: int, filling: bool) -> int:
    """The servers from which nothing more can come to i (or to which nothing more can go).

    They are the first entries of ``chain.queue``; returns their number. ``chain.before`` still
    marks them; call :func:`forget` after reading. It is for a server that :func:`relieve` could not
    relieve.
    """
    _search(replicas, limits, chain, i, filling)
    return int(chain.size[0])


@jit
def forget(chain: Chain) -> None:
    """Clean the scratch space after :func:`closure`."""
    _clear(chain)
