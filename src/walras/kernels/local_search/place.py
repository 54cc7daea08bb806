"""Compiled search for the fewest new replicas that bring every server's load into its band.

A new replica of a shard splits its load. The construction serves the neediest server first, from
the replica with the most relief for its cost. The local search removes one new replica (a move),
two (a swap) or a few at once (an ejection chain), balances the rest, and builds again in a shaken
order. A result that costs no more is kept.
"""

from __future__ import annotations

import numpy as np

from walras.kernels.local_search.flow import (
    FREE,
    NEW,
    Chain,
    Limits,
    Replicas,
    balance,
    put,
    relieve,
    take,
    violation,
)
from walras.kernels.local_search.random_numbers import State, below, draw
from walras.kernels.parallel import inner, jit
from walras.types import Ints

_SHAKE = 0.3  # relative noise of the scores when building again
_MOST = 6  # largest number of new replicas removed at once


@inner
def _holds(replicas: Replicas, i: int, j: int) -> bool:
    e = replicas.first_at[i]
    while e >= 0:
        if replicas.shard[e] == j:
            return True
        e = replicas.next_at[e]
    return False


@inner
def _idle(replicas: Replicas, limits: Limits, i: int) -> int:
    """The least needed replica without load on a server, -1 if there is none."""
    best, least = -1, np.inf
    e = replicas.first_at[i]
    while e >= 0:
        if replicas.load[e] <= limits.tiny:
            j = replicas.shard[e]
            others = replicas.next_of[replicas.first_of[j]] >= 0
            if others and limits.size[j] < least:
                best, least = e, limits.size[j]
        e = replicas.next_at[e]
    return int(best)


@inner
def _has_room(replicas: Replicas, limits: Limits, i: int, j: int) -> bool:
    """Whether one more replica of j fits on i after idle ones are removed."""
    free = limits.memory[i] - replicas.used[i]
    if free >= limits.footprint[j]:
        return True
    if limits.memory[i] < 0.0:
        return False
    e = replicas.first_at[i]
    while e >= 0:
        if replicas.load[e] <= limits.tiny:
            free += limits.footprint[replicas.shard[e]]
        e = replicas.next_at[e]
    return bool(free >= limits.footprint[j])


@inner
def _make_room(replicas: Replicas, limits: Limits, i: int, j: int) -> bool:
    while limits.memory[i] - replicas.used[i] < limits.footprint[j]:
        e = _idle(replicas, limits, i)
        if e < 0:
            return False
        # Its small load goes to another replica of the shard.
        f = replicas.first_of[replicas.shard[e]]
        if f == e:
            f = replicas.next_of[f]
        replicas.load[f] += replicas.load[e]
        replicas.total[replicas.server[f]] += replicas.load[e]
        take(replicas, limits, e)
    return True


@inner
def _source_for(replicas: Replicas, limits: Limits, i: int, shake: float, random: State) -> int:
    """The replica whose shard gives server i, which has too little, most relief for its cost."""
    lack = limits.lower[i] - replicas.total[i]
    room = limits.upper[i] - replicas.total[i]
    best, most = -1, 0.0
    for e in range(len(replicas.server)):
        if replicas.kind[e] == FREE or replicas.load[e] <= limits.tiny:
            continue
        b, j = replicas.server[e], replicas.shard[e]
        spare = min(replicas.load[e], replicas.total[b] - limits.lower[b])
        excess = min(replicas.load[e], max(0.0, replicas.total[b] - limits.upper[b]))
        if spare <= limits.tiny:
            continue
        score = (min(spare, lack) + min(excess, room)) / limits.cost[j]
        score *= 1.0 + shake * draw(random)
        if score > most and not _holds(replicas, i, j) and _has_room(replicas, limits, i, j):
            best, most = e, score
    return int(best)


@inner
def _target_for(
    replicas: Replicas, limits: Limits, i: int, shake: float, random: State
) -> tuple[int, int]:
    """A replica on server i, which has too much load, and the server that gets a copy of it."""
    excess = replicas.total[i] - limits.upper[i]
    best, target, most = -1, -1, 0.0
    e = replicas.first_at[i]
    while e >= 0:
        j = replicas.shard[e]
        if replicas.load[e] > limits.tiny:
            for b in range(len(limits.lower)):
                room = limits.upper[b] - replicas.total[b]
                if room <= limits.tiny:
                    continue
                lack = max(0.0, limits.lower[b] - replicas.total[b])
                moved = min(replicas.load[e], min(excess, room))
                score = (moved + min(lack, moved)) / limits.cost[j]
                score *= 1.0 + shake * draw(random)
                # Among servers with equal relief, take the emptiest.
                score += 1e-6 * room
                if (
                    score > most
                    and not _holds(replicas, b, j)
                    and _has_room(replicas, limits, b, j)
                ):
                    best, target, most = e, b, score
        e = replicas.next_at[e]
    return int(best), int(target)


