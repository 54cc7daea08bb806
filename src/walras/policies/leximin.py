"""Leximin: max-min fairness again and again for the jobs that can still rise."""

from __future__ import annotations

from walras import checks
from walras.domains import cluster_scheduling
from walras.engines.base import Engine
from walras.policies.options import needs_speeds
from walras.policies.solved import (
    labels,
    mean_speed,
    needs_near_weights,
    pairs_of,
    relative_service,
    solved,
)
from walras.rounds import JobsSnapshot
from walras.separable import Leximin
from walras.simulate.time_shared import Policy


def leximin(
    by_speed: bool = True,
    sharing: bool = False,
    *,
    levels: int = 10,
    engine: str | Engine = "auto",
    tolerance: float = 1e-6,
) -> Policy:
    """Leximin: the least service by weight is the best, then the least of the others, and so on.

    Service is that of :func:`walras.policies.las`; its shares leave idle what no job at the least
    level can use, these do not. Sources: Narayanan et al., OSDI 2020, section 4.3; Ogryczak and
    Sliwinski, 2006.

    Args:
        by_speed: Whether the policy knows speeds.
        sharing: Whether two jobs may share their workers, where the trace has speeds of pairs.
        levels: Largest number of levels.
        engine: Of :func:`walras.solve`.
        tolerance: Certified relative gap of a level.

    Returns:
        The policy. Its ``value`` is the least service by weight, its ``bound`` the best one.

    Raises:
        InputError: ``levels`` or the tolerance is out of range, or ``sharing`` is asked for without
            ``by_speed``. The policy raises it where a weight is over 1e8 times another.

    Example:
        >>> import walras as wl
        >>> from walras.rounds import JobsSnapshot
        >>> jobs = JobsSnapshot.of(["a", "b"], speed=[[1, 0], [1, 1]], workers=[1, 1])
        >>> wl.policies.leximin()(jobs).time.round(3).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    checks.flag(by_speed, "by_speed")
    levels = checks.whole(levels, "levels", 1)
    needs_speeds(by_speed=by_speed, sharing=sharing)
    name = "leximin" + " blind" * (not by_speed) + " sharing" * sharing

    def state(snapshot: JobsSnapshot) -> Leximin:
        needs_near_weights(snapshot)
        return cluster_scheduling.leximin(
            relative_service(snapshot, by_speed=by_speed).T,
            snapshot.size,
            snapshot.workers,
            snapshot.weight,
            levels=levels,
            **labels(snapshot),
            **pairs_of(snapshot, sharing=sharing, unit=mean_speed(snapshot) / snapshot.size),
        )

    return solved(
        name,
        state,
        engine=engine,
        warm=False,
        tolerance=tolerance,
        blind=not by_speed,
        sharing=sharing,
    )
