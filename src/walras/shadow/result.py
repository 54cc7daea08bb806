"""The result of a comparison: what the log did, what the policy would have done, how surely."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from walras.saving import save
from walras.shadow.measures import MEASURES, UNITS
from walras.status import Status
from walras.types import Floats, Longs


@dataclass(frozen=True, eq=False)
class Shadow:
    """What a log's scheduler did against what the exchange's policy would have done.

    The five measures, in the order of ``MEASURES``: ``makespan``, seconds from a day's first
    submission to the end of its last job, by day; ``waiting`` and ``turnaround``, seconds from a
    job's submission to its start and to its end; ``failures``, share of the jobs; ``cost`` of a
    job, in the unit of the prices, slot-hours where none are given.

    Attributes:
        log: (5,) what the log did.
        policy: (5,) what the policy would have done.
        low: (5,) lower end of the interval of the difference, policy less log.
        high: (5,) its upper end.
        bound: (5,) what no policy can go below, with all times known.
        daily: (2, 5, days) sums of each day for the log and the policy; the makespan as it is.
        jobs: (days,) jobs of each day.
        level: Probability that an interval holds.
        clusters: Name of each cluster, M.
        slots: (M,) their slots.
        shares: (2, M) share of the jobs on each, in the log and by the policy.
        load: Slot-seconds submitted over those there are.
        moved: Share of the jobs that the policy ran elsewhere.
        overlap: Share of the placements that rest on five or more runs of the kind there.
        moved_overlap: The same, of those that were moved.
        learned_from: Jobs that the predictors were trained on.
        left_out: Rows that could not be used.
        round_seconds: Seconds between rounds of the replay.
        rounds: Rounds that were decided.
        origin: The log.
        status: ``feasible``, or ``interrupted`` if it was stopped and covers the days so far.

    Example:
        >>> import walras as wl
        >>> jobs = wl.shadow.synthetic_log(days=10, seed=3)
        >>> found = wl.shadow.compare(wl.shadow.read_jobs(jobs.frame), resamples=50)
        >>> list(found.frame().columns)[:4], str(found.status)
        (['measure', 'unit', 'log', 'policy'], 'feasible')
    """

    log: Floats
    policy: Floats
    low: Floats
    high: Floats
    bound: Floats
    daily: Floats
    jobs: Longs
    level: float
    clusters: tuple[str, ...]
    slots: Longs
    shares: Floats
    load: float
    moved: float
    overlap: float
    moved_overlap: float
    learned_from: int
    left_out: int
    round_seconds: float
    rounds: int
    origin: str
    status: Status = Status.FEASIBLE

    @property
    def difference(self) -> Floats:
        """(5,) policy less log; below zero where the policy is better."""
        return self.policy - self.log

    @property
    def most_saved(self) -> Floats:
        """(5,) the most that any policy could have saved against the log."""
        return np.maximum(self.log - self.bound, 0.0)

    @property
    def value(self) -> float:
        """Mean turnaround by the policy, in seconds."""
        return float(self.policy[MEASURES.index("turnaround")])

    def frame(self) -> pd.DataFrame:
        """One row a measure.

        Returns:
            Columns ``measure``, ``unit``, ``log``, ``policy``, ``difference``, ``low``, ``high``,
            ``bound``, ``most_saved``.
        """
        return pd.DataFrame(
            {
                "measure": MEASURES,
                "unit": [UNITS[name] for name in MEASURES],
                "log": self.log,
                "policy": self.policy,
                "difference": self.difference,
                "low": self.low,
                "high": self.high,
                "bound": self.bound,
                "most_saved": self.most_saved,
            }
        )

    def by_day(self) -> pd.DataFrame:
        """One row a day and side.

        Returns:
            Columns ``day`` (from 1), ``side`` (``log``, ``policy``), ``jobs`` and the measures:
            means over the jobs of the day.
        """
        frames = []
        for side, sums in zip(("log", "policy"), self.daily, strict=True):
            jobs = np.maximum(self.jobs, 1)
            columns = {
                name: sums[k] if name == "makespan" else sums[k] / jobs
                for k, name in enumerate(MEASURES)
            }
            day = np.arange(1, len(jobs) + 1)
            frames.append(pd.DataFrame({"day": day, "side": side, "jobs": self.jobs, **columns}))
        return pd.concat(frames, ignore_index=True)

    def save(self, path: str | Path) -> None:
        """Write the result to a file; :func:`walras.load` reads it.

        Args:
            path: The file, usually ``.npz``.

        Raises:
            DataError: It cannot be written.
        """
        save(self, path)

    def __repr__(self) -> str:
        k = MEASURES.index("turnaround")
        change = f"{self.difference[k]:+.4g} s [{self.low[k]:.4g}, {self.high[k]:.4g}]"
        jobs, days = int(self.jobs.sum()), len(self.jobs)
        return f"Shadow({self.status}, {jobs} jobs on {days} days, turnaround {change})"
