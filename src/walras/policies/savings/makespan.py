"""A lower bound on the time at which the last job ends.

Let all jobs end by H, and look at those that arrive at a or later. They run within H - a seconds,
so by the constraints of :mod:`walras.policies.savings.completion` the time H - a is at least the
least makespan L(a) of these jobs if they were all there at once and shares of time could be kept:
the objective ``min_makespan``, whose bound is certified. H is at least a + L(a) for every a.

Which a is best is seen from prices. With c_t >= 0 and Σ_t c_t W_t = 1, as the prices of capacity of
one such problem are once scaled,

    Σ_j min_t (s_jt c_t b_jt)  <=  Σ_j Σ_t s_jt c_t y_jt  <=  Σ_t c_t W_t L(a)  =  L(a),

where y_jt are the seconds of job j on type t: Σ_t y_jt / b_jt = 1. So one problem bounds all L(a),
by sums over the jobs from the last arrival to the first.
"""

from __future__ import annotations

import numpy as np

from walras.domains import cluster_scheduling
from walras.solving import solve
from walras.types import Floats

_PROBLEMS = 6  # that are solved at most
_TOLERANCE = 1e-6


def last_end(arrival: Floats, size: Floats, alone: Floats, workers: Floats) -> float:
    """An instant before which no policy has ended all jobs.

    Args:
        arrival: (N,) seconds, ascending.
        size: (N, T) workers that a job takes on a type.
        alone: (N, T) seconds of a job alone on a type; infinite where it cannot run.
        workers: (T,) workers of each type.

    Returns:
        Seconds, on the clock of the arrivals.
    """
    best = float((arrival + alone.min(axis=1)).max())
    first, tried = 0, set[int]()
    while first not in tried and len(tried) < _PROBLEMS:
        tried.add(first)
        length, price = _together(size[first:], alone[first:], workers)
        best = max(best, float(arrival[first]) + length)
        least = size * price[None, :] * np.where(np.isfinite(alone), alone, 0.0)
        least[~np.isfinite(alone)] = np.inf
        seen = arrival + np.cumsum(least.min(axis=1)[::-1])[::-1]
        best = max(best, float(seen.max()))
        first = int(np.searchsorted(arrival, arrival[int(np.argmax(seen))]))
    return best


def _together(size: Floats, alone: Floats, workers: Floats) -> tuple[float, Floats]:
    """A certified bound on the makespan of jobs that are there at once, and (T,) scaled prices."""
    unit = float(alone.min(axis=1).max())
    problem = cluster_scheduling.min_makespan((unit / alone).T, size.T, workers, np.ones(len(size)))
    found = solve(problem, tolerance=_TOLERANCE, threads=1)
    price = np.maximum(found.prices["capacity"], 0.0)
    worth = float(price @ workers)
    return unit / found.bound, price / worth if worth > 0.0 else price
