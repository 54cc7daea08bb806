"""What no policy can beat on a trace: its mean completion time and its makespan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from walras.policies.savings.completion import completion_bound
from walras.policies.savings.makespan import last_end
from walras.policies.savings.prices import good_prices
from walras.simulate import Cluster, Trace
from walras.simulate.run import measured_jobs
from walras.types import Bools, Floats, Longs

_SCALES = (0.8, 0.9, 0.95, 1.0, 1.05, 1.1)  # of the prices
_ROUNDING = 1e-9  # of the simulator's clock and of the sums here


@dataclass(frozen=True, eq=False)
class SavingsBound:
    """Lower bounds that hold for every policy, with all arrivals known before.

    Attributes:
        mean_completion: Seconds from arrival to end, on average over the measured jobs.
        makespan: Seconds from the first arrival to the last end of a measured job.
        alone: Mean seconds of the measured jobs on their fastest type: the bound of an empty
            cluster.
        nodes: (K,) seconds at which the prices of workers stand.
        price: (K, T) seconds of summed completion that a worker-second is worth; they prove
            ``mean_completion`` (see :mod:`walras.policies.savings.completion`).
        types: (T,) names of the types.

    Example:
        >>> import walras as wl
        >>> trace = wl.simulate.Trace.of(["a", "b"], steps=[10, 30])
        >>> bound = wl.policies.savings_bound(trace, wl.simulate.Cluster({"type 0": 1}))
        >>> round(bound.makespan, 3), bound.mean_completion <= (10 + 40) / 2
        (40.0, True)
    """

    mean_completion: float
    makespan: float
    alone: float
    nodes: Floats
    price: Floats
    types: tuple[str, ...]

    def frame(self) -> pd.DataFrame:
        """The prices: one row a node, ``at`` and a column a type."""
        columns = {name: self.price[:, k] for k, name in enumerate(self.types)}
        return pd.DataFrame({"at": self.nodes, **columns})

    def __repr__(self) -> str:
        mean, last = self.mean_completion / 3600, self.makespan / 3600
        return f"SavingsBound(mean completion {mean:.6g} h, makespan {last:.6g} h)"


def savings_bound(
    trace: Trace,
    cluster: Cluster,
    *,
    measured: slice | Sequence[int] | Bools | Longs | None = None,
) -> SavingsBound:
    """Bound from below what any policy could reach on a trace, had it known all arrivals.

    The bounds are of a relaxation: shares of time by type that change at any moment, without
    rounds, whole workers or moves that cost. Jobs that may share workers in pairs share them with
    the best partner at any time. Prices prove the bounds.
    The time grid on which the prices are found is coarser for more jobs, so that thousands take
    seconds.

    Args:
        trace: The jobs.
        cluster: The workers.
        measured: Jobs that count: a slice, (jobs,) truths or positions; all if None.

    Returns:
        The bounds.

    Raises:
        InputError: A job can run nowhere, or no job is measured.

    Example:
        >>> import walras as wl
        >>> trace = wl.simulate.Trace.of(["a", "b", "c"], steps=[60, 60, 60])
        >>> bound = wl.policies.savings_bound(trace, wl.simulate.Cluster({"type 0": 2}))
        >>> round(bound.makespan, 3)
        90.0
    """
    speed = trace.on(cluster)
    chosen = np.flatnonzero(measured_jobs(measured, len(trace)))
    alone, size = (part[chosen] for part in relaxed(trace, speed, trace.paired_on(cluster)))
    own = _only(trace, chosen)
    arrival, workers = own.arrival, cluster.workers.astype(np.float64)
    nodes, price = good_prices(own, cluster, size, alone)
    least = float(alone.min(axis=1).mean())
    best, scale = least, 0.0
    for factor in _SCALES:
        total = completion_bound(arrival, size, alone, nodes, factor * price, workers)
        found = (total - float(arrival.sum())) / len(own)
        if found > best:
            best, scale = found, factor
    last = last_end(arrival, size, alone, workers)
    return SavingsBound(
        mean_completion=best - _ROUNDING * (best + float(arrival[-1])),
        makespan=(last - float(trace.arrival[0])) - _ROUNDING * last,
        alone=least,
        nodes=nodes,
        price=scale * price,
        types=cluster.types,
    )


def relaxed(trace: Trace, speed: Floats, paired: Floats) -> tuple[Floats, Floats]:
    """Seconds and workers of each job on each type, no more than alone or in any pair.

    Alone a job takes b seconds and s workers; beside its best partner it takes b' seconds, and half
    of the s workers are its part. A job of min(b, b') seconds and min(s b, s b' / 2) worker-seconds
    does as much of its work as either in no more time and with no more workers.

    Args:
        trace: The jobs.
        speed: (N, T) steps a second alone.
        paired: (G, G, T) steps a second of a job of one group beside one of another.

    Returns:
        (N, T) seconds, infinite where a job cannot run; (N, T) workers.
    """
    beside = np.zeros_like(speed)
    shares = trace.group >= 0
    if shares.any():
        present = np.unique(trace.group[shares])
        beside[shares] = paired[:, present].max(axis=1)[trace.group[shares]]
    beside[speed <= 0.0] = 0.0
    size = np.broadcast_to(trace.size[:, None].astype(np.float64), speed.shape)
    with np.errstate(divide="ignore"):
        alone, together = trace.steps[:, None] / speed, trace.steps[:, None] / beside
    seconds = np.minimum(alone, together)
    work = np.minimum(size * alone, size / 2 * together)
    runs = np.isfinite(seconds)
    taken = np.divide(work, seconds, out=size.copy(), where=runs)
    return seconds, taken


def _only(trace: Trace, chosen: Longs) -> Trace:
    """The trace without the other jobs."""
    return Trace(
        name=tuple(trace.name[j] for j in chosen),
        kind=tuple(trace.kind[j] for j in chosen),
        size=trace.size[chosen],
        steps=trace.steps[chosen],
        weight=trace.weight[chosen],
        arrival=trace.arrival[chosen],
        types=trace.types,
        speed=trace.speed[chosen],
        source=trace.source,
    )
