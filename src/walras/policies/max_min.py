"""Max-min fairness at any solution: least attained service for many jobs and types."""

from __future__ import annotations

from walras.domains import cluster_scheduling
from walras.engines.base import Engine
from walras.policies.options import needs_speeds
from walras.policies.solved import (
    labels,
    mean_speed,
    pairs_of,
    relative_service,
    solved,
)
from walras.rounds import JobsSnapshot
from walras.separable import Separable
from walras.simulate.time_shared import Policy


def max_min(
    by_speed: bool = True,
    sharing: bool = False,
    *,
    engine: str | Engine = "auto",
    warm: bool = False,
    tolerance: float = 1e-6,
) -> Policy:
    """Max-min fairness: the least service of a job by its weight is the best, by any engine.

    Service is that of :func:`walras.policies.las`, which spreads the time that the least level
    leaves over; here the engine says who has it. So this one is for clusters of hundreds of types
    and thousands of jobs. Sources: Narayanan et al., OSDI 2020, section 4.1; Xu et al., OSDI 2025,
    section 5.1.

    Args:
        by_speed: Whether the policy knows speeds.
        sharing: Whether two jobs may share their workers, where the trace has speeds of pairs.
        engine: Of :func:`walras.solve`.
        warm: Whether a solve starts from the last decision.
        tolerance: Certified relative gap.

    Returns:
        The policy; its decisions carry value and bound.

    Raises:
        InputError: The tolerance is out of range, or ``sharing`` is asked for without ``by_speed``.

    Example:
        >>> import walras as wl
        >>> from walras.rounds import JobsSnapshot
        >>> jobs = JobsSnapshot.of(["a", "b"], speed=[[3.0, 1.0], [1.0, 1.0]], workers=[1, 1])
        >>> round(wl.policies.max_min(engine="interior", warm=True)(jobs).value, 3)
        1.0
    """
    needs_speeds(by_speed=by_speed, sharing=sharing)

    def state(snapshot: JobsSnapshot) -> Separable:
        return cluster_scheduling.max_min(
            relative_service(snapshot, by_speed=by_speed).T,
            snapshot.size,
            snapshot.workers,
            snapshot.weight,
            **labels(snapshot),
            **pairs_of(snapshot, sharing=sharing, unit=mean_speed(snapshot) / snapshot.size),
        )

    return solved(
        ("max-min" if by_speed else "max-min blind") + " sharing" * sharing,
        state,
        engine=engine,
        warm=warm,
        tolerance=tolerance,
        blind=not by_speed,
        sharing=sharing,
    )