@inner
def _worst(replicas: Replicas, limits: Limits, filling: bool) -> int:
    worst, most = -1, limits.tiny
    for i in range(len(limits.lower)):
        off = limits.lower[i] - replicas.total[i]
        if not filling:
            off = replicas.total[i] - limits.upper[i]
        if off > most:
            worst, most = i, off
    return int(worst)


@inner
def build(replicas: Replicas, limits: Limits, chain: Chain, shake: float, dearest: float) -> float:
    """Add replicas until every server is in its band.

    Args:
        replicas: The placement, changed in place.
        limits: The bands.
        chain: Scratch space.
        shake: Relative noise of the scores.
        dearest: Cost at which the search gives up.

    Returns:
        The cost of the added replicas, infinite if it gave up or found no way.
    """
    spent = 0.0
    while True:
        i = _worst(replicas, limits, True)
        if i >= 0:
            e = _source_for(replicas, limits, i, shake, chain.random)
            donor, target = -1 if e < 0 else replicas.server[e], i
        else:
            donor = _worst(replicas, limits, False)
            if donor < 0:
                return spent
            e, target = _target_for(replicas, limits, donor, shake, chain.random)
        if e < 0 or replicas.left[0] == 0:
            return np.inf
        j = replicas.shard[e]
        spent += limits.cost[j]
        if spent > dearest or not _make_room(replicas, limits, target, j):
            return np.inf
        put(replicas, limits, target, j, 0.0, NEW)
        for filling in (True, False):
            relieve(replicas, limits, chain, target if filling else donor, filling)


@inner
def cost_of_new(replicas: Replicas, limits: Limits) -> float:
    """Cost of the new replicas."""
    out = 0.0
    for e in range(len(replicas.kind)):
        if replicas.kind[e] == NEW:
            out += limits.cost[replicas.shard[e]]
    return float(out)


@inner
def _hand_over(replicas: Replicas, limits: Limits, e: int) -> bool:
    """Remove a replica; its load goes to the replica of the same shard on the emptiest server.

    Returns False, and changes nothing, if it is the shard's only replica.
    """
    best, room = -1, -np.inf
    f = replicas.first_of[replicas.shard[e]]
    while f >= 0:
        b = replicas.server[f]
        if f != e and limits.upper[b] - replicas.total[b] > room:
            best, room = f, limits.upper[b] - replicas.total[b]
        f = replicas.next_of[f]
    if best < 0:
        return False
    replicas.load[best] += replicas.load[e]
    replicas.total[replicas.server[best]] += replicas.load[e]
    take(replicas, limits, e)
    return True


@inner
def _roomiest(replicas: Replicas, limits: Limits, j: int, shake: float, random: State) -> int:
    """The server with most room for load, and with memory for a first replica of j; or -1."""
    best, most = -1, -np.inf
    for i in range(len(limits.lower)):
        room = limits.upper[i] - replicas.total[i] + shake * limits.upper[i] * draw(random)
        fits = limits.memory[i] - replicas.used[i] >= limits.footprint[j]
        if fits and room > most and not _holds(replicas, i, j):
            best, most = i, room
    return int(best)


@inner
def _move(replicas: Replicas, limits: Limits, e: int, shake: float, random: State) -> bool:
    """Move a whole replica to the roomiest server."""
    j, load = replicas.shard[e], replicas.load[e]
    i = _roomiest(replicas, limits, j, shake, random)
    if i < 0 or replicas.left[0] == 0:
        return False
    take(replicas, limits, e)
    put(replicas, limits, i, j, load, NEW)
    return True


