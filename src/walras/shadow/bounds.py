"""What no policy can beat, not even one that knows all times: lower bounds on each measure.

All slots of all clusters are one machine, each job takes its shortest time, and jobs may be cut up
(shortest remaining work first; Schrage, 1968). Waiting follows from the turnaround less the longest
time that a job may take.
"""

from __future__ import annotations

import heapq

import numpy as np

from walras.shadow.measures import Days
from walras.types import Floats, Longs


def least(
    days: Days, seconds: Floats, failed: Floats, price: Floats, total_slots: int
) -> tuple[Floats, Longs]:
    """Lower bounds on the sums of each day's jobs.

    Args:
        days: The days.
        seconds: (n, M) what each job takes on each cluster that it may go to; infinite elsewhere.
        failed: (n, M) its chance to fail there.
        price: (M,) price of a slot-hour.
        total_slots: Slots of all clusters.

    Returns:
        (5, K) bounds in the order of ``MEASURES``, and (K,) jobs of each day.
    """
    allowed = np.isfinite(seconds)
    shortest = seconds.min(axis=1)
    longest = np.where(allowed, seconds, 0.0).max(axis=1)
    dearest = np.where(allowed, seconds * price, np.inf).min(axis=1) * days.slots / 3600.0
    safest = np.where(allowed, failed, np.inf).min(axis=1)
    found = np.zeros((5, days.count))
    jobs = np.bincount(days.day[days.day >= 0], minlength=days.count)
    for k in range(days.count):
        mine = np.flatnonzero(days.day == k)
        if not len(mine):
            continue
        submit, work = days.submit[mine], shortest[mine] * days.slots[mine] / total_slots
        flow = max(flow_of(submit, work), float(shortest[mine].sum()))
        done = max(finish_of(submit, work), float((submit + shortest[mine]).max()))
        found[:, k] = (
            done - submit.min(),
            max(flow - float(longest[mine].sum()), 0.0),
            flow,
            safest[mine].sum(),
            dearest[mine].sum(),
        )
    return found, jobs


def finish_of(submit: Floats, work: Floats) -> float:
    """When a machine that never idles with work at hand has done all; submissions ascend.

    Args:
        submit: (n,) seconds.
        work: (n,) seconds of the whole machine.
    """
    time = -np.inf
    for arrival, seconds in zip(submit.tolist(), work.tolist(), strict=True):
        time = max(time, arrival) + seconds
    return float(time)


def flow_of(submit: Floats, work: Floats) -> float:
    """Least sum of times from submission to end on one machine that may interrupt jobs.

    Args:
        submit: (n,) seconds, ascending.
        work: (n,) seconds of the machine.
    """
    left: list[float] = []
    total, now, n = 0.0, -np.inf, len(submit)
    arrivals, works = submit.tolist(), work.tolist()
    for k in range(n + 1):
        until = arrivals[k] if k < n else np.inf
        while left and now + left[0] <= until:
            now += heapq.heappop(left)
            total += now
        if left and until < np.inf:
            heapq.heapreplace(left, left[0] - (until - now))
        if k < n:
            now = max(now, until)
            heapq.heappush(left, works[k])
    return float(total - submit.sum())
