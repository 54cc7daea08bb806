"""Whether a log can bear the claim: days, choice, saturation, overlap. Else one error says why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from walras import checks
from walras.errors import DataError, InputError
from walras.shadow.counterfactual import OFTEN, Observed
from walras.shadow.jobs import DAY, JobLog
from walras.shadow.replay import Placed
from walras.types import Bools, Floats, Longs

LEAST_DAYS = 3  # that are replayed, and drawn again for the intervals
LEAST_PAST = 50  # jobs that must have ended at the cut
SLOTS = 2**20
"""Slots that a cluster may have."""

_FULL = 0.95  # load from which queues grow without end, in time
_CHOICE = 0.01  # share of the jobs that may go to two clusters
_GROWTH, _HELD = 0.05, 0.25  # of a day's capacity: growth a day, and backlog at the end


@dataclass(frozen=True, eq=False)
class Split:
    """Where the log is cut, and which jobs are what.

    Attributes:
        cut: Midnight at which the replay begins, seconds since 1970.
        past: Numbers of the jobs that had ended.
        busy: Numbers of the jobs that ran.
        replayed: Numbers of the jobs that had not begun, in the order of submission.
        day: (replayed,) day of each, 0 to K - 1; -1 for what was submitted before the cut.
        days: K, days with jobs.
        past_days: Days before the cut.
    """

    cut: float
    past: Longs
    busy: Longs
    replayed: Longs
    day: Longs
    days: int
    past_days: int


def split(log: JobLog, train: float) -> Split:
    """Cut a log at a midnight.

    Args:
        log: The log.
        train: Share of its days that is the past.

    Raises:
        DataError: There are too few days, or too few jobs in the past.
    """
    first = float(log.submit.min() // DAY)
    past_days = min(max(1, round(train * log.days)), log.days - LEAST_DAYS)
    cut = (first + past_days) * DAY
    past = np.flatnonzero(log.end <= cut)
    busy = np.flatnonzero((log.start < cut) & (log.end > cut))
    replayed = np.flatnonzero(log.start >= cut)
    which = np.floor((log.submit[replayed] - cut) / DAY).astype(np.int64)
    found, day = np.unique(np.where(which < 0, -1, which), return_inverse=True)
    day = day.astype(np.int64) - int(len(found) > 0 and found[0] < 0)
    days = int((found >= 0).sum())
    if past_days < 1 or days < LEAST_DAYS:
        raise DataError(
            f"has jobs on {log.days} day{'' if log.days == 1 else 's'}, {days} of them to replay",
            where=log.origin,
            allowed=f"one day to learn from and {LEAST_DAYS} to replay, at least; 20 or more to "
            "replay make good intervals",
            remedy="export a longer time",
        )
    if len(past) < LEAST_PAST:
        raise DataError(
            f"has {len(past)} jobs that ended in its first {past_days} days",
            where=log.origin,
            allowed=f"at least {LEAST_PAST} to learn from",
            remedy="export a longer time, or learn from a larger share of it (train)",
        )
    return Split(cut, past, busy, replayed, day, days, past_days)


def capacity(log: JobLog, slots: Mapping[str, int] | None) -> Longs:
    """(M,) slots of each cluster: those given, else the most that the log used at once.

    Args:
        log: The log.
        slots: Slots by the name of the cluster, of any of them.

    Raises:
        InputError: A cluster is unknown, or has fewer slots than the log used.
        DataError: There is only one cluster.
    """
    if len(log.clusters) < 2:
        raise DataError(
            f"has one cluster, {log.clusters[0]}",
            where=log.origin,
            allowed="two or more, or nothing can be placed otherwise",
            remedy="name another field for the clusters, such as --cluster NodeList",
        )
    found = np.maximum(log.peaks(), _largest(log))  # a job that took no time was no peak
    given = dict(slots or {})
    checks.known_keys(given, log.clusters, "slots")
    for name, value in given.items():
        i = log.clusters.index(name)
        most = checks.whole(value, f"slots[{name}]", 1, SLOTS)
        largest = int(log.slots[log.cluster == i].max())
        if largest > most:
            k = int(np.flatnonzero((log.cluster == i) & (log.slots == largest))[0])
            what = f"is {most}, and a job of {log.name[k]} took {largest} slots there"
            raise _too_few(what, name, int(found[i]))
        if found[i] > most:
            raise _too_few(f"is {most}, and {int(found[i])} were in use at once", name, found[i])
        found[i] = most
    _refuse_endless(log, found)
    return found


def _refuse_endless(log: JobLog, found: Longs) -> None:
    """Refuse clusters of more slots than any has: the log's field says something else.

    Raises:
        DataError: There is one.
    """
    i = int(np.argmax(found))
    if found[i] > SLOTS:
        mine = np.flatnonzero(log.cluster == i)
        k = int(mine[np.argmax(log.slots[mine])])
        raise DataError(
            f"has {found[i]} slots in use at once on cluster {log.clusters[i]:.40}; a job of "
            f"{log.name[k]:.40} alone took {log.slots[k]}",
            where=log.origin,
            allowed=f"at most {SLOTS} slots a cluster",
            remedy="name another field for the slots of a job (--slots-by), or correct that job",
        )


def _largest(log: JobLog) -> Longs:
    """(M,) the most slots that one job took on each cluster."""
    found = np.zeros(len(log.clusters), np.int64)
    np.maximum.at(found, log.cluster, log.slots)
    return found


def _too_few(what: str, name: str, least: int) -> InputError:
    return InputError(
        what,
        where=f"slots[{name}]",
        allowed=f"at least {least}",
        remedy="give the slots that the cluster has, in the unit in which its jobs take them",
    )


def refuse_saturated(log: JobLog, cut: Split, slots: Longs) -> float:
    """The load of the replayed days, if the clusters keep up with it.

    Args:
        log: The log.
        cut: How it is cut.
        slots: (M,) slots of each cluster.

    Returns:
        Slot-seconds submitted over those that there are.

    Raises:
        DataError: More is submitted than can run, or the queue grows day by day.
    """
    mine = cut.replayed[cut.day >= 0]
    length = np.floor((log.submit[mine].max() - cut.cut) / DAY) + 1.0
    day_slots = float(slots.sum()) * DAY
    load: float = float((log.seconds * log.slots)[mine].sum()) / float(length * day_slots)
    backlog = _backlog(log, cut.cut, int(length)) / day_slots
    growth = float(np.polyfit(np.arange(len(backlog)), backlog, 1)[0])
    if load > _FULL or (growth > _GROWTH and backlog[-1] > _HELD):
        what = (
            f"jobs ask for {load:.0%} of the slots"
            if load > _FULL
            else f"the queue grows by {growth:.0%} of a day's capacity every day"
        )
        raise DataError(
            f"is saturated: {what}, so waiting has no long-run mean to compare",
            where=log.origin,
            allowed=f"a load of at most {_FULL:.0%}, and a queue that empties now and then",
            remedy="give the slots that the clusters really have, or export calmer weeks",
        )
    return load


def refuse_without_choice(log: JobLog, sets: Bools, requires: Longs) -> None:
    """Refuse a replay in which next to no job may go to two clusters.

    Args:
        log: The log.
        sets: (sets, M) whether a cluster is in a set.
        requires: (n,) which set each job may go to.

    Raises:
        DataError: Fewer than one job in a hundred may.
    """
    choice = float((sets.sum(axis=1) >= 2)[requires].mean())
    if choice < _CHOICE:
        raise DataError(
            f"leaves no choice: {choice:.1%} of the jobs have a kind that ran on two clusters",
            where=log.origin,
            allowed=f"at least {_CHOICE:.0%}",
            remedy="leave out only_seen, or run some jobs elsewhere first",
        )


def _backlog(log: JobLog, cut: float, days: int) -> Floats:
    """(days + 1,) slot-seconds that wait at each midnight."""
    times = cut + DAY * np.arange(days + 1)
    work = log.seconds * log.slots
    waits = [(log.submit < time) & (log.start >= time) for time in times]
    return np.array([float(work[one].sum()) for one in waits])


@dataclass(frozen=True)
class Overlap:
    """How far the comparison rests on runs of similar jobs.

    Attributes:
        moved: Share of the placements that went elsewhere than in the log.
        supported: Share of the placements on clusters where jobs of the kind ran often enough in
            the replayed part of the log.
        moved_supported: The same, of the moved ones; 1 where none moved.
    """

    moved: float
    supported: float
    moved_supported: float


def overlap(log: JobLog, jobs: Observed, placed: Placed, measured: Bools, least: float) -> Overlap:
    """How far the placements rest on runs of similar jobs, if far enough.

    Args:
        log: The log.
        jobs: The replayed jobs.
        placed: What the policy did.
        measured: (n,) which of them are measured.
        least: Least share of the moved placements that must.

    Raises:
        DataError: Too few do.
    """
    cluster = placed.cluster[measured]
    similar = jobs.supported[jobs.kind[measured], cluster]
    moved = cluster != jobs.cluster[measured]
    share = float(similar[moved].mean()) if moved.any() else 1.0
    if share < least:
        raise DataError(
            f"has too little overlap: of {int(moved.sum())} placements that differ from the log's, "
            f"{share:.0%} are on clusters where jobs of their kind ran {OFTEN} times or more",
            where=log.origin,
            allowed=f"at least {least:.0%} (least_overlap)",
            remedy="let jobs go only where their kind has run before (only_seen), export a longer "
            "time, or run some jobs elsewhere first",
        )
    whole = float((similar | ~moved).mean())
    return Overlap(float(moved.mean()), whole, share)