@inner
def _clear_out(replicas: Replicas, limits: Limits, i: int, random: State) -> bool:
    """Remove a server's replicas until its memory suffices: first those with another replica."""
    while limits.memory[i] >= 0.0 and replicas.used[i] > limits.memory[i]:
        best, least, spare = -1, np.inf, False
        e = replicas.first_at[i]
        while e >= 0:
            j = replicas.shard[e]
            doubled = replicas.next_of[replicas.first_of[j]] >= 0
            loss = replicas.load[e] if doubled else limits.cost[j] / limits.footprint[j]
            if (doubled and not spare) or (doubled == spare and loss < least):
                best, least, spare = e, loss, doubled
            e = replicas.next_at[e]
        done = (
            _hand_over(replicas, limits, best)
            if spare
            else _move(replicas, limits, best, 0.0, random)
        )
        if not done:
            return False
    return True


@inner
def _copy(source: Replicas, target: Replicas) -> None:
    target.server[:] = source.server
    target.shard[:] = source.shard
    target.load[:] = source.load
    target.kind[:] = source.kind
    target.next_at[:] = source.next_at
    target.next_of[:] = source.next_of
    target.first_at[:] = source.first_at
    target.first_of[:] = source.first_of
    target.spare[:] = source.spare
    target.left[:] = source.left
    target.total[:] = source.total
    target.used[:] = source.used


@inner
def _settle(replicas: Replicas, limits: Limits, chain: Chain) -> None:
    """Relieve the servers outside their band, which are few after a few removals."""
    for _ in range(2):
        for filling in (True, False):
            for i in range(len(limits.lower)):
                need = limits.lower[i] - replicas.total[i]
                if not filling:
                    need = replicas.total[i] - limits.upper[i]
                if need > limits.tiny:
                    relieve(replicas, limits, chain, i, filling)


@inner
def _new_ones(replicas: Replicas, out: Ints) -> int:
    count = 0
    for e in range(len(replicas.kind)):
        if replicas.kind[e] == NEW:
            out[count] = e
            count += 1
    return count


@jit
def improve(
    replicas: Replicas,
    best: Replicas,
    limits: Limits,
    chain: Chain,
    rounds: int,
    cost: float,
    enough: float,
) -> tuple[float, int]:
    """Local search from a placement within all bands.

    Args:
        replicas: Scratch; ends as ``best``.
        best: The placement to begin from, and the best at the end.
        limits: The bands.
        chain: Scratch space.
        rounds: Number of attempts.
        cost: Cost of ``best``.
        enough: Cost at which to stop, such as a proved bound.

    Returns:
        The cost of the best placement, and the attempts that were made.
    """
    new = np.empty(len(replicas.kind), dtype=np.int32)
    _copy(best, replicas)
    for attempt in range(rounds):
        count = _new_ones(replicas, new)
        if cost <= enough + 1e-9 or count == 0:
            return cost, attempt
        # Attempts 0 ... count - 1 try each replica alone, since some are not needed at all.
        size = 1 if attempt < count else 1 + below(chain.random, min(_MOST, count))
        given = 0.0
        for k in range(size):
            pick = attempt % count if attempt < count else k + below(chain.random, count - k)
            e = new[pick]
            new[pick], new[k] = new[k], e
            j = replicas.shard[e]
            if _hand_over(replicas, limits, e):
                given += limits.cost[j]
            else:
                _move(replicas, limits, e, 1.0, chain.random)
        _settle(replicas, limits, chain)
        spent = build(replicas, limits, chain, _SHAKE, given)
        if spent <= given and violation(replicas, limits) <= 0.0:
            cost += spent - given
            _copy(replicas, best)
        else:
            _copy(best, replicas)
    return cost, rounds


@jit
def start(replicas: Replicas, limits: Limits, chain: Chain, homeless: Ints) -> float:
    """Place shards without a replica, clear full servers, balance, then build.

    Args:
        replicas: The placement, changed in place.
        limits: The bands.
        chain: Scratch space.
        homeless: Shards without a replica, largest first.

    Returns:
        The cost of all new replicas, infinite if no way was found.
    """
    for i in range(len(limits.lower)):
        if not _clear_out(replicas, limits, i, chain.random):
            return np.inf
    for j in homeless:
        i = _roomiest(replicas, limits, j, 0.0, chain.random)
        if i < 0:
            return np.inf
        put(replicas, limits, i, j, limits.size[j], NEW)
    balance(replicas, limits, chain)
    if not np.isfinite(build(replicas, limits, chain, 0.0, np.inf)):
        return np.inf
    return float(cost_of_new(replicas, limits))
