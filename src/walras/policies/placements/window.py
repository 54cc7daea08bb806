"""The window: tasks in their order until the slots are filled, predicted and found usable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from walras.kernels.matching.placing import insert
from walras.policies.placements.order import eligible, fair_order, within_quota
from walras.policies.placements.policy import Policy
from walras.policies.placements.providers import Providers
from walras.rounds import Snapshot
from walras.rounds.forecast import Forecast, Predict
from walras.types import Bools, Floats, Longs

_PASSES = 8  # of filling the window again with the tasks behind those that cannot be placed
_AHEAD = 4  # tasks that a further pass predicts for each one that cannot be placed
_ROUNDS = 20  # of agreeing on how many tasks are placed, which the bounds on providers ask for


class Predictions:
    """What is predicted of the tasks of a snapshot; each is asked for once.

    Attributes:
        known: (N,) tasks that were predicted.
        seconds: (N, M), and likewise the others; NaN where nothing was predicted.
    """

    def __init__(self, snapshot: Snapshot, predict: Predict) -> None:
        n, m = len(snapshot.tasks), len(snapshot.clusters)
        self.snapshot, self.predict = snapshot, predict
        self.known = np.zeros(n, np.bool_)
        self.seconds, self.seconds_low, self.seconds_high = (np.full((n, m), np.nan) for _ in "123")
        self.chance, self.chance_low, self.chance_high = (np.full((n, m), np.nan) for _ in "123")
        self._row = np.zeros(n, np.int64)  # of the task among those of its feature set
        for k in range(len(snapshot.features)):
            mine = snapshot.tasks.feature_set == k
            self._row[mine] = np.arange(int(mine.sum()))

    def ask(self, tasks: Longs) -> None:
        """Predict tasks that were not predicted yet."""
        snapshot = self.snapshot
        new = tasks[~self.known[tasks]]
        if not len(new) or not len(snapshot.clusters):
            return
        for k in np.unique(snapshot.tasks.feature_set[new]):
            mine = new[snapshot.tasks.feature_set[new] == k]
            features = snapshot.features[k]
            found = self.predict(
                features.values[self._row[mine]], features.names, snapshot.clusters.uid
            )
            self._keep(mine, found)
        self.known[new] = True

    def _keep(self, tasks: Longs, found: Forecast) -> None:
        if found.seconds.shape != (len(self.snapshot.clusters), len(tasks)):
            raise ValueError(f"the prediction has shape {found.seconds.shape}")
        for name in vars(found):
            getattr(self, name)[tasks] = getattr(found, name).T


@dataclass(frozen=True, eq=False)
class Window:
    """The tasks of a round and what may be done with them.

    Attributes:
        order: Tasks of the window, the first one first.
        usable: (N, M) pairs that may be placed; no row of a task that was not predicted has any.
        placeable: Tasks of the window that can all be placed at once, in order.
        cluster: (N,) a placement of these, or -1.
        beyond: (N,) tasks in line that the window closed before.
        avoided: (N, M) pairs that are left out since the task failed there.
        kept: (N, M) pairs that would hold up a task that slots are kept for.
        reserved: (M,) the task that the free slots of a cluster are kept for, or -1.
        reserved_until: (M,) seconds until that task can start.
    """

    order: Longs
    usable: Bools
    placeable: Longs
    cluster: Longs
    beyond: Bools
    avoided: Bools
    kept: Bools
    reserved: Longs
    reserved_until: Floats


class Builder:
    """Fills a window, predicts it, and fills it again where tasks of it cannot be placed."""

    def __init__(
        self,
        snapshot: Snapshot,
        predictions: Predictions,
        policy: Policy,
        providers: Providers,
        late: Callable[[], bool],
    ) -> None:
        self.snapshot, self.predictions, self.policy = snapshot, predictions, policy
        self.providers, self.late = providers, late
        n, m = len(snapshot.tasks), len(snapshot.clusters)
        self.eligible = eligible(snapshot)
        self.out = np.zeros(n, np.bool_)  # tasks that cannot be placed, by the former passes
        self.usable, self.avoided = np.zeros((n, m), np.bool_), np.zeros((n, m), np.bool_)
        self.kept = np.zeros((n, m), np.bool_)
        self.reserved, self.reserved_until = np.full(m, -1), np.zeros(m)

    def build(self) -> Window:
        """The window."""
        n = len(self.snapshot.tasks)
        line = np.zeros(n, np.bool_)
        order = placeable = np.zeros(0, np.int64)
        cluster = np.full(n, -1)
        for repeat in range(_PASSES):
            if repeat:
                self._weed(int(self.predictions.known.sum() + _AHEAD * self.out.sum()))
            line = self._line()
            order = self._filled(line)
            self._ask(order)
            cluster = self._placed(order)
            placeable = order[cluster[order] >= 0]
            missed = order[cluster[order] < 0]
            self.out[missed] = True
            if not len(missed) or self.late():
                break
        inside = np.zeros(n, np.bool_)
        inside[order] = True
        beyond = line & ~inside
        return Window(
            order,
            self.usable,
            placeable,
            cluster,
            beyond,
            self.avoided,
            self.kept,
            self.reserved,
            self.reserved_until,
        )

    def _line(self) -> Bools:
        """(N,) tasks that some cluster could take and that their tenants' quotas have room for."""
        snapshot = self.snapshot
        return within_quota(snapshot.tasks, snapshot.tenants, self.eligible & ~self.out)

    def _weed(self, count: int) -> None:
        """Predict the first tasks in line, and take out those that fill slots only to be missed.

        So a window of few slots is not filled, pass after pass, with tasks that cannot be placed.
        """
        snapshot = self.snapshot
        first = fair_order(snapshot.tasks, snapshot.tenants, snapshot.typical, self._line())[:count]
        self._ask(first)
        fits = self._matches(first) & (snapshot.room >= snapshot.tasks.slots[first][:, None])
        self.out[first[fits.any(axis=1) & ~self.usable[first].any(axis=1)]] = True

    def _ask(self, tasks: Longs) -> None:
        """Predict those of some tasks that were not predicted yet."""
        new = tasks[~self.predictions.known[tasks]]
        self.predictions.ask(new)
        self._use(new)

    def _matches(self, of: Longs) -> Bools:
        """(of, M) clusters that are up and could take each task if they were empty."""
        snapshot, tasks, clusters = self.snapshot, self.snapshot.tasks, self.snapshot.clusters
        pin = tasks.pin[of][:, None]
        good = snapshot.matches[tasks.requires[of]] & clusters.up
        good &= clusters.slots >= tasks.slots[of][:, None]
        good &= (pin < 0) | (pin == np.arange(len(clusters)))
        return good

    def _filled(self, line: Bools) -> Longs:
        """Tasks in order until the slots are filled, by labels and slots; and reservations."""
        snapshot, tasks = self.snapshot, self.snapshot.tasks
        order = fair_order(tasks, snapshot.tenants, snapshot.typical, line)
        kinds, which = np.unique(
            np.column_stack([tasks.requires, tasks.pin]), axis=0, return_inverse=True
        )
        table = np.full((len(kinds), len(snapshot.clusters)), np.inf)
        for k, (requires, pin) in enumerate(kinds):
            fits = snapshot.matches[requires] & snapshot.clusters.up
            if pin >= 0:
                fits &= np.arange(len(fits)) == pin
            table[k, fits] = 0.0
        cluster = self._agreed(table, which.ravel(), 0.0, order)
        taken = np.flatnonzero(cluster[order] >= 0)
        last = int(taken[-1]) + 1 if len(taken) else 0
        self._reserve(order[:last] if self._full(cluster) else order, cluster, table, which.ravel())
        return order[taken]

    def _full(self, cluster: Longs) -> bool:
        placed = cluster >= 0
        return int(self.snapshot.tasks.slots[placed].sum()) >= int(self.snapshot.room.sum())

    def _agreed(self, table: Floats, row: Longs, limit: float, order: Longs) -> Longs:
        """Place tasks in order within the bounds on providers, which depend on their number."""
        snapshot, providers = self.snapshot, self.providers
        slots = snapshot.tasks.slots.copy()  # to be written to: one version of the kernel
        cluster = np.full(len(row), -1)
        count = int(min(len(order), snapshot.room.sum()))
        for _ in range(_ROUNDS):
            cluster[:] = -1
            placed = insert(
                table,
                row,
                limit,
                slots,
                snapshot.room,
                providers.group,
                providers.caps(count),
                order,
                False,
                cluster,
            )
            if placed == count:
                break
            count = placed
        return providers.trimmed(cluster, order)

    def _reserve(self, order: Longs, cluster: Longs, table: Floats, row: Longs) -> None:
        """Let large tasks keep the slots of a cluster where they can start soonest.

        Tasks that are predicted to end before may still use the slots (EASY backfilling).
        """
        tasks, clusters, room = self.snapshot.tasks, self.snapshot.clusters, self.snapshot.room
        self.reserved[:] = -1
        waiting = [j for j in order.tolist() if cluster[j] < 0 and tasks.slots[j] > 1]
        for j in waiting:
            if int((self.reserved >= 0).sum()) >= self.policy.reserve:
                return
            match = (table[row[j]] == 0.0) & (clusters.slots >= tasks.slots[j])
            if (match & (room >= tasks.slots[j])).any():
                continue  # others took the slots; it is first in line next time
            starts = [
                (float(clusters.ready_of(i)[tasks.slots[j] - 1]), i)
                for i in np.flatnonzero(match & (self.reserved < 0)).tolist()
            ]
            until, i = min(starts, default=(np.inf, -1))
            if np.isfinite(until):
                self.reserved[i], self.reserved_until[i] = j, until

    def _use(self, new: Longs) -> None:
        """Which pairs of tasks that were just predicted may be placed."""
        snapshot, tasks, m = self.snapshot, self.snapshot.tasks, len(self.snapshot.clusters)
        good = self._matches(new)
        good &= self.predictions.chance[new] >= tasks.min_success[new][:, None]
        if self.policy.avoid_tried and len(snapshot.tried):
            tried = np.zeros((len(tasks), m), np.bool_)
            tried[snapshot.tried[:, 0], snapshot.tried[:, 1]] = True
            others = np.any(good & ~tried[new], axis=1)
            self.avoided[new] = good & tried[new] & others[:, None]
            good &= ~self.avoided[new]
        self.usable[new] = good & (snapshot.room >= tasks.slots[new][:, None])

    def _placed(self, order: Longs) -> Longs:
        """Place as many of the window's tasks as can be, the first ones before the others."""
        seconds = self.predictions.seconds
        self.kept[:] = False
        for i in np.flatnonzero(self.reserved >= 0):
            self.kept[:, i] = self.usable[:, i] & (seconds[:, i] > self.reserved_until[i])
        table = np.where(self.usable & ~self.kept, seconds, np.inf)
        rows = np.arange(len(table))
        return self._agreed(table, rows, np.finfo(float).max, order)
