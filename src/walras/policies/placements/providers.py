"""The bound on what a provider may get: its share of confirmed work, grown a little."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from walras.rounds import Clusters, Snapshot
from walras.types import Floats, Longs


@dataclass(frozen=True, eq=False)
class Providers:
    """Providers of a snapshot's clusters, and their shares.

    Attributes:
        names: Of the providers that are bounded.
        group: (M,) which of them each cluster is of; -1 for clusters that are trusted.
        share: (names,) share of the confirmed work of providers that are up.
        kappa: By how much a share may grow.
    """

    names: tuple[str, ...]
    group: Longs
    share: Floats
    kappa: float

    @classmethod
    def of(cls, snapshot: Snapshot) -> Providers:
        """The providers of a snapshot; as long as no work is confirmed, all have equal shares."""
        return cls.of_clusters(snapshot.clusters, snapshot.rules.kappa)

    @classmethod
    def of_clusters(cls, clusters: Clusters, kappa: float) -> Providers:
        """The providers of clusters.

        Args:
            clusters: The clusters.
            kappa: By how much a share may grow in a round.
        """
        up = sorted({p for p, is_up in zip(clusters.provider, clusters.up, strict=True) if is_up})
        work = dict.fromkeys(up, 0.0)
        for i in np.flatnonzero(clusters.up):
            work[clusters.provider[i]] += float(clusters.confirmed[i])
        total = math.fsum(work.values())
        place = {name: g for g, name in enumerate(up)}
        group = [
            -1 if trusted else place.get(name, -1)
            for name, trusted in zip(clusters.provider, clusters.trusted, strict=True)
        ]
        share = [work[name] / total if total > 0.0 else 1.0 / len(up) for name in up]
        return cls(
            tuple(up),
            np.array(group, np.int64),
            np.array(share, np.float64),
            kappa,
        )

    def caps(self, placed: int) -> Longs:
        """The most tasks that each provider may get of so many that are placed."""
        grown = (1.0 + self.kappa) * self.share * placed
        return np.ceil(grown - 1e-9 * np.maximum(grown, 1.0)).astype(np.int64) + 1

    def bounds(self, placed: int) -> dict[str, int]:
        """:meth:`caps` by name."""
        return dict(zip(self.names, self.caps(placed).tolist(), strict=True))

    def counts(self, cluster: Longs) -> Longs:
        """(names,) tasks that each provider gets by a plan."""
        groups = self.group[cluster[cluster >= 0]]
        return np.bincount(groups[groups >= 0], minlength=len(self.names)).astype(np.int64)

    def trimmed(self, cluster: Longs, ranked: Longs) -> Longs:
        """The plan without the last tasks of providers that are above their bounds.

        Args:
            cluster: (N,) the plan.
            ranked: Numbers of tasks, the first one first.
        """
        kept = cluster.copy()
        while True:
            over = self.counts(kept) > self.caps(int((kept >= 0).sum()))
            if not over.any():
                return kept
            mine = ranked[(kept[ranked] >= 0)]
            groups = self.group[kept[mine]]
            last = mine[(groups >= 0) & over[groups]][-1]
            kept[last] = -1
