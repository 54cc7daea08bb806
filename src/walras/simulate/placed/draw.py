"""Draw tasks for clusters with slots: Poisson arrivals, log-normal times."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from walras import checks
from walras.errors import InputError
from walras.simulate.placed.tasks import TaskTrace

_MOST = 10_000_000


def draw_tasks(
    tasks: int = 1000,
    *,
    rate: float = 60.0,
    clusters: Sequence[str] = ("east", "west"),
    mean_seconds: float = 300.0,
    spread: float = 1.0,
    apart: float = 0.5,
    chance: float = 0.95,
    largest: int = 1,
    tenants: int = 1,
    error: float = 0.3,
    seed: int = 0,
) -> TaskTrace:
    """Draw a trace of tasks; it is synthetic.

    A task's time is log-normal; on each cluster it is another multiple of it, so that tasks have
    clusters that suit them. What a policy sees errs by a factor.

    Args:
        tasks: Their number.
        rate: Arrivals an hour.
        clusters: Names.
        mean_seconds: Mean predicted time before the clusters' factors.
        spread: Standard deviation of its logarithm.
        apart: Standard deviation of the logarithm of a cluster's factor.
        chance: Mean of the chances of success; they are beta distributed around it.
        largest: Slots are drawn evenly from 1 to so many.
        tenants: Their number; each task is of one drawn evenly.
        error: Standard deviation of the logarithm of true by predicted time.
        seed: Of the draws.

    Returns:
        The tasks.

    Raises:
        InputError: A number is out of range.

    Example:
        >>> import walras as wl
        >>> wl.simulate.draw_tasks(100, rate=120.0)
        TaskTrace(100 tasks over 52.8... min, drawn: 120 tasks/h, seed 0 (synthetic))
    """
    n, names = checks.whole(tasks, "tasks", 1, _MOST), _names(clusters)
    m = len(names)
    errs = checks.number(error, "error", 0.0, 10.0)
    hourly = checks.number(rate, "rate", above=0.0)
    mean = checks.number(mean_seconds, "mean_seconds", above=0.0)
    deviation = checks.number(spread, "spread", 0.0, 10.0)
    between = checks.number(apart, "apart", 0.0, 10.0)
    likely = checks.number(chance, "chance", 0.0, 1.0)
    most, owners = checks.whole(largest, "largest", 1), checks.whole(tenants, "tenants", 1)
    rng = np.random.default_rng([checks.whole(seed, "seed"), 29])
    arrival = np.cumsum(rng.exponential(3600.0 / hourly, n))
    own = mean * np.exp(deviation * rng.standard_normal(n) - deviation**2 / 2.0)
    seconds = own[:, None] * np.exp(between * rng.standard_normal((n, m)))
    sure = likely in (0.0, 1.0)
    odds = np.full((n, m), likely) if sure else rng.beta(20 * likely, 20 * (1 - likely), (n, m))
    owner = rng.integers(owners, size=n)
    made = TaskTrace.of(
        [f"t{j}" for j in range(n)],
        tenant=tuple([f"tenant {t}" for t in owner.tolist()]),
        size=rng.integers(1, most, n, endpoint=True),
        arrival=arrival,
        clusters=names,
        seconds=np.maximum(seconds, 1e-3),
        chance=odds,
        source=f"drawn: {hourly:g} tasks/h, seed {seed} (synthetic)",
    )
    return made.with_truth(errs, seed=seed) if errs else made


def _names(given: Sequence[str]) -> tuple[str, ...]:
    names = checks.distinct(given, "clusters", "cluster")
    if not names:
        raise InputError("is empty", where="clusters", allowed="at least one", remedy="name one")
    return tuple([checks.text(name, "clusters", blank=False) for name in names])
