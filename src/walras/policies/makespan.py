"""The least makespan: all jobs that are there end as soon as they can all have ended."""

from __future__ import annotations

import math

import numpy as np

from walras.domains import cluster_scheduling
from walras.engines.base import Engine
from walras.policies.solved import labels, pairs_of, solved, speeds
from walras.rounds import JobsSnapshot
from walras.separable import Separable
from walras.simulate.time_shared import Policy
from walras.types import Floats


def makespan(
    sharing: bool = False,
    *,
    engine: str | Engine = "auto",
    warm: bool = False,
    tolerance: float = 1e-6,
) -> Policy:
    """The least makespan: minimise the time at which the last job ends if shares are kept.

    Shares maximise min_j y_j / n_j, where y_j is the rate of job j and n_j are its steps left.
    Source: Narayanan et al., OSDI 2020, section 4.2; their code calls it minimum total duration.

    Args:
        sharing: Whether two jobs may share their workers, where the trace has speeds of pairs.
        engine: Of :func:`walras.solve`.
        warm: Whether a solve starts from the last decision.
        tolerance: Certified relative gap.

    Returns:
        The policy. Its ``value`` is the makespan in seconds from now, its ``bound`` the least one.

    Example:
        >>> import walras as wl
        >>> from walras.rounds import JobsSnapshot
        >>> jobs = JobsSnapshot.of(["a", "b"], speed=[[1.0], [1.0]], steps=[30, 10], workers=[1])
        >>> round(wl.policies.makespan()(jobs).value, 3)
        40.0
    """

    def state(snapshot: JobsSnapshot) -> Separable:
        return cluster_scheduling.min_makespan(
            speeds(snapshot),
            snapshot.size,
            snapshot.workers,
            _work(snapshot),
            **labels(snapshot),
            **pairs_of(snapshot, sharing=sharing),
        )

    return solved(
        "makespan sharing" if sharing else "makespan",
        state,
        engine=engine,
        warm=warm,
        tolerance=tolerance,
        value=lambda rate, snapshot: 1.0 / (rate * _pace(snapshot)) if rate > 0.0 else math.inf,
        sharing=sharing,
    )


def _pace(snapshot: JobsSnapshot) -> float:
    """Ends a second of the slowest job on its best type; no makespan is below its inverse."""
    pace = speeds(snapshot).max(axis=0) / snapshot.left
    return float(pace[pace > 0.0].min()) if (pace > 0.0).any() else 1.0


def _work(snapshot: JobsSnapshot) -> Floats:
    """(N,) steps left, in a unit in which the rate of the slowest job is near 1 however small or
    large speeds are. A job that is over 1e12 times as quick counts as that quick: it then asks for
    at most 1e-12 of the time more.
    """
    quickest = speeds(snapshot).max(axis=0)
    return np.asarray(np.maximum(snapshot.left * _pace(snapshot), quickest * 1e-12))
