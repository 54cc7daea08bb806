"""Failures where shares are realised exactly: the limit of ever shorter rounds.

A job that has all its time on one type runs there without a stop, and its checkpoints are those of
:class:`walras.simulate.Failures`. Any other job is stopped and goes on all the time; a stop keeps
all that was done, so that a failure undoes nothing. The workers of a type that are up stand in a
row, and jobs take their shares of them one after the other, in order of arrival, then pairs. Where
a worker that fails had several jobs in turn, one is drawn by their shares.
"""

from __future__ import annotations

import numpy as np

from walras.kernels.compiling import compiler
from walras.simulate.time_shared import World
from walras.simulate.time_shared.faults import Faults, count_work, fail, save, uniform
from walras.simulate.time_shared.state import CHANGED, NOW, State
from walras.types import Bools, Floats, Longs

_ALL = 1.0 - 1e-6  # of a job's time, as solvers round it

jit = compiler(nogil=True, error_model="numpy", boundscheck=False)


def next_change(world: World) -> float:
    """When the next worker fails or returns, seconds; infinite where none ever does."""
    fails, returns = world.faults.fails, world.faults.returns
    times = np.where(fails > world.state.clock[NOW], fails, returns)
    return float(times.min(initial=np.inf))


def own_seconds(world: World, jobs: Longs, time: Floats) -> Floats:
    """(n,) seconds until each job fails by itself.

    Args:
        world: The world.
        jobs: (n,) the jobs.
        time: (n, T) their shares of time, alone and beside others.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        left = world.faults.life[jobs] / time.sum(axis=1)
    return np.asarray(np.maximum(np.nan_to_num(left, nan=np.inf, posinf=np.inf), 0.0))


def work(world: World, jobs: Longs, time: Floats, length: float, done: Floats) -> None:
    """Count what jobs did until now, and their checkpoints.

    Args:
        world: The world.
        jobs: (n,) the jobs.
        time: (n, T) their shares of time, alone and beside others.
        length: Seconds.
        done: (n,) steps done.
    """
    place = np.where(time.max(axis=1) >= _ALL, time.argmax(axis=1), -1)
    _count(jobs, place, time.sum(axis=1) * length, done, world.state, world.faults)


@jit
def _count(
    jobs: Longs, place: Longs, seconds: Floats, done: Floats, state: State, faults: Faults
) -> None:
    for k in range(len(jobs)):
        j = jobs[k]
        if place[k] != state.before[j]:
            save(j, faults)
            state.before[j] = place[k]
        count_work(j, seconds[k], done[k], False, faults)
        if place[k] < 0:
            save(j, faults)


def strike(world: World, jobs: Longs, own: Bools, over: Bools) -> Bools:
    """Let fail what fails now.

    Args:
        world: The world.
        jobs: (n,) the jobs.
        own: (n,) those that fail by themselves.
        over: (n,) those that have ended, and cannot fail.

    Returns:
        (n,) jobs that have failed for good.
    """
    state, faults = world.state, world.faults
    now = float(state.clock[NOW])
    by_itself, gone = own & ~over, own | over
    hit = np.setdiff1d(_hit(world, jobs), jobs[gone])
    for j in jobs[by_itself]:
        fail(j, True, now, state, faults)
    for j in hit:
        fail(j, False, now, state, faults)
    if by_itself.any() or len(hit):
        state.counts[CHANGED] = 1
    return ~np.isnan(faults.failed[jobs])


def _hit(world: World, jobs: Longs) -> Longs:
    """The jobs that lose a worker now."""
    faults, pairs, now = world.faults, world.pairs, world.state.clock[NOW]
    found = [np.zeros(0, np.int64)]
    size = np.concatenate([world.trace.size[jobs], world.trace.size[pairs.jobs[:, 0]]])
    share = np.concatenate([world.state.share[jobs], pairs.share])
    for w in np.flatnonzero(faults.fails == now):
        t = faults.kind[w]
        first = int(np.searchsorted(faults.kind, t))
        ahead = np.count_nonzero(faults.fails[first:w] >= now)  # up until now
        at = ahead + uniform(~faults.key[w], faults.turn[w])
        unit = int(np.searchsorted(np.cumsum(size * share[:, t]), at, side="right"))
        if unit < len(size):
            found.append(jobs[[unit]] if unit < len(jobs) else pairs.jobs[unit - len(jobs)])
    return np.concatenate(found)
