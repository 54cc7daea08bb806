"""The terms of a round: slots that tasks share, when they are free, and what binds single tasks.

Cluster i has ``k_i`` slots. A task of ``s_j`` slots takes ``w_ij = s_j t_ij`` slot-seconds there.
The slots get free at times ``r``: by a time T there are ``C_i(T) = sum of max(0, T - r)`` over the
slots. A task starts no sooner than ``s_j`` slots are free, so that it ends at ``e_ij`` at the
soonest. The cluster ends at the least T with ``sum w_ij <= C_i(T)`` and all ``e_ij <= T``. If all
slots get free at ``ready`` that is ``ready + max(sum w_ij / k_i, longest time)``; with one slot
that is free now it is the sum of the times.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from walras.types import Bools, Floats, Ints, Longs

LATE = 1e-9  # relative; an end so little after a deadline keeps it


@dataclass(frozen=True, eq=False)
class Terms:
    """What a round asks of clusters and tasks beside times and chances; see the module.

    Attributes:
        free_at: (clusters, K) seconds until slots get free, rising; ``inf`` where there are fewer.
        width: (clusters, K) slots that get free then, 0 there.
        sizes: (tasks,) slots of each task.
        pinned: (tasks,) the cluster that a task must go to, or -1.
        previous: (tasks,) the cluster that it was on, or -1.
        move_price: What a task costs that had a cluster and gets another one, in the unit of the
            times.
        deadlines: (tasks,) seconds until the task must have ended, or ``inf``.
        least: (tasks,) least chance of success, or 0.

    Example:
        >>> from walras.matching import match
        >>> plan = match([[4.0, 3.0, 2.0]], [[0.9] * 3], slots=2, ready=1.0)
        >>> plan.round.terms.slots, plan.makespan
        (array([2]), 5.5)
    """

    free_at: Floats
    width: Longs
    sizes: Longs
    pinned: Longs
    previous: Longs
    move_price: float
    deadlines: Floats
    least: Floats

    @cached_property
    def slots(self) -> Longs:
        """(clusters,) slots of each cluster."""
        return np.asarray(self.width.sum(axis=1))

    @cached_property
    def starts(self) -> Floats:
        """(clusters, sizes) seconds until a task of each of :attr:`distinct_sizes` can start."""
        free = self.width.cumsum(axis=1)
        found = np.full((len(free), len(self.distinct_sizes)), np.inf)
        for k, size in enumerate(self.distinct_sizes):
            enough = free >= size
            can = enough.any(axis=1)
            found[can, k] = self.free_at[can, enough[can].argmax(axis=1)]
        return found

    @cached_property
    def distinct_sizes(self) -> Longs:
        """The sizes of the tasks, each once, rising."""
        return np.unique(self.sizes)

    @cached_property
    def size_kind(self) -> Longs:
        """(tasks,) place of the task's size among :attr:`distinct_sizes`."""
        return np.searchsorted(self.distinct_sizes, self.sizes).astype(np.int64)

    @cached_property
    def due(self) -> Floats:
        """The deadlines, each once, rising; without ``inf``."""
        found = np.unique(self.deadlines)
        return found[np.isfinite(found)]

    @cached_property
    def level(self) -> Longs:
        """(tasks,) place of the task's deadline in :attr:`due`; that many where it has none."""
        return np.searchsorted(self.due, self.deadlines).astype(np.int64)

    def soonest(self, times: Floats) -> Floats:
        """(clusters, tasks) seconds until a task ends at the soonest."""
        return self.starts[:, self.size_kind] + times

    def capacity(self, by: float) -> Floats:
        """(clusters,) slot-seconds until a time."""
        return np.asarray((self.width * np.maximum(by - self.free_at, 0.0)).sum(axis=1))

    def ends(self, work: Floats, rows: Longs | None = None) -> Floats:
        """Seconds until slot-seconds of work are done.

        Args:
            work: (clusters, ...) slot-seconds; nothing is done at once, whenever slots get free.
            rows: The clusters; all of them if None.

        Returns:
            (clusters, ...) seconds.
        """
        extra = (1,) * (work.ndim - 1)
        rows = np.arange(len(work)) if rows is None else rows
        end, free, used = np.zeros(work.shape), np.zeros(len(work)), np.zeros(len(work))
        for k in range(self.width.shape[1]):
            width = self.width[rows, k]
            has = width > 0
            at = np.where(has, self.free_at[rows, k], 0.0)
            before = np.where(has, free * at - used, 0.0).reshape(-1, *extra)
            free = free + width
            used = used + width * at
            reached = has.reshape(-1, *extra) & (work > before)
            end = np.where(
                reached, (work + used.reshape(-1, *extra)) / free.reshape(-1, *extra), end
            )
        return end

    def work_by(self, times: Floats, assignment: Longs) -> Floats:
        """(clusters, deadlines + 1) slot-seconds of the tasks due by each deadline, and of all."""
        m, levels = len(self.width), len(self.due) + 1
        work = self.sizes * times[assignment, np.arange(len(assignment))]
        found = np.bincount(assignment * levels + self.level, work, m * levels)
        return np.asarray(found.reshape(m, levels).cumsum(axis=1))

    def slack(self, times: Floats, assignment: Longs) -> Floats:
        """(clusters, deadlines) slot-seconds that tasks due by each deadline may take more."""
        if not len(self.due):
            return np.zeros((len(self.width), 0))
        room = np.stack([self.capacity(by * (1.0 + LATE)) for by in self.due], axis=1)
        left = room - self.work_by(times, assignment)[:, :-1]
        return np.minimum.accumulate(left[:, ::-1], axis=1)[:, ::-1]

    def in_time(self, times: Floats, assignment: Longs) -> bool:
        """Whether every deadline is kept, clusters running what is due first."""
        return bool(np.all(self.slack(times, assignment) >= 0.0))

    def in_time_if_moved(self, times: Floats, assignment: Longs) -> Bools:
        """(clusters, tasks) whether deadlines are kept if one task moves.

        Args:
            times: (clusters, tasks).
            assignment: (tasks,) a placement that keeps the deadlines.
        """
        slack = np.pad(self.slack(times, assignment), ((0, 0), (0, 1)), constant_values=np.inf)
        found: Bools = self.sizes * times <= slack[:, self.level]
        found[assignment, np.arange(len(assignment))] = True
        return found

    def ends_if_moved(self, times: Floats, assignment: Longs) -> tuple[Floats, Floats]:
        """When clusters end if one task moves.

        Args:
            times: (clusters, tasks).
            assignment: (tasks,).

        Returns:
            (tasks,) the end of its cluster without each task, and (clusters, tasks) the end of each
            cluster with the task.
        """
        here, task = assignment, np.arange(len(assignment))
        work, soonest = self.sizes * times, self.soonest(times)
        total = self.work_by(times, here)[:, -1]
        own = soonest[here, task]
        order = np.lexsort((-own, here))
        first = np.append(True, here[order][1:] != here[order][:-1])
        longest, second = np.zeros(len(self.width)), np.zeros(len(self.width))
        longest[here[order[first]]] = own[order[first]]
        after = order[1:][first[:-1] & ~first[1:]]
        second[here[after]] = own[after]
        slowest = np.zeros(len(here), np.bool_)
        slowest[order[first]] = True
        left = np.maximum(total[here] - work[here, task], 0.0)
        left = np.maximum(self.ends(left, here), np.where(slowest, second[here], longest[here]))
        arrived = self.ends(np.where(np.isfinite(times), total[:, None] + work, 0.0))
        arrived = np.maximum(np.maximum(arrived, soonest), longest[:, None])
        return left, arrived

    def moved(self, assignment: Longs) -> Bools:
        """(tasks,) whether a task had a cluster and is on another one."""
        return np.asarray((self.previous >= 0) & (self.previous != assignment))

    def moved_pairs(self, cluster: Longs | Ints, task: Longs | Ints) -> Bools:
        """Whether the task of each pair had another cluster than that of the pair."""
        return np.asarray((self.previous[task] >= 0) & (self.previous[task] != cluster))

    def cluster_ends(self, times: Floats, assignment: Longs) -> Floats:
        """(clusters,) seconds until each cluster has ended its tasks; 0 where it has none."""
        soonest = self.starts[assignment, self.size_kind]
        soonest = soonest + times[assignment, np.arange(len(assignment))]
        longest = np.zeros(len(self.width))
        np.maximum.at(longest, assignment, soonest)
        return np.maximum(self.ends(self.work_by(times, assignment)[:, -1]), longest)
