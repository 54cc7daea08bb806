"""Finds every blocker of the tasks that a plan does not place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from walras.rounds.blockers import Blockers, Table
from walras.rounds.snapshot import Snapshot
from walras.types import Bools, Floats, Longs


@dataclass(frozen=True, eq=False)
class Circumstances:
    """What is known of a plan beside the snapshot; all of it may be left out.

    Attributes:
        chance: (N, M) predicted chances of success; NaN where nothing was predicted.
        avoided: (N, M) pairs that failed before and that the policy avoids.
        beyond: (N,) whether the window closed before the task.
        bounds: Provider -> the most tasks that it may get.
        kept: (N, M) pairs that would hold up the task that the cluster keeps its free slots for.
        reserved: (M,) the task that a cluster keeps its free slots for, or -1.
        reserved_until: (M,) seconds until that task can start.
        method: How the plan was found.

    Example:
        >>> import numpy as np
        >>> from walras.rounds import Circumstances, Clusters, Snapshot, Tasks, Tenants, blockers_of
        >>> snapshot = Snapshot.of(
        ...     Tasks.of(["train"], min_success=[0.95]), Clusters.of(["east"]), Tenants.of(["lab"])
        ... )
        >>> known = Circumstances(chance=np.array([[0.91]]))
        >>> [str(blocker) for _, blocker in blockers_of(snapshot, np.array([-1]), known)]
        ['least success 0.95, best 0.91']
    """

    chance: Floats | None = None
    avoided: Bools | None = None
    beyond: Bools | None = None
    bounds: Mapping[str, int] = field(default_factory=dict)
    kept: Bools | None = None
    reserved: Longs | None = None
    reserved_until: Floats | None = None
    method: str = ""


def blockers_of(snapshot: Snapshot, cluster: Longs, known: Circumstances | None = None) -> Blockers:
    """Every blocker of every task that a plan does not place.

    Args:
        snapshot: What was decided from.
        cluster: (N,) the plan: which cluster, or -1.
        known: What else is known of the plan.

    Returns:
        The blockers; each task that was not placed has at least one.

    Example:
        >>> import numpy as np
        >>> from walras.rounds import Clusters, Snapshot, Tasks, Tenants, blockers_of
        >>> snapshot = Snapshot.of(
        ...     Tasks.of(["train"], slots=[4]),
        ...     Clusters.of(["east"], slots=[3]),
        ...     Tenants.of(["lab"]),
        ... )
        >>> [str(blocker) for _, blocker in blockers_of(snapshot, np.array([-1]))]
        ['slots asked 4, largest cluster 3']
    """
    finder = _Finder(snapshot, np.asarray(cluster, np.int64), known or Circumstances())
    finder.classes()
    finder.tasks()
    finder.clusters_with_room()
    return finder.table.blockers()


class _Finder:
    """Goes through the classes of tasks, the tasks, and the clusters that have room for them."""

    def __init__(self, snapshot: Snapshot, cluster: Longs, known: Circumstances) -> None:
        self.snapshot, self.cluster, self.known = snapshot, cluster, known
        self.table = Table()
        placed = cluster >= 0
        self.open = np.flatnonzero(~placed)
        slots = snapshot.tasks.slots
        m = len(snapshot.clusters)
        filled = np.bincount(cluster[placed], slots[placed], m).astype(np.int64)
        self.left = np.maximum(snapshot.room - filled, 0)
        self.explained = np.zeros(len(cluster), np.bool_)

    def add(
        self,
        code: str,
        tasks: Longs,
        *numbers: npt.ArrayLike,
        word: str | Sequence[str] = "",
    ) -> None:
        self.table.add(code, tasks, *numbers, word=word)
        self.explained[tasks] = True

    def classes(self) -> None:
        """What tasks share that require the same labels and slots."""
        tasks, open_ = self.snapshot.tasks, self.open
        pairs = np.column_stack([tasks.requires[open_], tasks.slots[open_]])
        kinds, which = np.unique(pairs, axis=0, return_inverse=True)
        which = which.ravel()
        for k, (requires, slots) in enumerate(kinds):
            self._class(open_[which == k], int(requires), int(slots))

    def _class(self, of: Longs, requires: int, slots: int) -> None:
        clusters, matches = self.snapshot.clusters, self.snapshot.matches[requires]
        m = len(clusters)
        if not clusters.up.any():
            self.add("cluster", of, m)
        labels = self.snapshot.requirements[requires]
        alone = {
            pair: sum(pair in has.items() for has in clusters.labels) for pair in labels.items()
        }
        for (name, value), count in alone.items():
            if not count:
                self.add("label", of, 0, m, word=f"{name}={value}")
        if not matches.any() and all(alone.values()) and m:
            words = ", ".join(f"{name}={value}" for name, value in labels.items())
            self.add("labels", of, 0, m, word=words)
        usable = matches & clusters.up
        if matches.any() and not usable.any():
            self.add("state", of, int(matches.sum()))
        largest = int(clusters.slots[usable].max(initial=0))
        free = int(self.left[usable & (clusters.slots >= slots)].max(initial=0))
        if usable.any() and largest < slots:
            self.add("size", of, slots, largest)
        elif usable.any() and free < slots:
            self.add("slots", of, slots, free)

    def tasks(self) -> None:
        """What a task has of its own: deadline, quota, its turn."""
        snapshot, tasks, open_ = self.snapshot, self.snapshot.tasks, self.open
        late = open_[tasks.deadline[open_] < snapshot.at]
        self.add("deadline", late, snapshot.at - tasks.deadline[late])
        tenants, placed = snapshot.tenants, self.cluster >= 0
        taken = np.bincount(tasks.tenant[placed], tasks.slots[placed], len(tenants))
        used, quota = (tenants.in_use + taken)[tasks.tenant], tenants.quota[tasks.tenant]
        over = open_[((quota >= 0) & (used + tasks.slots > quota))[open_]]
        self.add("quota", over, used[over], quota[over], tasks.slots[over])
        if self.known.beyond is not None:
            ahead = self._ahead()
            later = open_[(self.known.beyond & (ahead > 0))[open_]]
            self.add("behind", later, ahead[later])

    def _ahead(self) -> Longs:
        """Tasks that still wait before each, after the plan."""
        ahead = self.snapshot.tasks.ahead
        gone = np.sort(ahead[self.cluster >= 0])
        left: Longs = np.maximum(ahead - np.searchsorted(gone, ahead), 0)
        return left

    @cached_property
    def _bounded(self) -> dict[str, tuple[int, int]]:
        """Providers at their bound: tasks placed, and the bound."""
        clusters = self.snapshot.clusters
        counts = np.bincount(self.cluster[self.cluster >= 0], minlength=len(clusters))
        total: dict[str, int] = {}
        for i, provider in enumerate(clusters.provider):
            if not clusters.trusted[i]:
                total[provider] = total.get(provider, 0) + int(counts[i])
        bounds = self.known.bounds
        return {p: (n, bounds[p]) for p, n in total.items() if p in bounds and n >= bounds[p]}

    def clusters_with_room(self) -> None:
        """Why none of the clusters that have room takes a task; each reason that holds for one."""
        snapshot, tasks, open_ = self.snapshot, self.snapshot.tasks, self.open
        clusters, m = snapshot.clusters, len(snapshot.clusters)
        room: Bools = snapshot.matches[tasks.requires[open_]] & clusters.up
        pinned = tasks.pin[open_] >= 0
        room[pinned] &= tasks.pin[open_][pinned, None] == np.arange(m)
        room &= self.left >= tasks.slots[open_][:, None]
        lost = open_[pinned & ~room.any(axis=1)]
        self.add("pin", lost, word=[clusters.uid[i] for i in tasks.pin[lost]])
        low = self._low_chances()
        avoided = self.known.avoided
        tried = np.zeros_like(room) if avoided is None else avoided[open_]
        full = np.array([p in self._bounded for p in clusters.provider], np.bool_)
        full &= ~clusters.trusted
        kept = np.zeros_like(room) if self.known.kept is None else self.known.kept[open_]
        open_pairs = room & ~(low | tried | full | kept)
        shut: Bools = np.logical_and(room.any(axis=1), ~open_pairs.any(axis=1))
        self._low(open_, np.logical_and(room, low), shut)
        self._tried(open_, tried, np.logical_and(shut, (room & tried).any(axis=1)))
        self._full(open_, np.logical_and(room, full), shut)
        self._kept(open_, np.logical_and(room, kept), shut)
        rest = ~self.explained[open_]
        self.add("left", open_[rest], room[rest].sum(axis=1), word=self.known.method or "plan")

    def _low_chances(self) -> Bools:
        """(open tasks, M) pairs below the least success that their tasks accept."""
        open_ = self.open
        if self.known.chance is None:
            return np.zeros((len(open_), len(self.snapshot.clusters)), np.bool_)
        least: Floats = self.snapshot.tasks.min_success[open_]
        low: Bools = self.known.chance[open_] < least[:, None]  # not where it is NaN: not predicted
        return low

    def _low(self, open_: Longs, room: Bools, shut: Bools) -> None:
        """Tasks that no cluster serves well enough, or none that has room."""
        if self.known.chance is None:
            return
        chance, least = self.known.chance[open_], self.snapshot.tasks.min_success[open_]
        seen = np.isfinite(chance)
        enough = np.any(chance >= least[:, None], axis=1)
        nowhere: Bools = np.logical_and(seen.any(axis=1), ~enough)
        of: Bools = np.logical_or(nowhere, np.logical_and(shut, room.any(axis=1)))
        among = np.where(nowhere[:, None], seen, room)[of]
        best = np.where(among, chance[of], 0.0).max(axis=1, initial=0.0)
        self.add("success", open_[of], least[of], best)

    def _tried(self, open_: Longs, tried: Bools, blocked: Bools) -> None:
        match = self.snapshot.matches[self.snapshot.tasks.requires[open_]]
        counts, total = (tried & match).sum(axis=1), match.sum(axis=1)
        self.add("tried", open_[blocked], counts[blocked], total[blocked])

    def _full(self, open_: Longs, room: Bools, shut: Bools) -> None:
        providers = np.array(self.snapshot.clusters.provider, dtype=object)
        for provider, (placed, bound) in self._bounded.items():
            of = shut & room[:, providers == provider].any(axis=1)
            self.add("provider", open_[of], placed, bound, word=provider)

    def _kept(self, open_: Longs, room: Bools, shut: Bools) -> None:
        reserved, until = self.known.reserved, self.known.reserved_until
        if reserved is None or until is None:
            return
        uid = self.snapshot.tasks.uid
        for i in np.flatnonzero(reserved >= 0):
            of = shut & room[:, i] & (open_ != reserved[i])
            self.add("reserved", open_[of], float(until[i]), word=uid[int(reserved[i])])
