"""Proportional fairness: the product of the jobs' rates is as large as it can be."""

from __future__ import annotations

from walras.domains import cluster_scheduling
from walras.engines.base import Engine
from walras.policies.solved import labels, pairs_of, solved, speeds
from walras.rounds import JobsSnapshot
from walras.separable import Separable
from walras.simulate.time_shared import Policy


def proportional_fairness(
    *,
    sharing: bool = False,
    engine: str | Engine = "auto",
    warm: bool = False,
    tolerance: float = 1e-6,
) -> Policy:
    """Proportional fairness: maximise Σ_j weight_j log y_j, where y_j is the rate of job j.

    Sources: Kelly, 1997; Xu et al., OSDI 2025, section 5.1.

    Args:
        sharing: Whether two jobs may share their workers, where the trace has speeds of pairs.
        engine: Of :func:`walras.solve`.
        warm: Whether a solve starts from the last decision.
        tolerance: Certified gap, nats a job.

    Returns:
        The policy; its decisions carry value and bound.

    Example:
        >>> import walras as wl
        >>> from walras.rounds import JobsSnapshot
        >>> jobs = JobsSnapshot.of(["a", "b"], speed=[[1.0], [9.0]], workers=[1])
        >>> wl.policies.proportional_fairness()(jobs).time.round(3).tolist()
        [[0.5], [0.5]]
    """

    def state(snapshot: JobsSnapshot) -> Separable:
        return cluster_scheduling.proportional_fairness(
            speeds(snapshot),
            snapshot.size,
            snapshot.workers,
            snapshot.weight,
            **labels(snapshot),
            **pairs_of(snapshot, sharing=sharing),
        )

    return solved(
        "proportional fairness sharing" if sharing else "proportional fairness",
        state,
        engine=engine,
        warm=warm,
        tolerance=tolerance,
        sharing=sharing,
    )
