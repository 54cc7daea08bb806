"""Makespan, waiting, failures and cost of jobs by the day of their submission."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras.types import Floats, Longs

MEASURES = ("makespan", "waiting", "turnaround", "failures", "cost")
"""What is measured: seconds from a day's first submission to the end of its last job; mean seconds
from submission to start, and to end; share of jobs that failed; mean price of a job."""

UNITS = {
    "makespan": "s a day",
    "waiting": "s a job",
    "turnaround": "s a job",
    "failures": "share",
    "cost": "a job",
}


@dataclass(frozen=True, eq=False)
class Days:
    """The days that are measured.

    Attributes:
        day: (n,) day of each job, 0 to K - 1; -1 for jobs that are run and not measured.
        submit: (n,) seconds.
        slots: (n,) slots of each job.
        count: K.
    """

    day: Longs
    submit: Floats
    slots: Longs
    count: int

    def sums(
        self, start: Floats, seconds: Floats, failed: Floats, price: Floats
    ) -> tuple[Floats, Longs]:
        """Measures summed over the jobs of each day; the makespan as it is.

        Args:
            start: (n,) when each job began.
            seconds: (n,) what it took.
            failed: (n,) whether, or how likely, it failed.
            price: (n,) of a slot-hour where it ran.

        Returns:
            (5, K) sums in the order of ``MEASURES``, and (K,) jobs of each day.
        """
        mine = self.day >= 0
        day, k = self.day[mine], self.count
        end = (start + seconds)[mine]
        last = np.full(k, -np.inf)
        np.maximum.at(last, day, end)
        first = np.full(k, np.inf)
        np.minimum.at(first, day, self.submit[mine])
        paid = (self.slots * seconds * price)[mine] / 3600.0
        values = (
            (start - self.submit)[mine],
            end - self.submit[mine],
            failed[mine],
            paid,
        )
        sums = [np.bincount(day, value, k) for value in values]
        jobs = np.bincount(day, minlength=k)
        return np.stack([np.where(jobs > 0, last - first, 0.0), *sums]), jobs


def means(sums: Floats, jobs: Longs, weight: Floats | None = None) -> Floats:
    """Means over days, or over the jobs of days.

    Args:
        sums: (5, K) as :meth:`Days.sums` gives them.
        jobs: (K,) jobs of each day.
        weight: (K,) how often a day counts; once if None.

    Returns:
        (5,) the makespan by day, the others by job.
    """
    w = np.ones(len(jobs)) if weight is None else weight
    total = sums @ w
    by_job = max(float(w @ jobs), 1.0)
    by_day = max(float(w.sum()), 1.0)
    found: Floats = total / np.array([by_day, *[by_job] * (len(total) - 1)])
    return found
