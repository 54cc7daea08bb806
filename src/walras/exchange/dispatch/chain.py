"""The chain that leads from a workload to clusters, as it is known now.

ClusterQueue -> AdmissionCheck -> MultiKueueConfig -> MultiKueueCluster. No socket, no clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from walras.exchange.dispatch.workloads import Object, Workload, is_true

CONTROLLER = "kueue.x-k8s.io/multikueue"


@dataclass(frozen=True)
class Clusters:
    """The clusters that a workload may go to.

    Attributes:
        active: Those that are connected, in the order of the MultiKueueConfig.
        config: The MultiKueueConfig.
        why: Why there are none; empty where there are some.
    """

    active: tuple[str, ...] = ()
    config: str = ""
    why: str = ""


@dataclass
class Chain:
    """What is known of the four kinds of objects; each by name.

    Attributes:
        queues: ClusterQueue -> its admission checks.
        checks: AdmissionCheck of MultiKueue -> its MultiKueueConfig.
        configs: MultiKueueConfig -> its clusters, in order.
        clusters: MultiKueueCluster -> whether it is connected.
    """

    queues: dict[str, tuple[str, ...]] = field(default_factory=dict)
    checks: dict[str, str] = field(default_factory=dict)
    configs: dict[str, tuple[str, ...]] = field(default_factory=dict)
    clusters: dict[str, bool] = field(default_factory=dict)

    def replace(self, kind: str, objects: Iterable[Object]) -> None:
        """Forget all objects of a kind, and take these.

        Args:
            kind: Such as ``clusterqueues``.
            objects: Their JSON.
        """
        self._of(kind).clear()
        for one in objects:
            self.put(kind, one)

    def put(self, kind: str, found: Object) -> None:
        """Take an object as it is now."""
        name, value = found["metadata"]["name"], _READ[kind](found)
        if value is None:
            self._of(kind).pop(name, None)
        else:
            self._of(kind)[name] = value

    def drop(self, kind: str, name: str) -> None:
        """Forget an object."""
        self._of(kind).pop(name, None)

    def _of(self, kind: str) -> dict[str, Any]:
        found: dict[str, Any] = getattr(self, _PLACE[kind])
        return found

    def clusters_of(self, workload: Workload) -> Clusters:
        """Follow the chain from a workload to its clusters.

        Args:
            workload: The workload.

        Returns:
            The clusters that are connected, or why there are none.
        """
        if workload.queue not in self.queues:
            return Clusters(why=f"its ClusterQueue '{workload.queue}' is not there")
        named = [c for c in self.queues[workload.queue] if c in self.checks]
        if not named:
            return Clusters(why=f"ClusterQueue {workload.queue} has no check of MultiKueue")
        check = named[0]
        state = workload.checks.get(check)
        if state != "Pending":
            return Clusters(why=f"check {check} is {state or 'not there yet'}")
        config = self.checks[check]
        if config not in self.configs:
            return Clusters(config=config, why=f"MultiKueueConfig '{config}' is not there")
        active = tuple(name for name in self.configs[config] if self.clusters.get(name))
        why = "" if active else f"no cluster of MultiKueueConfig {config} is active"
        return Clusters(active, config, why)


def _checks(queue: Object) -> tuple[str, ...]:
    strategy = (queue.get("spec") or {}).get("admissionChecksStrategy") or {}
    return tuple(one["name"] for one in strategy.get("admissionChecks") or ())


def _config(check: Object) -> str | None:
    """The MultiKueueConfig of a check; None where the check is another controller's."""
    spec = check.get("spec") or {}
    parameters = spec.get("parameters") or {}
    ours = spec.get("controllerName") == CONTROLLER
    fits = (parameters.get("apiGroup"), parameters.get("kind")) == (
        "kueue.x-k8s.io",
        "MultiKueueConfig",
    )
    return str(parameters.get("name", "")) if ours and fits else None


def _clusters(config: Object) -> tuple[str, ...]:
    return tuple((config.get("spec") or {}).get("clusters") or ())


def _active(cluster: Object) -> bool:
    return is_true(cluster.get("status") or {}, "Active")


_READ: Mapping[str, Callable[[Object], Any]] = {
    "clusterqueues": _checks,
    "admissionchecks": _config,
    "multikueueconfigs": _clusters,
    "multikueueclusters": _active,
}
_PLACE = {
    "clusterqueues": "queues",
    "admissionchecks": "checks",
    "multikueueconfigs": "configs",
    "multikueueclusters": "clusters",
}
