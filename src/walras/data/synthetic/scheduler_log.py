"""A scheduler's log whose truth is known: what each job would have done on every cluster."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from walras.types import Bools, Floats, Longs

_DAY = 86400.0
_START = 20454 * _DAY  # 2026-01-01


@dataclass(frozen=True, eq=False)
class SyntheticLog:
    """A synthetic log, and the truth behind it.

    Attributes:
        frame: A frame with one row a job: ``name``, ``user``, ``cluster``, ``submit``, ``start``,
            ``end``, ``slots``, ``outcome``.
        seconds: (jobs, clusters) what each job takes on every cluster.
        good: (jobs, clusters) whether it would succeed there.
        slots: Slots of each cluster, by name.

    Example:
        >>> import walras as wl
        >>> jobs = wl.shadow.synthetic_log(days=2, seed=1)
        >>> jobs.seconds.shape == jobs.good.shape == (len(jobs.frame), 3)
        True
    """

    frame: pd.DataFrame
    seconds: Floats
    good: Bools
    slots: dict[str, int]


def synthetic_log(
    days: int = 24,
    jobs_a_day: int = 60,
    clusters: int = 3,
    slots: int = 6,
    seed: int = 0,
    *,
    past_days: int = 0,
    past_seed: int = 0,
    spread: float = 0.4,
    night: float = 0.5,
) -> SyntheticLog:
    """Make a log of days that are alike: kinds of jobs, users who choose clusters by habit.

    The kinds and the clusters are the same for every seed; the seed draws the days. A job's time is
    its kind's, times the cluster's factor for that kind, times noise. Each cluster runs its jobs in
    the order of their submission.

    Args:
        days: Days.
        jobs_a_day: Jobs a day, on average.
        clusters: Clusters.
        slots: Slots of each cluster.
        seed: Seed of the days.
        past_days: How many of the first days are drawn by ``past_seed`` instead.
        past_seed: Their seed: logs that share it have the same past.
        spread: Standard deviation of the noise in log time.
        night: Share of the day in which nothing is submitted.

    Returns:
        The log and its truth.

    Example:
        >>> import walras as wl
        >>> wl.shadow.synthetic_log(days=2, clusters=2, seed=1).slots
        {'cluster-a': 6, 'cluster-b': 6}
    """
    kinds = _Kinds.of(clusters)
    parts = ((past_seed, 0, past_days), (seed, past_days, days))
    drawn = [
        _drawn(kinds, first, last, jobs_a_day, spread, night, np.random.default_rng((one, 17)))
        for one, first, last in parts
        if last > first
    ]
    submit, kind, seconds, good, cluster = map(np.concatenate, zip(*drawn, strict=True))
    n, size = len(submit), kinds.size[kind]
    start = np.empty(n)
    for i in range(clusters):
        mine = np.flatnonzero(cluster == i)
        start[mine] = _in_order(submit[mine], seconds[mine, i], size[mine], slots)
    at = np.arange(n)
    names = [f"cluster-{_letter(i)}" for i in range(clusters)]
    frame = pd.DataFrame(
        {
            "name": [f"kind{_letter(k)}" for k in kind],
            "user": [f"user{_letter(k % 6)}" for k in kind],
            "cluster": [names[i] for i in cluster],
            "submit": submit,
            "start": start,
            "end": start + seconds[at, cluster],
            "slots": size,
            "outcome": np.where(good[at, cluster], "completed", "failed"),
        }
    )
    return SyntheticLog(frame, seconds, good, dict.fromkeys(names, slots))


def _letter(k: int) -> str:
    return chr(ord("a") + int(k) % 26)


def _drawn(
    kinds: _Kinds,
    first: int,
    last: int,
    jobs_a_day: int,
    spread: float,
    night: float,
    rng: np.random.Generator,
) -> tuple[Floats, Longs, Floats, Bools, Longs]:
    """Submission, kind, times and outcomes everywhere, and the user's choice, of some days."""
    day = np.repeat(np.arange(first, last), rng.poisson(jobs_a_day, last - first))
    n, clusters = len(day), kinds.factor.shape[1]
    submit = np.floor(np.sort(_START + _DAY * (day + (1.0 - night) * rng.random(n))))
    kind = rng.choice(len(kinds.base), n, p=kinds.share)
    noise = rng.normal(0.0, spread, n)[:, None] + rng.normal(0.0, 0.3 * spread, (n, clusters))
    times = np.exp(kinds.base[kind][:, None] + kinds.factor[kind] + noise)
    good = rng.random((n, clusters)) >= kinds.failure[kind]
    return submit, kind, np.ceil(np.maximum(times, 1.0)), good, _chosen(kinds.habit[kind], rng)


@dataclass(frozen=True, eq=False)
class _Kinds:
    """What kinds of jobs there are: time, size, failures and habits of each."""

    share: Floats
    base: Floats
    factor: Floats
    failure: Floats
    habit: Floats
    size: Longs

    @classmethod
    def of(cls, clusters: int, kinds: int = 10) -> _Kinds:
        rng = np.random.default_rng(2026)
        speed = np.linspace(-0.35, 0.35, clusters)
        share = rng.dirichlet(np.full(kinds, 4.0))
        return cls(
            share,
            rng.normal(np.log(1800.0), 0.7, kinds),
            speed + rng.normal(0.0, 0.25, (kinds, clusters)),
            np.clip(rng.beta(1.5, 14.0, (kinds, clusters)), 0.0, 0.4),
            rng.dirichlet(np.full(clusters, 3.0), kinds),
            rng.choice([1, 1, 2], kinds).astype(np.int64),
        )


def _chosen(habit: Floats, rng: np.random.Generator) -> Longs:
    """(n,) a cluster for each job by the habit of its kind."""
    drawn = rng.random(len(habit))[:, None]
    found = (habit.cumsum(axis=1) < drawn).sum(axis=1)
    last: Longs = np.minimum(found, habit.shape[1] - 1).astype(np.int64)
    return last


def _in_order(submit: Floats, seconds: Floats, size: Longs, slots: int) -> Floats:
    """(n,) when each job begins that takes the first free slots, no sooner than the one before."""
    free = np.full(slots, -np.inf)
    start = np.empty(len(submit))
    last = -np.inf
    for k in range(len(submit)):
        free.sort()
        last = start[k] = max(submit[k], free[size[k] - 1], last)
        free[: size[k]] = last + seconds[k]
    return start
