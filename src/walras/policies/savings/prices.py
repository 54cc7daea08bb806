"""Good prices of workers over time: those of a linear program on a grid of intervals.

The relaxation of :mod:`walras.policies.savings.completion` on intervals, with the middle of an
interval as the time of all that runs in it. A job has columns from its arrival to some time after
its end in a run where the shortest remaining job goes first; work that finds no column is late, at
a cost. Neither the grid nor the columns left out matter for validity: any prices prove a bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from walras.policies.shortest import shortest_remaining_time
from walras.separable import Family, Rows, Separable, Side
from walras.simulate import Cluster, Trace, run
from walras.solving import solve
from walras.types import Floats, Longs

_COLUMNS = 80_000  # of the program, at most
_INTERVALS = 96
_ROUNDS = 300  # of the run that guesses when jobs end
_AFTER = 1.25  # columns reach so many times as long as the job then took
_LATE = 2.0  # of the horizon: the time at which late work counts as done


def good_prices(
    trace: Trace, cluster: Cluster, size: Floats, alone: Floats
) -> tuple[Floats, Floats]:
    """Nodes in time and prices of workers there.

    Args:
        trace: The jobs.
        cluster: The workers.
        size: (N, T) workers that a job takes on a type.
        alone: (N, T) seconds of a job alone on a type; infinite where it cannot run.

    Returns:
        (K,) seconds, ascending, the first at the first arrival; (K, T) prices in seconds of summed
        completion for a worker-second.
    """
    ended = _guess(trace, cluster, alone)
    grid = _grid(trace.arrival, ended, alone)
    part = _columns(grid, trace.arrival, ended, alone)
    found = solve(_program(grid, part, trace, cluster, size, alone), engine="exact", threads=1)
    lengths, t = np.diff(grid), alone.shape[1]
    flat = np.maximum(found.prices["capacity"], 0.0).reshape(-1, t)
    middle = flat * (grid[-1] - grid[0]) / lengths[:, None]
    return _with_ends(grid, middle)


def _with_ends(grid: Floats, middle: Floats) -> tuple[Floats, Floats]:
    """Prices at the middles of intervals, continued to both ends of the grid; 0 at the last."""
    at = (grid[:-1] + grid[1:]) / 2
    slope = (middle[0] - middle[1]) / (at[1] - at[0]) if len(at) > 1 else np.zeros(len(middle[0]))
    first = np.maximum(middle[0] + slope * (at[0] - grid[0]), 0.0)
    nodes = np.concatenate([grid[:1], at, grid[-1:]])
    return nodes, np.vstack([first, middle, np.zeros_like(first)])


def _guess(trace: Trace, cluster: Cluster, alone: Floats) -> Floats:
    """(N,) ends where the job with the least work left runs first, on a coarse clock."""
    work = float((trace.size * alone.min(axis=1)).sum() / cluster.workers.sum())
    horizon = max(float(np.ptp(trace.arrival)) + work, float(alone.min(axis=1).max()))
    length = horizon / _ROUNDS
    done = run(
        *(trace, cluster, shortest_remaining_time()),
        round_seconds=length,
        between_decisions=0.0,
        whole_steps=False,
    )
    least = trace.arrival + alone.min(axis=1)
    return np.asarray(np.fmax(done.ended, least + length))


def _grid(arrival: Floats, ended: Floats, alone: Floats) -> Floats:
    """(K + 1,) ends of intervals, closer where more happens, and not too many for all columns."""
    events = np.sort(np.concatenate([arrival, ended]))
    first, last = float(arrival[0]), float(events[-1])
    reach = first + (last - first) * 1.05
    types = np.isfinite(alone).sum(axis=1)
    count = _INTERVALS
    while True:
        even = np.linspace(first, reach, count // 2 + 1)
        often = np.quantile(events, np.linspace(0.0, 1.0, count // 2 + 1))
        grid = np.unique(np.concatenate([even, often]))
        grid = grid[np.concatenate([[True], np.diff(grid) > 1e-6 * (reach - first)])]
        low, high = _window(grid, arrival, ended)
        if count <= 8 or int(((high - low) * types).sum()) <= _COLUMNS:
            return np.asarray(grid)
        count = count * 2 // 3


def _window(grid: Floats, arrival: Floats, ended: Floats) -> tuple[Longs, Longs]:
    """(N,) first interval of a job's columns, and the one after its last."""
    low = np.clip(np.searchsorted(grid, arrival, side="right") - 1, 0, len(grid) - 2)
    until = arrival + _AFTER * (ended - arrival)
    return low, np.clip(np.searchsorted(grid, until) + 1, low + 1, len(grid) - 1)


