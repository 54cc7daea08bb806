"""The least total duration: the jobs' times to their ends add up to as little as they can."""

from __future__ import annotations

from walras.domains import cluster_scheduling
from walras.engines.base import Engine
from walras.policies.solved import labels, pairs_of, solved, speeds
from walras.rounds import JobsSnapshot
from walras.separable import Separable
from walras.simulate.time_shared import Policy


def total_duration(
    *,
    sharing: bool = False,
    engine: str | Engine = "auto",
    warm: bool = False,
    tolerance: float = 1e-6,
) -> Policy:
    """The least total duration: minimise Σ_j weight_j n_j / y_j, if shares are kept.

    y_j is the rate of job j and n_j are its steps left, so n_j / y_j is the time until it ends. It
    is minimal potential delay of Mo and Walrand, 2000, with the weights ``weight_j n_j``.

    Args:
        sharing: Whether two jobs may share their workers, where the trace has speeds of pairs.
        engine: Of :func:`walras.solve`.
        warm: Whether a solve starts from the last decision.
        tolerance: Certified relative gap.

    Returns:
        The policy. Its ``value`` is the weighted sum in seconds, its ``bound`` the least one.

    Example:
        >>> import walras as wl
        >>> from walras.rounds import JobsSnapshot
        >>> jobs = JobsSnapshot.of(["a", "b"], speed=[[1.0], [1.0]], steps=[90, 10], workers=[1])
        >>> found = wl.policies.total_duration()(jobs)
        >>> found.time.round(3).tolist(), round(found.value, 2)  # time as sqrt(steps)
        ([[0.75], [0.25]], 160.0)
    """

    def state(snapshot: JobsSnapshot) -> Separable:
        return cluster_scheduling.alpha_fair(
            speeds(snapshot),
            snapshot.size,
            snapshot.workers,
            snapshot.weight * snapshot.left,
            alpha=2.0,
            **labels(snapshot),
            **pairs_of(snapshot, sharing=sharing),
        )

    return solved(
        "total duration sharing" if sharing else "total duration",
        state,
        engine=engine,
        warm=warm,
        tolerance=tolerance,
        value=lambda gain, _: -gain,
        sharing=sharing,
    )
