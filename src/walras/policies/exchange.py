"""The exchange's own policy, as a function from a snapshot to a decision."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from walras import checks
from walras.policies.placements import Policy, decide
from walras.rounds import Decision, Predict, Snapshot

_SEEDS = 2**48  # a decision's seed is a whole number up to 2**53


def exchange(
    settings: Policy | None = None,
    *,
    predict: Predict | None = None,
    seed: int = 0,
    time_limit: float | None = None,
) -> Callable[[Snapshot], Decision]:
    """The policy of the exchange: least makespan at a floor under the mean chance of success.

    It is :func:`walras.policies.placements.decide`, as the service calls it. Each round draws from
    a seed of its own, which the snapshot and ``seed`` give, so that the policy remembers nothing.

    Args:
        settings: Of the search; the defaults if None. The rules are the snapshot's.
        predict: What is predicted of tasks, as ``tasks.predict`` of a
            :class:`walras.simulate.TaskTrace`; equal times and sure success if None.
        seed: Of the random placements and of ties.
        time_limit: Seconds of a round; without one, the same snapshot gives the same bytes.

    Returns:
        The policy.

    Raises:
        InputError: The seed or the limit is out of range.

    Example:
        >>> import walras as wl
        >>> from walras.rounds import Clusters, Snapshot, Tasks, Tenants
        >>> snapshot = Snapshot.of(
        ...     Tasks.of(["train", "test"]),
        ...     Clusters.of(["east"], trusted=[True]),
        ...     Tenants.of(["lab"]),
        ... )
        >>> wl.policies.exchange()(snapshot).cluster
        array([ 0, -1])
    """
    settings = settings or Policy()
    seed = checks.whole(seed, "seed", 0, _SEEDS - 1)
    if time_limit is not None:
        time_limit = checks.number(time_limit, "time_limit", above=0.0)

    def policy(snapshot: Snapshot) -> Decision:
        return decide(
            snapshot,
            predict,
            settings,
            seed=(seed + int(snapshot.hash[:12], 16)) % _SEEDS,
            time_limit=time_limit,
            clock=None if time_limit is None else perf_counter,
            predictor="prior" if predict is None else "given",
        )

    policy.__name__ = "exchange"
    return policy
