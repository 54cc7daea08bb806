"""DeDe's published scheme: alternating subproblems of types and of jobs."""

from __future__ import annotations

from walras.engines.admm.engine import ADMM
from walras.policies.objectives import objective_of
from walras.simulate.time_shared import Policy


def dede(
    objective: str = "max_min",
    *,
    rho: float | None = None,
    iterations: int = 1000,
    warm: bool = True,
) -> Policy:
    """DeDe as published: ADMM with soft constraints in both blocks and a fixed penalty.

    It stops by its own rule on residuals, from the last decision as in the paper; its shares are
    then repaired to be feasible. Source: Xu et al., OSDI 2025; see
    ``walras.engines.ADMM(mode="paper")``.

    Args:
        objective: ``max_min``, ``proportional_fairness``, ``makespan``, ``total_duration`` or
            ``total_throughput``.
        rho: Its penalty, > 0; from the data if None.
        iterations: Iterations at most.
        warm: Whether a solve starts from the last decision.

    Returns:
        The policy; its decisions carry value and bound.

    Raises:
        InputError: There is no such objective, or a number is out of range.

    Example:
        >>> import walras as wl
        >>> from walras.rounds import JobsSnapshot
        >>> jobs = JobsSnapshot.of(["a", "b"], speed=[[1.0], [1.0]], workers=[1])
        >>> round(wl.policies.dede()(jobs).value, 1)
        0.5
    """
    engine = ADMM(mode="paper", rho=rho, iterations=iterations)
    policy = objective_of(objective)(engine=engine, warm=warm)
    policy.__name__ = "DeDe"
    return policy
