"""Failures in compiled rounds: which workers are up, who loses work, who has failed for good.

A worker goes down and returns after exponential times, the k-th of which are a hash of the worker's
key and k; a job fails by itself after an exponential time of running, a hash of its key and its
attempt. So every policy meets the same failures, and there is no end to them. A job that runs takes
the next workers of its type that are up, in order of arrival: failures have no memory, so that it
does not matter which.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from walras.kernels.compiling import compiler
from walras.simulate.time_shared.state import CHANGED, NOW, Jobs, Pairs, State
from walras.types import Floats, Longs

Keys = npt.NDArray[np.uint64]

jit = compiler(nogil=True, error_model="numpy", boundscheck=False)
inlined = compiler(nogil=True, error_model="numpy", boundscheck=False, inline="always")

_SPREAD, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


class Faults(NamedTuple):
    """What fails; where nothing can, there are no workers one by one and no keys of jobs.

    Attributes:
        up: (T,) workers of each type that are up.
        kind: (W,) type of each worker, ascending.
        key: (W,) key of its stream.
        turn: (W,) outages that are over.
        fails: (W,) begin of its outage: the one that it is in, or the next one.
        returns: (W,) end of that outage.
        between: (T,) mean seconds from a return to the next failure.
        repair: (T,) mean seconds of an outage.
        checkpoint: (1,) seconds of running between two checkpoints; 0: nothing is lost.
        mean: (1,) mean seconds of running after which a job fails by itself.
        most: (1,) attempts of a job.
        job: (N,) key of each job's stream.
        life: (N,) seconds of running until it fails by itself.
        until: (N,) when the first of its workers fails, in this round.
        since: (N,) seconds that it has run since its last checkpoint.
        unsaved: (N,) steps that it has done since then.
        stopped: (N,) how often a failure of its workers stopped it.
        failures: (N,) how often it failed by itself.
        lost: (N,) seconds that it ran for what failures undid.
        undone: (N,) steps that they undid.
        failed: (N,) when it failed for good; NaN before.
        dropped: (N,) steps that it had left then.
    """

    up: Longs
    kind: Longs
    key: Keys
    turn: Longs
    fails: Floats
    returns: Floats
    between: Floats
    repair: Floats
    checkpoint: Floats
    mean: Floats
    most: Longs
    job: Keys
    life: Floats
    until: Floats
    since: Floats
    unsaved: Floats
    stopped: Longs
    failures: Longs
    lost: Floats
    undone: Floats
    failed: Floats
    dropped: Floats

    @property
    def any(self) -> bool:
        """Whether something can fail."""
        return bool(len(self.kind))


def no_faults(workers: Longs, n: int) -> Faults:
    """Nothing fails: of (T,) workers, and of n jobs."""
    keys, longs, floats = np.zeros(0, np.uint64), np.zeros(0, np.int64), np.zeros(0)
    return Faults(
        up=workers,
        kind=longs,
        key=keys,
        turn=longs,
        fails=floats,
        returns=floats,
        between=floats,
        repair=floats,
        checkpoint=floats,
        mean=floats,
        most=longs,
        job=keys,
        life=floats,
        until=floats,
        since=floats,
        unsaved=floats,
        stopped=np.zeros(n, np.int64),
        failures=np.zeros(n, np.int64),
        lost=np.zeros(n),
        undone=np.zeros(n),
        failed=np.full(n, np.nan),
        dropped=np.zeros(n),
    )


@jit
def uniform(key: np.uint64, count: int) -> float:
    """The ``count``-th number of a key between 0 and 1: splitmix64 of both.

    Source: Steele, Lea and Flood, OOPSLA 2014, figure 16.
    """
    z = key + np.uint64(count + 1) * np.uint64(_SPREAD)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(_FIRST)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(_SECOND)
    z = z ^ (z >> np.uint64(31))
    return (float(z >> np.uint64(11)) + 0.5) * 2.0**-53


@jit
def exponential(key: np.uint64, count: int) -> float:
    """The ``count``-th exponential number of mean 1 of a key."""
    drawn: float = -np.log(uniform(key, count))
    return drawn


@jit
def next_outage(w: int, faults: Faults) -> None:
    """Draw the outage of a worker that follows its last return."""
    t, k = faults.kind[w], faults.turn[w]
    faults.fails[w] = faults.returns[w] + faults.between[t] * exponential(faults.key[w], 2 * k)
    faults.returns[w] = faults.fails[w] + faults.repair[t] * exponential(faults.key[w], 2 * k + 1)


@jit
def first_faults(faults: Faults) -> None:
    """Draw the first outage of each worker, and the first failure of each job."""
    for w in range(len(faults.kind)):
        next_outage(w, faults)
    for j in range(len(faults.job)):
        faults.life[j] = faults.mean[0] * exponential(faults.job[j], 0)


@jit
def turn(state: State, faults: Faults) -> None:
    """Count the workers that are up now; where a type has more or fewer, a decision is due."""
    now, up = state.clock[NOW], np.zeros(len(faults.up), np.int64)
    for w in range(len(faults.kind)):
        while faults.returns[w] <= now:
            faults.turn[w] += 1
            next_outage(w, faults)
        up[faults.kind[w]] += faults.fails[w] > now
    for t in range(len(up)):
        if up[t] != faults.up[t]:
            state.counts[CHANGED] = 1
        faults.up[t] = up[t]


@jit
def seat(waiting: Longs, jobs: Jobs, state: State, pairs: Pairs, faults: Faults) -> None:
    """Give each job with a place its workers, and note when the first of them fails."""
    now, types = state.clock[NOW], len(faults.up)
    cursor = np.searchsorted(faults.kind, np.arange(types))
    beside = np.full(len(pairs.jobs), np.nan)
    for j in waiting:
        t, pair = state.place[j], state.beside[j]
        if t < 0:
            continue
        if pair >= 0 and not np.isnan(beside[pair]):
            faults.until[j] = beside[pair]
            continue
        until = np.inf
        for _ in range(jobs.size[j]):
            while faults.fails[cursor[t]] <= now:
                cursor[t] += 1
            until = min(until, faults.fails[cursor[t]])
            cursor[t] += 1
        faults.until[j] = until
        if pair >= 0:
            beside[pair] = until


@inlined
def seconds_until(j: int, lost: float, state: State, faults: Faults) -> float:
    """Seconds that a job can run in this round before it or a worker of it fails."""
    seconds: float = min(faults.until[j] - state.clock[NOW] - lost, faults.life[j])
    return max(0.0, seconds)


@inlined
def save(j: int, faults: Faults) -> None:
    """A checkpoint: all that was done is kept."""
    faults.since[j] = faults.unsaved[j] = 0.0


@jit
def count_work(j: int, seconds: float, done: float, whole: bool, faults: Faults) -> None:
    """Add what a job has done in this round, and make the checkpoints that fell into it."""
    faults.life[j] -= seconds
    every = faults.checkpoint[0]
    if every == 0.0 or seconds == 0.0:
        return
    faults.since[j] += seconds
    faults.unsaved[j] += done
    if faults.since[j] >= every:
        pace = done / seconds
        tail = pace * (faults.since[j] % every)
        faults.unsaved[j] = min(np.ceil(tail) if whole else tail, done)
        faults.since[j] = faults.unsaved[j] / pace


@jit
def fail(j: int, own: bool, at: float, state: State, faults: Faults) -> None:
    """Stop a job: what it did since its last checkpoint is undone, and it begins anew. After the
    last attempt that it failed by itself it has failed for good, and leaves.
    """
    state.before[j] = -1
    state.left[j] += faults.unsaved[j]
    faults.undone[j] += faults.unsaved[j]
    faults.lost[j] += faults.since[j]
    save(j, faults)
    if not own:
        faults.stopped[j] += 1
        return
    faults.failures[j] += 1
    faults.life[j] = faults.mean[0] * exponential(faults.job[j], faults.failures[j])
    if faults.failures[j] >= faults.most[0]:
        faults.failed[j] = at
        faults.dropped[j] = state.left[j]
        state.left[j] = 0.0
