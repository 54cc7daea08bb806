"""Who gets the workers of a type in a round, compiled: jobs and pairs by priority, till it is full.

A list of those that want the type is never sorted as a whole. It is parted by three keys, as by
Bentley and Sedgewick's quicksort of strings, 1997: those above a pivot, those equal to it, which go
on to the next key, and those below. A part that fits as a whole is placed as it is; of a part in
which nobody fits nothing is looked at again. So a round takes time in proportion to those that
wait, and only those at the edge are sorted.

Loops over jobs take arrays, not the records that hold them: a call with a record counts references
to each of its arrays.
"""

from __future__ import annotations

import numpy as np

from walras.kernels.compiling import compiler
from walras.simulate.time_shared.state import ROUND, Jobs, Pairs, State
from walras.types import Floats, Longs

jit = compiler(nogil=True, error_model="numpy", boundscheck=False)


@jit
def _jobs(t: int, waiting: Longs, jobs: Jobs, state: State, spare: bool) -> tuple[Longs, int]:
    """The jobs that may have a type, and the workers that they want together."""
    found, count, wanted = np.empty(len(waiting), np.int64), 0, 0
    for j in waiting:
        if state.place[j] < 0 and jobs.speed[j, t] > 0.0 and (spare or state.share[j, t] > 0.0):
            found[count] = j
            count += 1
            wanted += jobs.size[j]
    return found[:count], wanted


@jit
def _pairs(t: int, state: State, pairs: Pairs) -> Longs:
    """The pairs that may have a type."""
    found, count, left = np.empty(len(pairs.jobs), np.int64), 0, state.left
    for p in range(len(pairs.jobs)):
        one, other = pairs.jobs[p]
        free = state.place[one] < 0 and state.place[other] < 0
        if pairs.share[p, t] > 0.0 and free and left[one] > 0.0 and left[other] > 0.0:
            found[count] = p
            count += 1
    return found[:count]


@jit
def _keys(t: int, alone: Longs, both: Longs, state: State, pairs: Pairs) -> Floats:
    """(3, K) what jobs and then pairs are ordered by, the larger first: priority, seconds owed
    before the decision, share granted.
    """
    first = len(alone)
    priority, owed, granted = keys = np.empty((3, first + len(both)))
    # share granted / share had; each begins with half a round on each type
    given, head_start = state.given[t], state.clock[ROUND] / 2
    for k, j in enumerate(alone):
        granted[k], owed[k] = state.share[j, t], state.owed[j, t]
        priority[k] = granted[k] * given / (head_start + state.had[j, t])
    for k, p in enumerate(both):
        granted[first + k], owed[first + k] = pairs.share[p, t], pairs.owed[p, t]
        priority[first + k] = granted[first + k] * given / (head_start + pairs.had[p, t])
    return keys


@jit
def _part(part: Longs, key: Floats, equal: Longs, below: Longs) -> tuple[int, int]:
    """Part units by a key: above the median of three, equal to it, below; each in the order that
    they had. It has no branch, which a processor could not foretell.

    Returns:
        Where the equal ones begin, and where the lower ones do.
    """
    a, b, c = key[part[0]], key[part[len(part) // 2]], key[part[-1]]
    pivot = max(min(a, b), min(max(a, b), c))
    front, middle, back = 0, 0, 0
    for k in part:
        part[front] = equal[middle] = below[back] = k
        front += key[k] > pivot
        middle += key[k] == pivot
        back += key[k] < pivot
    part[front : front + middle] = equal[:middle]
    part[front + middle :] = below[:back]
    return front, front + middle


@jit
def _look(part: Longs, size: Longs, free: int) -> tuple[bool, bool]:
    """Whether some unit of a part fits, and whether all fit together."""
    least, total = size[part[0]], 0
    for k in part:
        least = min(least, size[k])
        total += size[k]
    return least <= free, total <= free


@jit
def _seat(part: Longs, t: int, free: int, alone: Longs, jobs: Jobs, state: State) -> int:
    """Place the jobs of a part that fit, in order; the workers that are left."""
    size, speed = jobs.size, jobs.speed
    place, beside, pace = state.place, state.beside, state.pace
    for k in part:
        j = alone[k]
        if size[j] <= free:
            place[j], beside[j], pace[j] = t, -1, speed[j, t]
            free -= size[j]
    return free


@jit
def _seat_either(
    part: Longs,
    t: int,
    free: int,
    alone: Longs,
    both: Longs,
    jobs: Jobs,
    state: State,
    pairs: Pairs,
) -> int:
    """Place the jobs and pairs of a part that fit and have no place; the workers that are left."""
    size, place, beside, pace = jobs.size, state.place, state.beside, state.pace
    for k in part:
        pair = both[k - len(alone)] if k >= len(alone) else -1
        one, other = (pairs.jobs[pair, 0], pairs.jobs[pair, 1]) if pair >= 0 else (alone[k], -1)
        if size[one] > free or place[one] >= 0 or (pair >= 0 and place[other] >= 0):
            continue
        free -= size[one]
        place[one], beside[one], pace[one] = t, pair, jobs.speed[one, t]
        if pair >= 0:
            place[other], beside[other], pace[other] = t, pair, pairs.speed[pair, 1, t]
            pace[one] = pairs.speed[pair, 0, t]
    return free


@jit
def fill(
    t: int, free: int, waiting: Longs, jobs: Jobs, state: State, pairs: Pairs, spare: bool
) -> None:
    """Give the workers of a type to the jobs and pairs of highest priority without a place.

    Args:
        t: The type.
        free: Its workers that are up.
        waiting: The jobs that were part of a decision.
        jobs: The jobs.
        state: Their state; places, paces and pairs are changed.
        pairs: The pairs that may share workers.
        spare: Whether jobs without a share of the type may have what is left.
    """
    alone, wanted = _jobs(t, waiting, jobs, state, spare)
    both = _pairs(t, state, pairs)
    count = len(alone) + len(both)
    order, paired = np.arange(count), len(both) > 0
    if wanted <= free and not paired:
        _seat(order, t, free, alone, jobs, state)
        return
    keys = _keys(t, alone, both, state, pairs)
    size = np.concatenate((jobs.size[alone], jobs.size[pairs.jobs[both, 0]]))
    equal, below = np.empty(count, np.int64), np.empty(count, np.int64)
    # parts that are still to be looked at: where they end, by how many keys they are equal
    ends, known = np.empty(2 * count + 8, np.int64), np.empty(2 * count + 8, np.int64)
    ends[0], known[0], depth, first = count, 0, 1, 0
    while free > 0 and depth > 0:
        depth -= 1
        last, by = ends[depth], known[depth]
        part = order[first:last]
        if len(part) == 0:
            continue
        some, every = _look(part, size, free)
        # one of a pair may have a place with another one: then the order matters
        if some and len(part) > 1 and by < len(keys) and (paired or not every):
            middle, lower = _part(part, keys[by], equal, below)
            ends[depth], known[depth] = last, by
            ends[depth + 1], known[depth + 1] = first + lower, by + 1
            ends[depth + 2], known[depth + 2] = first + middle, by
            depth += 3
            continue
        if some and paired:
            free = _seat_either(part, t, free, alone, both, jobs, state, pairs)
        elif some:
            free = _seat(part, t, free, alone, jobs, state)
        first = last
