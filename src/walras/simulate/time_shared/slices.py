"""Rounds of a time-shared cluster, compiled: who runs where, what gets done, who ends.

In each round each type of workers, in the order given, goes to jobs by priority: the share of time
that a decision grants to a job divided by the share that it has had since the decision. A type goes
on down its list until it is full; a job runs on one type at a time. Source: Narayanan et al., OSDI
2020, section 5 (algorithm 1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from walras.kernels.compiling import compiler
from walras.types import Bools, Floats, Longs

DECIDE, FULL, ENDED = 0, 1, 2
"""Why the rounds stop: a decision is due, the log is full, no measured job is left."""

NOW, LAST, ROUND, WAIT = 0, 1, 2, 3
"""Places in the clock: now, last decision, length of a round, least time between decisions."""
NEXT, ACTIVE, CHANGED, MEASURED, DRAWN = 0, 1, 2, 3, 4
"""Places in the counts: next arrival, active jobs, whether a job came or went since the last
decision, measured jobs that have not ended, orders of types used."""

_LEFT = 1e-12  # of a job's steps: rounding


class Jobs(NamedTuple):
    """What is known of N jobs from the begin.

    Attributes:
        arrival: (N,) seconds.
        size: (N,) workers of a job.
        steps: (N,) steps of a job.
        speed: (N, T) steps a second.
        measured: (N,) jobs whose ends are waited for.
    """

    arrival: Floats
    size: Longs
    steps: Floats
    speed: Floats
    measured: Bools


class State(NamedTuple):
    """What changes from round to round.

    Attributes:
        clock: (4,) as the places above.
        counts: (5,) as the places above.
        active: (N,) the jobs that are there, in order of arrival, then anything.
        left: (N,) steps left.
        decided: (N,) whether a decision was made with the job there.
        share: (N, T) shares of time of the last decision.
        had: (N, T) seconds had since the last decision.
        owed: (N, T) seconds owed before the last decision.
        received: (N, T) seconds had in all.
        given: (T,) seconds of all jobs since the last decision.
        place: (N,) type of a job in this round, or -1.
        before: (N,) its type in the round before, or -1.
        began: (N,) first start; NaN before.
        ended: (N,) end; NaN before.
        moves: (N,) how often a running job was stopped or moved.
    """

    clock: Floats
    counts: Longs
    active: Longs
    left: Floats
    decided: Bools
    share: Floats
    had: Floats
    owed: Floats
    received: Floats
    given: Floats
    place: Longs
    before: Longs
    began: Floats
    ended: Floats
    moves: Longs


jit = compiler(nogil=True, error_model="numpy", boundscheck=False)


@jit
def _break_ties(order: Longs, first: int, last: int, second: Floats, third: Floats) -> None:
    """Order places ``first`` to ``last`` by two keys, largest first; equal ones stay in order."""
    run = order[first:last]
    run = run[np.argsort(-third[run], kind="mergesort")]
    order[first:last] = run[np.argsort(-second[run], kind="mergesort")]


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
def _fill(t: int, free: int, waiting: Longs, jobs: Jobs, state: State, spare: bool) -> None:
    """Give the workers of a type to the jobs of highest priority that have no place yet."""
    share, place, size = state.share, state.place, jobs.size
    count, wanted = 0, 0
    rank = np.empty(len(waiting), np.int64)
    for j in waiting:
        if place[j] < 0 and jobs.speed[j, t] > 0.0 and (spare or share[j, t] > 0.0):
            rank[count] = j
            count += 1
            wanted += size[j]
    rank = rank[:count]
    if wanted > free:
        priority, deficit, granted = np.empty(count), np.empty(count), np.empty(count)
        head_start = state.clock[ROUND] / 2
        for k, j in enumerate(rank):
            granted[k], deficit[k] = share[j, t], state.owed[j, t]
            # share granted / share had; each job begins with half a round on each type
            priority[k] = share[j, t] * state.given[t] / (head_start + state.had[j, t])
        order = np.argsort(-priority, kind="mergesort")
        first = 0
        while first < count and free > 0:
            last = first + 1
            while last < count and priority[order[last]] == priority[order[first]]:
                last += 1
            if last - first > 1:
                _break_ties(order, first, last, deficit, granted)
            for j in rank[order[first:last]]:
                if size[j] <= free:
                    place[j] = t
                    free -= size[j]
            first = last
        return
    for j in rank:
        place[j] = t


@jit
def _work(waiting: Longs, jobs: Jobs, state: State, row: Floats, whole: bool) -> None:
    """Let each job with a place run for the round, and write the row of the log."""
    now, length = state.clock[NOW], state.clock[ROUND]
    running = 0
    row[3:] = 0.0
    for j in waiting:
        t, steps = state.place[j], jobs.steps[j]
        if state.before[j] >= 0 and t != state.before[j]:
            state.moves[j] += 1
        state.before[j] = t
        if t < 0:
            continue
        running += 1
        done = jobs.speed[j, t] * length
        if whole:
            done = np.floor(done)
        done = min(done, state.left[j])
        seconds = done / jobs.speed[j, t]
        if np.isnan(state.began[j]):
            state.began[j] = now
        state.left[j] -= done
        state.had[j, t] += seconds
        state.received[j, t] += seconds
        state.given[t] += seconds
        row[3 + t] += seconds * jobs.size[j]
        if state.left[j] <= _LEFT * steps:
            state.left[j] = 0.0
            state.ended[j] = now + seconds
    row[0], row[1], row[2] = now, state.counts[ACTIVE], running


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
    jobs: Jobs, state: State, workers: Longs, orders: Longs, log: Floats, whole: bool, spare: bool
) -> tuple[int, int]:
    """Run rounds until a decision is due, the log is full or no measured job is left.

    Args:
        jobs: The jobs.
        state: Their state; changed.
        workers: (T,) workers of each type.
        orders: (K, T) the orders in which rounds fill types, one a round, used in turn.
        log: (L, 3 + T) one row a round: begin, jobs, jobs that run, busy worker-seconds by type.
        whole: Whether a round does whole steps.
        spare: Whether what no share claims goes to any job.

    Returns:
        Why it stops, and the rounds run.
    """
    clock, counts = state.clock, state.counts
    for row in range(len(log)):
        if counts[MEASURED] == 0:
            return ENDED, row
        _admit(jobs, state)
        if counts[CHANGED] == 1 and clock[NOW] - clock[LAST] >= clock[WAIT]:
            return DECIDE, row
        waiting = _waiting(state)
        for t in orders[counts[DRAWN] % len(orders)]:
            _fill(t, workers[t], waiting, jobs, state, spare)
        counts[DRAWN] += 1
        _work(waiting, jobs, state, log[row], whole)
        _leave(jobs, state)
        clock[NOW] += clock[ROUND]
    return FULL, len(log)
