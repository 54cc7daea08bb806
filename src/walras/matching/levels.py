"""Small rounds without compiled kernels: branch and bound, a level of the tree at a time.

Compiling the kernel of :mod:`walras.kernels.matching.exact` takes seconds, once. Most small rounds
leave a few hundred branches on a level under the same bound; NumPy takes a level at once. Where
tasks run together, each task counts with the least ratio that its cluster may yet have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walras.types import Bools, Floats, Ints, Longs

PAIRS = 120  # of cluster and task, up to which a round is small
_BEAM, _BRANCHES = 64, 4000  # of a level: in the first pass, and at most
_STEPS = 80  # of the dual ascent
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class _Tree:
    """A round, its tasks in the order of branching.

    Attributes:
        order: (tasks,) the task of each level.
        t: (tasks, clusters) times.
        a: (tasks, clusters) chances.
        zeta: (clusters, tasks + 1).
        ahead: (clusters, tasks + 1) least ratio from a number of tasks on.
        reduced: (tasks, clusters) reduced costs.
        offset: The bound without any task.
        tail: (tasks + 1,) sum of least reduced costs from a level on.
        hope: (tasks + 1,) sum of highest chances from a level on.
        twin: (tasks,) whether a task equals the one before.
        goal: Success wanted in all.
        price: Of a unit of missing success.
    """

    order: Longs
    t: Floats
    a: Floats
    zeta: Floats
    ahead: Floats
    reduced: Floats
    offset: float
    tail: Floats
    hope: Floats
    twin: Bools
    goal: float
    price: float

    @classmethod
    def of(cls, t: Floats, a: Floats, zeta: Floats, goal: float, price: float) -> _Tree:
        ahead = np.minimum.accumulate(zeta[:, ::-1], axis=1)[:, ::-1]
        least = ahead[:, 1] * t
        lam, mu = _multipliers(least, a, goal, price)
        order = np.argsort(-(least @ lam), kind="stable")
        reduced = (lam * least - mu * a)[order]
        rows = np.concatenate([t, a], axis=1)[order]
        twin = np.append(False, np.all(rows[1:] == rows[:-1], axis=1))
        return cls(
            order,
            t[order],
            a[order],
            zeta,
            ahead,
            reduced,
            mu * goal,
            _from_here_on(reduced.min(axis=1)),
            _from_here_on(a[order].max(axis=1)),
            twin,
            goal,
            price,
        )

    def search(self, upper: float, width: int, *, whole: bool) -> tuple[Ints | None, float, bool]:
        """The best placement below ``upper``, what it costs, and whether all branches were seen.

        Of equally good ones among those seen, it is the one that takes the least time in all.

        Args:
            upper: What is known to be reachable.
            width: Branches kept on a level, those of least bound.
            whole: End where there are more.
        """
        n, m = self.t.shape
        every = np.arange(m)
        x, load, count = np.zeros((1, 0), np.int8), np.zeros((1, m)), np.zeros((1, m), np.int64)
        q, reached, seen = np.array([self.offset]), np.zeros(1), True
        cut = upper - abs(upper) * _ROUNDING if upper < np.inf else upper
        for k in range(n):
            parent, i = np.divmod(np.arange(len(x) * m), m)
            loads, counts = load[parent], count[parent]
            loads[np.arange(len(i)), i] += self.t[k, i]
            counts[np.arange(len(i)), i] += 1
            costs, chance = q[parent] + self.reduced[k, i], reached[parent] + self.a[k, i]
            ratio = self.zeta if k == n - 1 else self.ahead
            end = (ratio[every, counts] * loads).max(axis=1)
            missing = np.maximum(self.goal - chance - self.hope[k + 1], 0.0)
            low = end + self.price * missing
            if k < n - 1:
                low = np.maximum(low, costs + self.tail[k + 1])
            keep = low < cut
            if self.twin[k]:
                keep &= i >= x[parent, -1]  # equal tasks in ascending order of clusters
            kept = np.flatnonzero(keep)
            if len(kept) > width:
                if whole:
                    return None, upper, False
                kept, seen = kept[np.argpartition(low[kept], width)[:width]], False
            x = np.concatenate([x[parent[kept]], i[kept, None].astype(np.int8)], axis=1)
            load, count, q, reached = loads[kept], counts[kept], costs[kept], chance[kept]
        if not len(x):
            return None, upper, seen
        low = low[kept]
        ends = (self.zeta[every, count] * load).sum(axis=1)
        best = int(np.where(low <= low.min() * (1.0 + _ROUNDING), ends, np.inf).argmin())
        placed = np.empty(n, np.int32)
        placed[self.order] = x[best]
        return placed, float(low[best]), seen


def by_levels(
    t: Floats, a: Floats, zeta: Floats, goal: float, price: float, limit: int
) -> tuple[Ints, float] | None:
    """Solve a small round exactly.

    Args:
        t: (tasks, clusters) times.
        a: (tasks, clusters) chances.
        zeta: (clusters, tasks + 1) ratio of the time together, by the number of tasks.
        goal: Success wanted in all.
        price: Of a unit of missing success.
        limit: Most branches.

    Returns:
        (tasks,) the cluster of each, and a bound on what any placement costs, which is what this
        one costs but for rounding; or None where there are too many branches.
    """
    tree = _Tree.of(t, a, zeta, goal, price)
    best, upper, seen = tree.search(np.inf, min(_BEAM, limit), whole=False)
    if not seen:
        better, upper, seen = tree.search(upper, min(_BRANCHES, limit // len(t)), whole=True)
        best = best if better is None else better
    if best is None or not seen:
        return None
    return best, upper - abs(upper) * _ROUNDING


def _from_here_on(values: Floats) -> Floats:
    """(tasks + 1,) sums of the values of a level and all after it."""
    return np.append(values[::-1].cumsum()[::-1], 0.0)


def _multipliers(t: Floats, a: Floats, goal: float, price: float) -> tuple[Floats, float]:
    """(clusters,) weights and the price of success, by the kernel's subgradient ascent."""
    n, m = t.shape
    tasks, scale = np.arange(n), max(float(t.min(axis=1).sum()) / m, 1e-300)
    potential, mu, best = np.zeros(m), 0.0, -np.inf
    for step in range(_STEPS):
        lam = np.exp(potential - potential.max())
        lam /= lam.sum()
        cost = lam * t - mu * a
        own = cost.argmin(axis=1)
        value = float(cost[tasks, own].sum()) + mu * goal
        if value > best:
            best, found = value, (lam, mu)
        rate = 0.7 / (1.0 + 0.08 * step)
        load = np.bincount(own, t[tasks, own], m)
        potential += rate * np.minimum(load / scale, 20.0)
        mu = min(max(mu + rate * scale * (goal - float(a[tasks, own].sum())), 0.0), price)
    return found
