"""Rounds of a time-shared cluster, compiled: who runs where, what gets done, who ends.

In each round each type of workers, in the order given, goes to jobs by priority: the share of time
that a decision grants to a job divided by the share that it has had since the decision. A type goes
on down its list until it is full; a job runs on one type at a time. A pair of jobs that share
workers stands in the list like a job, and runs where neither of the two has a place yet. Source:
Narayanan et al., OSDI 2020, section 5 (algorithm 1).
"""

from __future__ import annotations

import numpy as np

from walras.kernels.compiling import compiler
from walras.simulate.time_shared.faults import (
    Faults,
    count_work,
    fail,
    save,
    seat,
    seconds_until,
    turn,
)
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

jit = compiler(nogil=True, error_model="numpy", boundscheck=False)
inlined = compiler(nogil=True, error_model="numpy", boundscheck=False, inline="always")
"""For what is called for each job: a call would count references to every array of the state."""


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


@inlined
def _place(j: int, t: int, pair: int, pace: float, state: State) -> None:
    state.place[j] = t
    state.beside[j] = pair
    state.pace[j] = pace


@jit
def _candidates(
    t: int, waiting: Longs, jobs: Jobs, state: State, pairs: Pairs, spare: bool
) -> tuple[Longs, int, int]:
    """Jobs, then pairs from N on, that may have the type; how many are jobs, and what they want."""
    share, place, left = state.share, state.place, state.left
    count, wanted = 0, 0
    found = np.empty(len(waiting) + len(pairs.jobs), np.int64)
    for j in waiting:
        if place[j] < 0 and jobs.speed[j, t] > 0.0 and (spare or share[j, t] > 0.0):
            found[count] = j
            count += 1
            wanted += jobs.size[j]
    alone = count
    for p in range(len(pairs.jobs)):
        one, other = pairs.jobs[p]
        free = place[one] < 0 and place[other] < 0
        if pairs.share[p, t] > 0.0 and free and left[one] > 0.0 and left[other] > 0.0:
            found[count] = len(jobs.size) + p
            count += 1
    return found[:count], alone, wanted


@inlined
def _try(unit: int, t: int, free: int, jobs: Jobs, state: State, pairs: Pairs) -> int:
    """Place a job or a pair where it has room and no place yet; the workers that it takes."""
    n = len(jobs.size)
    if unit < n:
        if jobs.size[unit] > free or state.place[unit] >= 0:
            return 0
        _place(unit, t, -1, jobs.speed[unit, t], state)
        return int(jobs.size[unit])
    pair = unit - n
    one, other = pairs.jobs[pair]
    if jobs.size[one] > free or state.place[one] >= 0 or state.place[other] >= 0:
        return 0
    _place(one, t, pair, pairs.speed[pair, 0, t], state)
    _place(other, t, pair, pairs.speed[pair, 1, t], state)
    return int(jobs.size[one])


@jit
def _split(priority: Floats, places: Longs, free: int) -> tuple[Longs, Longs]:
    """The places of largest priority, at least as many as workers are free, and the others: each
    unit takes a worker, so that few need to be in order.
    """
    if len(places) <= 2 * free:
        return places, places[:0]
    least = -np.partition(-priority[places], free - 1)[free - 1]
    best = priority[places] >= least
    return places[best], places[~best]


@jit
def _fill(
    t: int, free: int, waiting: Longs, jobs: Jobs, state: State, pairs: Pairs, spare: bool
) -> None:
    """Give the workers of a type to the jobs and pairs of highest priority without a place."""
    rank, alone, wanted = _candidates(t, waiting, jobs, state, pairs, spare)
    count, n = len(rank), len(jobs.size)
    if count == alone and wanted <= free:
        for j in rank:
            _place(j, t, -1, jobs.speed[j, t], state)
        return
    priority, deficit, granted = np.empty(count), np.empty(count), np.empty(count)
    head_start = state.clock[ROUND] / 2
    for k, unit in enumerate(rank):
        if unit < n:
            had = state.had[unit, t]
            granted[k], deficit[k] = state.share[unit, t], state.owed[unit, t]
        else:
            pair = unit - n
            had = pairs.had[pair, t]
            granted[k], deficit[k] = pairs.share[pair, t], pairs.owed[pair, t]
        # share granted / share had; each begins with half a round on each type
        priority[k] = granted[k] * state.given[t] / (head_start + had)
    rest = np.arange(count)
    while len(rest) > 0 and free > 0:
        best, rest = _split(priority, rest, free)
        order = best[np.argsort(-priority[best], kind="mergesort")]
        first = 0
        while first < len(order) and free > 0:
            last = first + 1
            while last < len(order) and priority[order[last]] == priority[order[first]]:
                last += 1
            if last - first > 1:
                _break_ties(order, first, last, deficit, granted)
            for unit in rank[order[first:last]]:
                free -= _try(unit, t, free, jobs, state, pairs)
            first = last


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
            _fill(t, faults.up[t], waiting, jobs, state, pairs, spare)
        counts[DRAWN] += 1
        if fragile:
            seat(waiting, jobs, state, pairs, faults)
        _work(waiting, jobs, state, pairs, faults, log[row], whole, fragile)
        _settle(jobs, state, pairs, log[row])
        _leave(jobs, state)
        clock[NOW] += clock[ROUND]
    return FULL, len(log)
