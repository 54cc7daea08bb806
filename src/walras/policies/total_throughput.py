"""Total throughput: the sum of the jobs' rates is as large as it can be."""

from __future__ import annotations

from walras.domains import cluster_scheduling
from walras.engines.base import Engine
from walras.policies.solved import labels, pairs_of, solved, speeds
from walras.rounds import JobsSnapshot
from walras.separable import Separable
from walras.simulate.time_shared import Policy


def total_throughput(
    *,
    sharing: bool = False,
    engine: str | Engine = "auto",
    warm: bool = False,
    tolerance: float = 1e-6,
) -> Policy:
    """Total throughput: maximise Σ_j weight_j y_j, where y_j is the rate of job j in steps.

    Jobs of many steps a second come first, whoever waits. Sources: Narayanan et al., OSDI 2020,
    section 4.2; it is MST of Zheng et al., NSDI 2023 (Shockwave).

    Args:
        sharing: Whether two jobs may share their workers, where the trace has speeds of pairs.
        engine: Of :func:`walras.solve`.
        warm: Whether a solve starts from the last decision.
        tolerance: Certified relative gap.

    Returns:
        The policy; its decisions carry value and bound.

    Example:
        >>> import walras as wl
        >>> from walras.rounds import JobsSnapshot
        >>> jobs = JobsSnapshot.of(["a", "b"], speed=[[1.0], [9.0]], workers=[1])
        >>> wl.policies.total_throughput()(jobs).time.round(3).tolist()
        [[0.0], [1.0]]
    """

    def state(snapshot: JobsSnapshot) -> Separable:
        return cluster_scheduling.total_throughput(
            speeds(snapshot),
            snapshot.size,
            snapshot.workers,
            snapshot.weight,
            **labels(snapshot),
            **pairs_of(snapshot, sharing=sharing),
        )

    return solved(
        "total throughput sharing" if sharing else "total throughput",
        state,
        engine=engine,
        warm=warm,
        tolerance=tolerance,
        sharing=sharing,
    )
