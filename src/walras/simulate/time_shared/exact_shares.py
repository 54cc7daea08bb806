"""Shares realised exactly: rounds of no length, from one arrival or end to the next."""

from __future__ import annotations

import numpy as np

from walras.simulate.rounds_log import COLUMNS
from walras.simulate.time_shared import World
from walras.simulate.time_shared.exact_faults import next_change, own_seconds, strike, work
from walras.simulate.time_shared.faults import turn
from walras.simulate.time_shared.state import ACTIVE, CHANGED, MEASURED, NEXT, NOW
from walras.types import Floats

_LEFT = 1e-12  # of a job's steps: rounding


def admit(world: World) -> bool:
    """Let in the jobs that have arrived, and go to the next arrival where nobody is there; count
    the workers that are up.

    Returns:
        Whether a job is there.
    """
    clock, counts, arrival = world.state.clock, world.state.counts, world.trace.arrival
    if counts[ACTIVE] == 0 and counts[NEXT] < len(arrival):
        clock[NOW] = max(clock[NOW], arrival[counts[NEXT]])
    while counts[NEXT] < len(arrival) and arrival[counts[NEXT]] <= clock[NOW]:
        world.state.active[counts[ACTIVE]] = counts[NEXT]
        counts[[ACTIVE, NEXT]] += 1
        counts[CHANGED] = 1
    if world.faults.any:
        turn(world.state, world.faults)
    return bool(counts[ACTIVE] > 0)


def advance(world: World) -> Floats:
    """Go on at the rates of the shares to the next arrival, end or failure, or a worker's return.

    Returns:
        (1, 3 + T) the row of the log; none where nothing runs and nothing will change.
    """
    state, jobs = world.state, world.here.copy()
    clock, counts = state.clock, state.counts
    now, fragile = float(clock[NOW]), world.faults.any
    beside, faster = _beside(world)
    rate = (state.share[jobs] * world.jobs.speed[jobs]).sum(axis=1) + faster[jobs]
    runs = rate > 0.0
    until = np.full(len(jobs), np.inf)
    until[runs] = state.left[jobs[runs]] / rate[runs]
    arrives = counts[NEXT] < len(world.trace)
    wait = world.trace.arrival[counts[NEXT]] - now if arrives else np.inf
    length = float(min(until.min(), wait))
    end, own = now + length, np.full(len(jobs), np.inf)
    if fragile and (runs.any() or arrives or world.repairs):
        own = own_seconds(world, jobs, state.share[jobs] + beside[jobs])
        length = float(min(length, own.min()))
        end, change = now + length, next_change(world)
        if change <= end:
            end, length = change, change - now
    if np.isinf(length):
        return np.zeros((0, len(COLUMNS) + world.jobs.speed.shape[1]))
    state.began[jobs[runs & np.isnan(state.began[jobs])]] = now
    seconds = state.share[jobs] * length
    state.left[jobs] -= rate * length
    state.had[jobs] += seconds
    state.received[jobs] += seconds + beside[jobs] * length
    state.shared[jobs] += beside[jobs].sum(axis=1) * length
    world.pairs.had[:] += world.pairs.share * length
    clock[NOW] = end
    over = runs & ((until <= length) | (state.left[jobs] <= _LEFT * world.trace.steps[jobs]))
    gone = over
    if fragile:
        work(world, jobs, state.share[jobs] + beside[jobs], length, rate * length)
        gone = over | strike(world, jobs, own <= length, over)
    if gone.any():
        state.left[jobs[gone]], state.ended[jobs[over]] = 0.0, end
        state.active[: len(jobs) - gone.sum()] = jobs[~gone]
        counts[ACTIVE] -= gone.sum()
        counts[MEASURED] -= int(world.jobs.measured[jobs[gone]].sum())
        counts[CHANGED] = 1
    busy = world.trace.size[jobs] @ (seconds + beside[jobs] * (length / 2))
    return np.array([[now, len(jobs), runs.sum(), *busy]])


def _beside(world: World) -> tuple[Floats, Floats]:
    """(N, T) share of the time of each job in pairs, and (N,) its steps a second there."""
    pairs, share = world.pairs, np.zeros(world.jobs.speed.shape)
    rate = np.zeros(len(share))
    for k, side in enumerate(pairs.jobs.T):
        np.add.at(share, side, pairs.share)
        np.add.at(rate, side, (pairs.speed[:, k] * pairs.share).sum(axis=1))
    return share, rate
