"""The independent check: recomputes what a decision must keep."""

from __future__ import annotations

from walras.rounds.check_placements import check_placements
from walras.rounds.check_shares import check_shares
from walras.rounds.decision import Decision
from walras.rounds.jobs import JobsSnapshot
from walras.rounds.shares import Shares
from walras.rounds.snapshot import Snapshot
from walras.rounds.violation import Violation


def check(snapshot: Snapshot | JobsSnapshot, decision: object) -> list[Violation]:
    """Everything that a decision breaks; a round uses it only where nothing is.

    Of placements it holds the capacity of each cluster, its state and labels, pins, quotas, the
    bound on each provider, each task's least success, the floor under the mean (a ``fallback`` may
    miss it by the shortfall that it states), and the figures that the decision states of itself. Of
    shares it holds the time of each job, the workers of each type, and where jobs and pairs run.

    Args:
        snapshot: What was decided from.
        decision: What was decided: a :class:`Decision` of a :class:`Snapshot`, :class:`Shares` of a
            :class:`JobsSnapshot`; or whatever a policy returned.

    Returns:
        The violations, none where the decision is good. Codes of both are ``type`` (no such
        decision at all), ``reference`` (of other names) and ``capacity``; of placements ``state``,
        ``labels``, ``floor``, ``least success``, ``pin``, ``quota``, ``once``, ``provider``,
        ``figures`` and ``blockers``; of shares ``shape``, ``number`` (NaN or infinite), ``range``
        (below 0 or above 1), ``time`` (a job more than all the time), ``speed`` (time where a job
        or two together cannot run) and ``notes``.

    Example:
        >>> import numpy as np
        >>> from walras.rounds import Clusters, Decision, Snapshot, Tasks, Tenants, check
        >>> snapshot = Snapshot.of(
        ...     Tasks.of(["train"]), Clusters.of(["east"], state=["cordoned"]), Tenants.of(["lab"])
        ... )
        >>> one = {"cluster": [0], "seconds": [60], "chance": [1], "binds": [1]}
        >>> plan = Decision.empty(
        ...     ("train",), ("east",), snapshot=snapshot.hash, makespan=60, bound=60, **one
        ... )
        >>> for violation in check(snapshot, plan):
        ...     print(violation)
        state: cluster east: is cordoned and gets train
        capacity: cluster east: 1 slots are filled of 0
        >>> from walras.rounds import JobsSnapshot
        >>> jobs = JobsSnapshot.of(["a", "b"], speed=[[1.0], [1.0]], workers=[1])
        >>> for violation in check(jobs, jobs.shares([[1.0], [0.5]])):
        ...     print(violation)
        capacity: type 0: 1.5 workers are taken of 1
    """
    if isinstance(snapshot, Snapshot) and isinstance(decision, Decision):
        return check_placements(snapshot, decision)
    if isinstance(snapshot, JobsSnapshot) and isinstance(decision, Shares):
        return check_shares(snapshot, decision)
    wanted = Decision if isinstance(snapshot, Snapshot) else Shares
    what = f"the policy returned {type(decision).__name__}, not {wanted.__name__}"
    return [Violation("type", "decision", what)]
