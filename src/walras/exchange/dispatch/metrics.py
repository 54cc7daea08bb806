"""What the dispatcher counts of itself, for Prometheus; no label is a workload or a user."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, PlatformCollector, ProcessCollector


class Metrics:
    """Counters and gauges of a dispatcher.

    Attributes:
        registry: What is shown.
    """

    def __init__(self) -> None:
        self.registry = made = CollectorRegistry()
        ProcessCollector(registry=made)
        PlatformCollector(registry=made)
        self.nominated = Counter(
            "walras_kueue_nominations",
            "Clusters that were nominated, a workload each time",
            ["cluster"],
            registry=made,
        )
        self.written = Counter(
            "walras_kueue_writes",
            "Lists of names that were written, by how the clusters were ordered",
            ["by"],
            registry=made,
        )
        self.refused = Counter(
            "walras_kueue_writes_refused",
            "Writes that were not taken: conflict, or the HTTP status, or no answer",
            ["reason"],
            registry=made,
        )
        self.relists = Counter(
            "walras_kueue_relists",
            "Lists made again since the server had forgotten a version",
            ["kind"],
            registry=made,
        )
        self.dropped = Counter(
            "walras_kueue_watches_failed", "Lists and watches that failed", ["kind"], registry=made
        )
        self.open = Gauge(
            "walras_kueue_workloads",
            "Workloads that wait for a cluster, by where they stand",
            ["state"],
            registry=made,
        )
        self.active = Gauge(
            "walras_kueue_clusters_active", "Clusters that are connected", registry=made
        )
