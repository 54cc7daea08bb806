"""POP: the jobs in k random parts, each with a k-th of every type, decided apart and joined."""

from __future__ import annotations

from walras import checks
from walras.engines.pop.engine import POP
from walras.policies.objectives import objective_of
from walras.rounds import JobsSnapshot
from walras.simulate.time_shared import Policy


def pop(parts: int = 4, objective: str = "max_min", *, seed: int = 0) -> Policy:
    """POP-k: an objective over k random parts of the jobs, each with a k-th of every type.

    Source: Narayanan et al., SOSP 2021; see :class:`walras.engines.POP`.

    Args:
        parts: Number of parts k; of fewer jobs, one part a job.
        objective: ``max_min``, ``proportional_fairness``, ``makespan``, ``total_duration`` or
            ``total_throughput``.
        seed: Of the random parts.

    Returns:
        The policy. Its ``bound`` is that of the whole, so that the gap says what the parts cost.

    Raises:
        InputError: There is no such objective, or a number is out of range.

    Example:
        >>> import walras as wl
        >>> from walras.rounds import JobsSnapshot
        >>> jobs = JobsSnapshot.of(["a", "b"], speed=[[1.0], [1.0]], workers=[1])
        >>> wl.policies.pop(parts=2)(jobs).time.round(3).tolist()
        [[0.5], [0.5]]
    """
    parts = checks.whole(parts, "parts", 1)
    seed = checks.whole(seed, "seed")

    def engine(snapshot: JobsSnapshot) -> POP:
        return POP(parts=min(parts, len(snapshot)), seed=seed)

    policy = objective_of(objective)(engine=engine)
    policy.__name__ = f"POP-{parts}"
    return policy
