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
        time: (N, T) shares of time of jobs alone.
        pair_time: (P, T) shares of time of pairs.
        value: The least service at these shares.
        bound: No shares have a larger least service.
    """

    time: Floats
    pair_time: Floats
    value: float
    bound: float


def central_max_min(
    service: Floats, size: Longs, workers: Longs, pair: Longs, pair_service: Floats
) -> Central:
    """Maximise the least service of a job over shares of time, at a central solution.

    The service of job j is Σ_t service_jt x_jt and what it has in the pairs that it is part of.

    Args:
        service: (N, T) service a job has from all the time on a type; 0 where it cannot run.
        size: (N,) workers that a job occupies.
        workers: (T,) workers of each type.
        pair: (P, 2) pairs of jobs of one size that may share workers.
        pair_service: (P, 2, T) service that both have from all the time; 0 where they cannot run.

    Returns:
        The shares; they keep to all rows, and value and bound are computed from them and from the
        prices alone.
    """
    n, t = service.shape
    units = _units(service, size, pair, pair_service)
    count = len(units.kind)
    flat = sp.vstack(
        [-units.service, units.member, units.taken, -sp.eye_array(count)], format="csc"
    )
    least = np.concatenate([np.ones(n), np.zeros(n + t + count)])
    right = np.concatenate([np.zeros(n), np.ones(n), workers, np.zeros(count)])
    program = ConicProgram(
        quadratic=sp.csc_matrix((count + 1, count + 1)),
        linear=np.concatenate([np.zeros(count), [-1.0]]),
        matrix=sp.csc_matrix(sp.hstack([flat, sp.csc_array(least[:, None])], format="csc")),
        offset=right,
        cones=(("NonnegativeConeT", len(right)),),
    )
    found = solve_conic(program, _SETTINGS, _go_on)
    x = np.clip(found.z[:count], 0.0, 1.0)
    x /= (units.member.T * np.maximum(1.0, units.member @ x)).max(axis=1).toarray().ravel()
    x /= np.maximum(1.0, units.taken @ x / workers)[units.kind]
    time, pair_time = np.zeros((n, t)), np.zeros((len(pair), t))
    alone = units.owner < n
    time[units.owner[alone], units.kind[alone]] = x[alone]
    pair_time[units.owner[~alone] - n, units.kind[~alone]] = x[~alone]
    value = float((units.service @ x).min())
    bound = _bound(units, workers, *np.split(found.dual[: 2 * n + t], (n, 2 * n)))
    return Central(time, pair_time, value, bound)


@dataclass(frozen=True, eq=False)
class _Units:
    """Jobs and pairs on types: C units that run.

    Attributes:
        owner: (C,) the job, or N and the pair.
        kind: (C,) the type.
        service: (N, C) service of each job.
        member: (N, C) 1 for the jobs of a unit.
        taken: (T, C) workers that it occupies.
    """

    owner: Longs
    kind: Longs
    service: sp.csc_array
    member: sp.csc_array
    taken: sp.csc_array


def _units(service: Floats, size: Longs, pair: Longs, pair_service: Floats) -> _Units:
    n, t = service.shape
    job, kind = np.nonzero(service > 0.0)
    both, kind_of_both = np.nonzero((pair_service > 0.0).all(axis=1))
    alone, count = len(job), len(job) + len(both)
    place = np.arange(count)
    owner = np.concatenate([job, n + both])
    kinds = np.concatenate([kind, kind_of_both])
    row = np.concatenate([job, pair[both, 0], pair[both, 1]])
    column = np.concatenate([place, place[alone:]])
    gains = np.concatenate([service[job, kind], *pair_service[both, :, kind_of_both].T])
    occupied = size[row[:count]].astype(np.float64)
    return _Units(
        owner,
        kinds,
        sp.csc_array((gains, (row, column)), shape=(n, count)),
        sp.csc_array((np.ones(len(row)), (row, column)), shape=(n, count)),
        sp.csc_array((occupied, (kinds, place)), shape=(t, count)),
    )


def _bound(units: _Units, workers: Longs, pulls: Floats, hours: Floats, prices: Floats) -> float:
    """What prices prove: with weights l_j that sum to one, min_j s_j is at most Σ_j l_j s_j, and
    that is at most the worth of the workers and of each job's time, where no unit brings more than
    it costs. What a unit brings too much is added to the worth of its jobs' time, in equal parts.
    """
    pulls = np.maximum(pulls, 0.0)
    if not pulls.sum() > 0.0:
        return float("inf")
    costs = np.maximum(prices, 0.0) / pulls.sum()
    worth = np.maximum(hours, 0.0) / pulls.sum()
    left = (pulls / pulls.sum()) @ units.service - costs @ units.taken - worth @ units.member
    jobs = units.member.sum(axis=0)
    more = (units.member * np.maximum(left, 0.0) / jobs).max(axis=1).toarray().ravel()
    return float(costs @ workers + (worth + more).sum())


def _go_on(step: ConicStep) -> bool:
    del step
    return False
