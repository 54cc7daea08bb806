"""What the compiled rounds know of jobs and workers, and what changes from round to round."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from walras.types import Bools, Floats, Longs

NOW, LAST, ROUND, WAIT, RESTART = 0, 1, 2, 3, 4
"""Places in the clock: now, last decision, length of a round, least time between decisions,
what a start costs."""
NEXT, ACTIVE, CHANGED, MEASURED, DRAWN = 0, 1, 2, 3, 4
"""Places in the counts: next arrival, active jobs, whether a job came or went since the last
decision, measured jobs that have not ended, orders of types used."""


class Jobs(NamedTuple):
    """What is known of N jobs from the begin.

    Attributes:
        arrival: (N,) seconds.
        size: (N,) workers of a job.
        steps: (N,) steps of a job.
        speed: (N, T) steps a second alone.
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
        clock: (5,) as the places above.
        counts: (5,) as the places above.
        active: (N,) the jobs that are there, in order of arrival, then anything.
        left: (N,) steps left.
        decided: (N,) whether a decision was made with the job there.
        share: (N, T) shares of time of the last decision.
        had: (N, T) seconds had since the last decision, alone.
        owed: (N, T) seconds owed before the last decision.
        received: (N, T) seconds had in all.
        shared: (N,) seconds had beside another job.
        given: (T,) seconds of all jobs and pairs since the last decision.
        place: (N,) type of a job in this round, or -1.
        before: (N,) its type in the round before, or -1.
        pace: (N,) its steps a second in this round.
        beside: (N,) the pair in which it runs in this round, or -1.
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
    shared: Floats
    given: Floats
    place: Longs
    before: Longs
    pace: Floats
    beside: Longs
    began: Floats
    ended: Floats
    moves: Longs


class Pairs(NamedTuple):
    """The P pairs of jobs that the last decision lets share workers.

    Attributes:
        jobs: (P, 2) the jobs.
        speed: (P, 2, T) steps a second of both.
        share: (P, T) shares of time.
        had: (P, T) seconds had since the last decision.
        owed: (P, T) seconds owed before it.
        ran: (P,) seconds in this round.
    """

    jobs: Longs
    speed: Floats
    share: Floats
    had: Floats
    owed: Floats
    ran: Floats


def start(jobs: Jobs, round_seconds: float, wait: float) -> State:
    """The state before the first job."""
    n, t = jobs.speed.shape
    counts = np.zeros(5, np.int64)
    counts[MEASURED] = jobs.measured.sum()
    return State(
        clock=np.array([0.0, -np.inf, round_seconds, wait, 0.0]),
        counts=counts,
        active=np.zeros(n, np.int64),
        left=jobs.steps.copy(),
        decided=np.zeros(n, np.bool_),
        share=np.zeros((n, t)),
        had=np.zeros((n, t)),
        owed=np.zeros((n, t)),
        received=np.zeros((n, t)),
        shared=np.zeros(n),
        given=np.zeros(t),
        place=np.full(n, -1),
        before=np.full(n, -1),
        pace=np.zeros(n),
        beside=np.full(n, -1),
        began=np.full(n, np.nan),
        ended=np.full(n, np.nan),
        moves=np.zeros(n, np.int64),
    )


def no_pairs(types: int) -> Pairs:
    """No pair at all."""
    flat = np.zeros((0, types))
    return Pairs(
        np.zeros((0, 2), np.int64),
        np.zeros((0, 2, types)),
        flat,
        flat.copy(),
        flat.copy(),
        np.zeros(0),
    )
