"""Max-min fairness at a central solution: the time that the least level leaves over is spread.

Max-min fairness has many solutions. A vertex gives the time that is left over to few jobs; an
interior-point method without crossover ends near the analytic centre of the solutions, where all
jobs have part of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from walras.programs.clarabel_program import ConicProgram, ConicSettings, ConicStep, solve_conic
from walras.types import Floats, Longs

_SETTINGS = ConicSettings(
    gap=1e-8, enough=1e-5, longest=0.99, max_iterations=200, threads=1, seconds=None
)


@dataclass(frozen=True, eq=False)
class Central:
    """Shares of time near the centre of the best ones.

    Attributes:
        time: (N, T) shares of time.
        value: The least service at these shares.
        bound: No shares have a larger least service.
    """

    time: Floats
    value: float
    bound: float


def central_max_min(service: Floats, size: Longs, workers: Longs) -> Central:
    """Maximise min_j Σ_t service_jt x_jt over shares of time, at a central solution.

    Args:
        service: (N, T) service a job has from all the time on a type; 0 where it cannot run.
        size: (N,) workers that a job occupies.
        workers: (T,) workers of each type.

    Returns:
        The shares; they keep to all rows, and value and bound are computed from them and from the
        prices alone.
    """
    n, t = service.shape
    job, kind = np.nonzero(service > 0.0)
    pairs = len(job)
    place = np.arange(pairs)
    level = sp.csc_array((-service[job, kind], (job, place)), shape=(n, pairs))
    whole = sp.csc_array((np.ones(pairs), (job, place)), shape=(n, pairs))
    taken = sp.csc_array((size[job].astype(np.float64), (kind, place)), shape=(t, pairs))
    flat = sp.vstack([level, whole, taken, -sp.eye_array(pairs)], format="csc")
    least = np.concatenate([np.ones(n), np.zeros(n + t + pairs)])
    rows = sp.hstack([flat, sp.csc_array(least[:, None])], format="csc")
    right = np.concatenate([np.zeros(n), np.ones(n), workers, np.zeros(pairs)])
    program = ConicProgram(
        quadratic=sp.csc_matrix((pairs + 1, pairs + 1)),
        linear=np.concatenate([np.zeros(pairs), [-1.0]]),
        matrix=sp.csc_matrix(rows),
        offset=right,
        cones=(("NonnegativeConeT", len(right)),),
    )
    found = solve_conic(program, _SETTINGS, _go_on)
    time = np.zeros((n, t))
    time[job, kind] = np.clip(found.z[:pairs], 0.0, 1.0)
    time /= np.maximum(1.0, time.sum(axis=1, keepdims=True))
    time /= np.maximum(1.0, size @ time / workers)[None, :]
    value = float((service * time).sum(axis=1).min())
    return Central(time, value, _bound(service, size, workers, found.dual[:n], found.dual[2 * n :]))


def _bound(service: Floats, size: Longs, workers: Longs, pulls: Floats, prices: Floats) -> float:
    """What prices prove: with weights l_j that sum to one, min_j s_j is at most Σ_j l_j s_j, and
    that is at most the worth of the workers and of each job's time.
    """
    pulls = np.maximum(pulls, 0.0)
    if not pulls.sum() > 0.0:
        return float("inf")
    costs = np.maximum(prices[: len(workers)], 0.0) / pulls.sum()
    profit = (pulls / pulls.sum())[:, None] * service - np.multiply.outer(size, costs)
    profit[service <= 0.0] = 0.0
    return float(costs @ workers + np.maximum(profit.max(axis=1), 0.0).sum())


def _go_on(step: ConicStep) -> bool:
    del step
    return False
