"""Make a decision of a plan alone: its figures, its state, and why tasks wait."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from walras.errors import InputError
from walras.rounds.blocked import blockers_of
from walras.rounds.blockers import Blockers
from walras.rounds.decision import Decision
from walras.rounds.fields import checked
from walras.rounds.snapshot import Snapshot
from walras.types import Floats, Longs


def planned(
    snapshot: Snapshot,
    cluster: npt.ArrayLike,
    *,
    seconds: npt.ArrayLike | None = None,
    chance: npt.ArrayLike | None = None,
    policy: str = "",
) -> Decision:
    """The decision of a plan: where each task goes, and the figures that follow from it.

    A plan whose mean chance of success misses the floor is a ``fallback`` and states what is
    missing. Nothing else is checked here: :func:`walras.rounds.check` does that.

    Args:
        snapshot: What was decided from.
        cluster: (N,) which cluster each task goes to, or -1.
        seconds: (N, M) predicted times, finite where a task is placed; the typical time if None.
        chance: (N, M) predicted chances of success; 1 if None.
        policy: Name of the policy.

    Returns:
        The decision.

    Raises:
        InputError: A shape or a number cannot be used.

    Example:
        >>> from walras.rounds import Clusters, Snapshot, Tasks, Tenants, check, planned
        >>> clusters = Clusters.of(["east", "west"], trusted=[True, True])
        >>> snapshot = Snapshot.of(Tasks.of(["train", "test"]), clusters, Tenants.of(["lab"]))
        >>> decision = planned(snapshot, [1, -1], seconds=[[60, 20], [60, 20]])
        >>> decision.makespan, check(snapshot, decision)
        (20.0, [])
    """
    n, m = len(snapshot.tasks), len(snapshot.clusters)
    plan: Longs = checked(cluster, "planned.cluster", np.int64, (n,), -1, m - 1)
    own = np.flatnonzero(plan >= 0)
    figures = {
        "seconds": _picked(seconds, "seconds", snapshot.typical, plan, (n, m)),
        "chance": _picked(chance, "chance", 1.0, plan, (n, m)),
    }
    floor = snapshot.rules.min_success
    missing = max(floor - math.fsum(figures["chance"][own]) / len(own), 0.0) if len(own) else 0.0
    return Decision.empty(
        snapshot.tasks.uid,
        snapshot.clusters.uid,
        snapshot=snapshot.hash,
        policy=policy,
        state="fallback" if missing > 0.0 else "ok",
        method=policy,
        why=f"the mean success is {missing:.6g} below the floor" if missing > 0.0 else "",
        cluster=plan,
        makespan=_makespan(snapshot, plan, figures["seconds"]),
        shortfall=missing,
        blockers=blockers_of(snapshot, plan) if len(own) < n else Blockers.none(),
        **figures,
    )


def _picked(
    given: npt.ArrayLike | None, name: str, default: float, plan: Longs, shape: tuple[int, int]
) -> Floats:
    """(N,) figures of the tasks placed, on their clusters; 0 for the others."""
    placed = plan >= 0
    if given is None:
        return np.where(placed, default, 0.0)
    table = np.asarray(given)
    if table.shape != shape or table.dtype.kind not in "fiu":
        raise InputError(
            f"has shape {table.shape}", where=f"planned.{name}", allowed=f"{shape} numbers"
        )
    if not shape[1]:
        return np.zeros(shape[0])
    return np.where(placed, table[np.arange(len(plan)), plan], 0.0)


def _makespan(snapshot: Snapshot, plan: Longs, seconds: Floats) -> float:
    """Seconds until the last task ends: the longest one, or the work of a cluster by its slots."""
    placed = plan >= 0
    if not placed.any():
        return 0.0
    longest = float(seconds.max())
    if snapshot.rules.window <= 1.0:
        return longest
    work = np.bincount(plan[placed], (snapshot.tasks.slots * seconds)[placed])
    free = snapshot.clusters.free[: len(work)]
    return max(longest, float((work / np.maximum(free, 1)).max()))
