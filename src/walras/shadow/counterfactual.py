"""What the replayed jobs would have done on clusters where the log did not run them.

The model is fitted to the replayed part alone. The policy decides by what the past taught; so the
errors that made it choose a cluster are not those by which it is judged.

    log t = kind + cluster + (kind, cluster) + e,    the last where a kind ran often enough there.

A job keeps its own e, scaled by how much the times of the two clusters scatter: a long one of its
kind is a long one everywhere. Means of times on a cluster stay those of the runs it had.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from walras.types import Bools, Floats, Longs

OFTEN = 5  # runs of a kind on a cluster from which they are a model of their own
_SWEEPS = 30  # of kinds and clusters in turn


@dataclass(frozen=True, eq=False)
class Observed:
    """The replayed jobs as the log has them.

    Attributes:
        kind: (n,) which kind, 0 to K - 1.
        cluster: (n,) where it ran, 0 to M - 1.
        seconds: (n,) what it took there.
        failed: (n,) whether it failed.
        counts: (n,) whether its outcome counts.
        clusters: M.
    """

    kind: Longs
    cluster: Longs
    seconds: Floats
    failed: Bools
    counts: Bools
    clusters: int
    log: Floats = field(init=False)
    cell: Longs = field(init=False)
    kinds: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "log", np.log(self.seconds))
        object.__setattr__(self, "cell", self.kind * self.clusters + self.cluster)
        object.__setattr__(self, "kinds", int(self.kind.max(initial=-1)) + 1)

    @cached_property
    def runs(self) -> Longs:
        """(K, M) runs of each kind on each cluster."""
        shape = (self.kinds, self.clusters)
        return np.bincount(self.cell, minlength=shape[0] * shape[1]).reshape(shape)

    @cached_property
    def supported(self) -> Bools:
        """(K, M) whether a kind ran often enough on a cluster to tell what it does there."""
        return self.runs >= OFTEN


@dataclass(frozen=True, eq=False)
class Model:
    """Times and chances of failure, fitted to weighted jobs.

    Attributes:
        mean: (K, M) mean log time.
        scatter: (M,) standard deviation of log time about it.
        failure: (K, M) chance of failure; not cut to 0 to 1, so that its mean is not biased.
        weight: (n,) of the jobs.
    """

    mean: Floats
    scatter: Floats
    failure: Floats
    weight: Floats

    @classmethod
    def fit(cls, jobs: Observed, weight: Floats | None = None) -> Model:
        """Fit to the jobs.

        Args:
            jobs: The jobs.
            weight: (n,) how often each counts; once if None.
        """
        w = np.ones(len(jobs.log)) if weight is None else weight
        mean = _two_way(jobs, jobs.log, w)
        rest = jobs.log - mean[jobs.kind, jobs.cluster]
        mean = mean + _cells(jobs, rest, w)
        rest = jobs.log - mean[jobs.kind, jobs.cluster]
        m = jobs.clusters
        total = np.maximum(np.bincount(jobs.cluster, w, m), 1e-9)
        scatter = np.sqrt(np.bincount(jobs.cluster, w * rest**2, m) / total)
        w = w * jobs.counts
        failed = jobs.failed.astype(np.float64)
        chance = _two_way(jobs, failed, w)
        chance = chance + _cells(jobs, failed - chance[jobs.kind, jobs.cluster], w)
        once = np.ones(len(jobs.log)) if weight is None else weight
        return cls(mean, np.maximum(scatter, 1e-6), chance, once)

    def apart(self, base: Model, factor: Floats) -> Model:
        """This model with what it differs by from another one stretched.

        Means of few drawn days vary too little: by the root of (days - 1) / days.

        Args:
            base: The other one.
            factor: (K, M) by how much.

        Returns:
            The model.
        """
        mean = base.mean + (self.mean - base.mean) * factor
        failure = base.failure + (self.failure - base.failure) * factor
        return replace(self, mean=mean, failure=failure)

    def seconds(self, jobs: Observed, which: Longs, cluster: Longs) -> Floats:
        """Times of jobs on clusters, their own where they ran there.

        Args:
            jobs: The jobs.
            which: (k,) numbers of jobs.
            cluster: (k,) a cluster for each.

        Returns:
            (k,) seconds.
        """
        kind, own = jobs.kind[which], jobs.cluster[which]
        rest = jobs.log[which] - self.mean[kind, own]
        level = self._levels(jobs)[own, cluster]
        moved = np.exp(self.mean[kind, cluster] + rest * self._ratio[own, cluster] + level)
        return np.where(own == cluster, jobs.seconds[which], np.maximum(moved, 1.0))

    def failures(self, jobs: Observed, which: Longs, cluster: Longs) -> Floats:
        """Expected failures of jobs on clusters; what happened where they ran there.

        Args:
            jobs: The jobs.
            which: (k,) numbers of jobs.
            cluster: (k,) a cluster for each.

        Returns:
            (k,) 0 to 1.
        """
        own = jobs.cluster[which] == cluster
        failed = (jobs.failed & jobs.counts)[which].astype(np.float64)
        there = self.failure[jobs.kind[which], cluster] * jobs.counts[which]
        return np.where(own, failed, there)

    @property
    def _ratio(self) -> Floats:
        """(M, M) by which the rest of a job's log time grows from a cluster to another."""
        return self.scatter[None, :] / self.scatter[:, None]

    def _levels(self, jobs: Observed) -> Floats:
        """(M, M) log of the mean factor about the mean log time there, over that of those moved."""
        rest = jobs.log - self.mean[jobs.kind, jobs.cluster]
        w, m = self.weight, jobs.clusters
        total = np.maximum(np.bincount(jobs.cluster, w, m), 1e-9)
        own = np.bincount(jobs.cluster, w * np.exp(rest), m) / total
        found = np.zeros((m, m))
        for i in range(m):
            scaled = np.exp(rest * self._ratio[jobs.cluster, i])
            here = np.bincount(jobs.cluster, w * scaled, m) / total
            known = (own[i] > 0) & (here > 0)
            found[:, i] = np.where(known, np.log(np.where(known, own[i] / here, 1.0)), 0.0)
        return found


def _two_way(jobs: Observed, value: Floats, w: Floats) -> Floats:
    """(K, M) sums of an effect of the kind and one of the cluster, by least squares."""
    k, m = jobs.kinds, jobs.clusters
    table = np.bincount(jobs.cell, w, k * m).reshape(k, m)
    sums = np.bincount(jobs.cell, w * value, k * m).reshape(k, m)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    kind, cluster = np.zeros(k), np.zeros(m)
    whole = sums.sum() / max(table.sum(), 1e-9)
    for _ in range(_SWEEPS):
        kind = (sums.sum(axis=1) - table @ cluster) / np.maximum(rows, 1e-9)
        kind = np.where(rows > 0, kind, whole)
        cluster = (sums.sum(axis=0) - kind @ table) / np.maximum(columns, 1e-9)
        middle = cluster[columns > 0].mean() if (columns > 0).any() else 0.0
        cluster = np.where(columns > 0, cluster - middle, 0.0)
    return kind[:, None] + cluster[None, :]


def _cells(jobs: Observed, rest: Floats, w: Floats) -> Floats:
    """(K, M) mean of what is left where a kind ran often enough on a cluster, else 0."""
    shape = (jobs.kinds, jobs.clusters)
    size = shape[0] * shape[1]
    table = np.bincount(jobs.cell, w, size).reshape(shape)
    sums = np.bincount(jobs.cell, w * rest, size).reshape(shape)
    return np.where(jobs.supported & (table > 0), sums / np.maximum(table, 1e-9), 0.0)