@dataclass(frozen=True, eq=False)
class _Columns:
    """Columns of the program, one for a job, interval and type.

    Attributes:
        job: (C,) the job.
        interval: (C,) the interval.
        kind: (C,) the type.
        length: (C,) seconds of the interval after the job's arrival.
        middle: (C,) the middle of these seconds.
    """

    job: Longs
    interval: Longs
    kind: Longs
    length: Floats
    middle: Floats


def _columns(grid: Floats, arrival: Floats, ended: Floats, alone: Floats) -> _Columns:
    low, high = _window(grid, arrival, ended)
    count = high - low
    job = np.repeat(np.arange(len(alone)), count)
    interval = np.arange(len(job)) - np.repeat(np.cumsum(count) - count, count) + low[job]
    runs = np.isfinite(alone)[job]
    place, kind = np.nonzero(runs)
    begin = np.maximum(grid[:-1][interval], arrival[job])
    end = grid[1:][interval]
    length, middle = np.maximum(end - begin, 0.0), (begin + end) / 2
    return _Columns(job[place], interval[place], kind, length[place], middle[place])


def _program(
    grid: Floats, part: _Columns, trace: Trace, cluster: Cluster, size: Floats, alone: Floats
) -> Separable:
    """Minimise the summed mean busy times, in units of the horizon from the first arrival.

    Shares x of the seconds of an interval: a worker at most runs all of it, a job at most has all
    of it, and all work is done or late.
    """
    (n, t), unit, intervals = alone.shape, float(grid[-1] - grid[0]), len(grid) - 1
    job, kind, count = part.job, part.kind, len(part.job)
    done = part.length / alone[job, kind]
    resource = part.interval * t + kind
    pairs, moment = np.unique(job * intervals + part.interval, return_inverse=True)
    lengths, column = np.diff(grid), np.arange(count)
    taken = size[job, kind] * part.length / lengths[part.interval]
    cells = intervals * t
    row = np.concatenate([resource, cells + moment, cells + len(pairs) + np.arange(n)[job]])
    row = np.concatenate([row, cells + len(pairs) + np.arange(n)])
    data = np.concatenate([taken, np.ones(count), done, np.ones(n)])
    col = np.concatenate([column, column, column, count + np.arange(n)])
    rows = cells + len(pairs) + n
    lower, upper = np.full(rows, -np.inf), np.full(rows, np.inf)
    upper[:cells] = np.tile(cluster.workers, intervals)
    upper[cells : cells + len(pairs)] = 1.0
    lower[cells + len(pairs) :] = 1.0
    names = [f"{name}, interval {k}" for k in range(intervals) for name in cluster.types]
    return Separable(
        resource=np.concatenate([resource, np.full(n, -1)]).astype(np.int32),
        demand=np.concatenate([job, np.arange(n)]).astype(np.int32),
        cost=np.concatenate([done * (part.middle - grid[0]) / unit, np.full(n, _LATE)]),
        quadratic=np.zeros(count + n),
        lower=np.zeros(count + n),
        upper=np.full(count + n, np.inf),
        scalar_cost=np.zeros(0),
        scalar_lower=np.zeros(0),
        scalar_upper=np.zeros(0),
        rows=Rows(
            matrix=sp.csc_array((data, (row, col)), shape=(rows, count + n)),
            scalar_matrix=np.zeros((rows, 0)),
            lower=lower,
            upper=upper,
            side=np.repeat([Side.RESOURCE, Side.DEMAND], [cells, rows - cells]).astype(np.int8),
            owner=np.concatenate([np.arange(cells), pairs // intervals, np.arange(n)]).astype(
                np.int32
            ),
            utility=np.zeros(rows, np.int8),
            weight=np.ones(rows),
            parameter=np.zeros(rows),
            families=(
                Family("capacity", 0, cells, names),
                Family("time", cells, cells + len(pairs)),
                Family("work", cells + len(pairs), rows, trace.name),
            ),
        ),
        resource_names=names,
        demand_names=trace.name,
        objective="summed mean busy time",
    )
