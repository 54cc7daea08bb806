"""Rounds of a time-shared cluster, compiled: who runs where, what gets done, who ends.

In each round each type of workers, in the order given, goes to jobs by priority: the share of time
that a decision grants to a job divided by the share that it has had since the decision. A type goes
on down its list until it is full; a job runs on one type at a time. A pair of jobs that share
workers stands in the list like a job, and runs where neither of the two has a place yet. Source:
Narayanan et al., OSDI 2020, section 5 (algorithm 1).
"""

from __future__ import annotations

import numpy as np

from walras.simulate.time_shared.faults import (
    Faults,
    count_work,
    fail,
    save,
    seat,
    seconds_until,
    turn,
)
from walras.simulate.time_shared.filling import fill, jit
from walras.simulate.time_shared.state import (
    ACTIVE,
    CHANGED,
    DRAWN,
    LAST,
    MEASURED,
    NEXT,
    NOW,
    RESTART,
    ROUND,
    WAIT,
    Jobs,
    Pairs,
    State,
)
from walras.types import Floats, Longs

DECIDE, FULL, ENDED = 0, 1, 2
"""Why the rounds stop: a decision is due, the log is full, no measured job is left."""

_LEFT = 1e-12  # of a job's steps: rounding


@jit
def _admit(jobs: Jobs, state: State) -> None:
    """Let in the jobs that have arrived; where nobody is there, go to the next arrival."""
    clock, counts = state.clock, state.counts
    n = len(jobs.arrival)
    if counts[ACTIVE] == 0 and counts[NEXT] < n:
        clock[NOW] = max(clock[NOW], jobs.arrival[counts[NEXT]])
    while counts[NEXT] < n and jobs.arrival[counts[NEXT]] <= clock[NOW]:
        state.active[counts[ACTIVE]] = counts[NEXT]
        counts[ACTIVE] += 1
        counts[NEXT] += 1
        counts[CHANGED] = 1


@jit
def _waiting(state: State) -> Longs:
    """The jobs that were part of a decision; none has a place yet."""
    waiting = np.empty(state.counts[ACTIVE], np.int64)
    known = 0
    for j in state.active[: state.counts[ACTIVE]]:
        state.place[j] = -1
        if state.decided[j]:
            waiting[known] = j
            known += 1
    return waiting[:known]


@jit
def _work(
    waiting: Longs,
    jobs: Jobs,
    state: State,
    pairs: Pairs,
    faults: Faults,
    row: Floats,
    whole: bool,
    fragile: bool,
) -> None:
    """Let each job with a place run for the round, and write the row of the log."""
    now, length = state.clock[NOW], state.clock[ROUND]
    running = 0
    row[3:] = 0.0
    for j in waiting:
        t, pair, pace = state.place[j], state.beside[j], state.pace[j]
        lost = state.clock[RESTART] if t != state.before[j] else 0.0
        if state.before[j] >= 0 and t != state.before[j]:
            state.moves[j] += 1
            if fragile:
                save(j, faults)
        state.before[j] = t
        if t < 0:
            continue
        running += 1
        most = length - lost
        stops = fragile and seconds_until(j, lost, state, faults) < most
        if stops:
            most = seconds_until(j, lost, state, faults)
        own = stops and faults.life[j] <= most
        done = pace * most
        if whole:
            done = np.floor(done)
        done = min(done, state.left[j])
        seconds = done / pace
        if np.isnan(state.began[j]):
            state.began[j] = now
        state.left[j] -= done
        state.received[j, t] += seconds
        if pair >= 0:
            pairs.ran[pair] = max(pairs.ran[pair], seconds)
            state.shared[j] += seconds
        else:
            state.had[j, t] += seconds
            state.given[t] += seconds
            row[3 + t] += seconds * jobs.size[j]
        if fragile:
            count_work(j, seconds, done, whole, faults)
        if state.left[j] <= _LEFT * jobs.steps[j]:
            state.left[j] = 0.0
            state.ended[j] = now + lost + seconds
        elif stops:
            fail(j, own, now + lost + most, state, faults)
    row[0], row[1], row[2] = now, state.counts[ACTIVE], running


@jit
def _settle(jobs: Jobs, state: State, pairs: Pairs, row: Floats) -> None:
    """Note the seconds of pairs: those of the one that ran longer."""
    for p in range(len(pairs.ran)):
        seconds = pairs.ran[p]
        if seconds > 0.0:
            one = pairs.jobs[p, 0]
            t = state.place[one]
            pairs.had[p, t] += seconds
            state.given[t] += seconds
            row[3 + t] += seconds * jobs.size[one]
            pairs.ran[p] = 0.0


@jit
def _leave(jobs: Jobs, state: State) -> None:
    """Forget the jobs that have ended."""
    counts, kept = state.counts, 0
    for j in state.active[: counts[ACTIVE]].copy():
        if state.left[j] > 0.0:
            state.active[kept] = j
            kept += 1
        else:
            counts[CHANGED] = 1
            counts[MEASURED] -= jobs.measured[j]
    counts[ACTIVE] = kept


@jit
def run_rounds(
    jobs: Jobs,
    state: State,
    pairs: Pairs,
    faults: Faults,
    orders: Longs,
    log: Floats,
    whole: bool,
    spare: bool,
) -> tuple[int, int]:
    """Run rounds until a decision is due, the log is full or no measured job is left.

    Args:
        jobs: The jobs.
        state: Their state; changed.
        pairs: The pairs that may share workers; changed.
        faults: What fails, and the workers that are up; changed.
        orders: (K, T) the orders in which rounds fill types, one a round, used in turn.
        log: (L, 3 + T) one row a round: begin, jobs, jobs that run, busy worker-seconds by type.
        whole: Whether a round does whole steps.
        spare: Whether what no share claims goes to any job.

    Returns:
        Why it stops, and the rounds run.
    """
    clock, counts = state.clock, state.counts
    fragile = len(faults.kind) > 0
    for row in range(len(log)):
        if counts[MEASURED] == 0:
            return ENDED, row
        _admit(jobs, state)
        if fragile:
            turn(state, faults)
        if counts[CHANGED] == 1 and clock[NOW] - clock[LAST] >= clock[WAIT]:
            return DECIDE, row
        waiting = _waiting(state)
        for t in orders[counts[DRAWN] % len(orders)]:
            fill(t, faults.up[t], waiting, jobs, state, pairs, spare)
        counts[DRAWN] += 1
        if fragile:
            seat(waiting, jobs, state, pairs, faults)
        _work(waiting, jobs, state, pairs, faults, log[row], whole, fragile)
        _settle(jobs, state, pairs, log[row])
        _leave(jobs, state)
        clock[NOW] += clock[ROUND]
    return FULL, len(log)
