"""How much of the cluster the streams of Gavel's evaluation need."""

from __future__ import annotations

from functools import cache

from benchmarks.simulate.published import CLUSTER
from walras.simulate import Cluster, check_load, gavel_trace

_JOBS = 5000


@cache
def load(shape: str, *, aware: bool) -> float:
    """Load of the cluster at one job an hour; it grows with the rate, whose stream is the same.

    Args:
        shape: ``single`` or ``multiple``.
        aware: Whether jobs are split among types so that the most loaded one is as little loaded as
            can be; if not, each has the same time on every worker.
    """
    trace = gavel_trace(1.0, _JOBS, multiple=shape == "multiple", synthetic=False)
    cluster = Cluster(CLUSTER)
    if aware:
        return check_load(trace, cluster).total
    workers = cluster.workers
    seconds = trace.steps / (trace.on(cluster) @ workers / workers.sum())
    hours = (trace.arrival[-1] - trace.arrival[0]) / 3600
    return float(trace.size @ seconds / 3600 / workers.sum() / hours)
