"""What the dispatcher reads of a Kueue Workload: its state, and the features that predict it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

Object = Mapping[str, Any]
"""An object of the API, as its JSON."""
Key = tuple[str, str]
"""Namespace and name."""

FEATURE = "walras.dev/feature-"
"""Prefix of annotations and labels that are features; their values are numbers."""
MANAGER = "walras"
_FIELD = "f:nominatedClusterNames"
_NAME = re.compile(r"[A-Za-z0-9_.:/-]{1,63}")
_MOST = 256  # features that the exchange takes
_LARGEST = 1e30
_QUANTITY = re.compile(r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([a-zA-Z]*)")
_UNITS = {
    "": 1.0,
    "n": 1e-9,
    "u": 1e-6,
    "m": 1e-3,
    **{unit: 10.0 ** (3 * k) for k, unit in enumerate("kMGTPE", 1)},
    **{f"{unit}i": 2.0 ** (10 * k) for k, unit in enumerate("KMGTPE", 1)},
}
_GIBIBYTES = ("memory", "ephemeral-storage")


@dataclass(frozen=True)
class Workload:
    """A workload, as the dispatcher needs it.

    Attributes:
        namespace: Its namespace.
        name: Its name.
        uid: Its uid: another workload of its name has another one.
        version: Its resourceVersion.
        queue: Name of the ClusterQueue that reserved quota, or empty.
        checks: Admission check -> state.
        reserved: Whether quota is reserved.
        finished: Whether it has finished.
        deleting: Whether it is being deleted.
        cluster: The cluster that it was admitted on, or empty.
        nominated: Names nominated so far, in order.
        since: When the dispatcher wrote them, in seconds since 1970; None where it is not known.
        features: What predicts it.
    """

    namespace: str
    name: str
    uid: str
    version: str
    queue: str = ""
    checks: Mapping[str, str] = field(default_factory=dict)
    reserved: bool = False
    finished: bool = False
    deleting: bool = False
    cluster: str = ""
    nominated: tuple[str, ...] = ()
    since: float | None = None
    features: Mapping[str, float] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        """Namespace and name."""
        return self.namespace, self.name

    @property
    def closed(self) -> str:
        """Why there is nothing to nominate, whatever the clusters are; empty where there is."""
        if self.deleting:
            return "is being deleted"
        if self.finished:
            return "has finished"
        if self.cluster:
            return f"is on {self.cluster}"
        return "" if self.reserved else "has no quota reserved"


def workload_of(found: Object) -> Workload:
    """Read a Workload of the API.

    Args:
        found: Its JSON.

    Returns:
        What the dispatcher needs of it.
    """
    meta, status = found["metadata"], found.get("status") or {}
    return Workload(
        namespace=meta["namespace"],
        name=meta["name"],
        uid=meta.get("uid", ""),
        version=meta.get("resourceVersion", ""),
        queue=(status.get("admission") or {}).get("clusterQueue", ""),
        checks={one["name"]: one.get("state", "") for one in status.get("admissionChecks") or ()},
        reserved=is_true(status, "QuotaReserved"),
        finished=is_true(status, "Finished"),
        deleting="deletionTimestamp" in meta,
        cluster=status.get("clusterName") or "",
        nominated=tuple(status.get("nominatedClusterNames") or ()),
        since=_written(meta),
        features=features_of(found),
    )


def is_true(status: Object, condition: str) -> bool:
    """Whether a condition holds."""
    return any(
        one.get("type") == condition and one.get("status") == "True"
        for one in status.get("conditions") or ()
    )


def _written(meta: Object) -> float | None:
    """When the dispatcher wrote the list, as the server says."""
    times = []
    for entry in meta.get("managedFields") or ():
        owned = (entry.get("fieldsV1") or {}).get("f:status") or {}
        if entry.get("manager") == MANAGER and _FIELD in owned:
            try:
                times.append(datetime.fromisoformat(entry["time"]).timestamp())
            except (KeyError, ValueError):
                continue
    return max(times, default=None)


def features_of(found: Object) -> dict[str, float]:
    """The features of a Workload.

    Args:
        found: Its JSON.

    Returns:
        ``pods``, ``requests.RESOURCE`` over all pods (memory in GiB), and a feature for each
        annotation or label ``walras.dev/feature-NAME`` of the pods and of the Workload: the
        Workload's goes before the pods', an annotation before a label. What is no number is left
        out.
    """
    sets = (found.get("spec") or {}).get("podSets") or ()
    made = dict(_requests(sets))
    metas = [(one.get("template") or {}).get("metadata") or {} for one in reversed(sets)]
    for meta in (*metas, found["metadata"]):
        for part in ("labels", "annotations"):
            for key, text in (meta.get(part) or {}).items():
                value = _number(text)
                if key.startswith(FEATURE) and value is not None:
                    made[key.removeprefix(FEATURE)] = value
    good = {k: v for k, v in made.items() if _NAME.fullmatch(k) and abs(v) <= _LARGEST}
    return dict(sorted(good.items())[:_MOST])


def _requests(sets: Any) -> Iterator[tuple[str, float]]:
    pods, totals = 0, dict[str, float]()
    for one in sets:
        count = int(one.get("count", 1))
        pods += count
        spec = (one.get("template") or {}).get("spec") or {}
        for container in spec.get("containers") or ():
            asked = (container.get("resources") or {}).get("requests") or {}
            for name, text in asked.items():
                value = quantity(str(text)) / (2**30 if name in _GIBIBYTES else 1.0)
                totals[name] = totals.get(name, 0.0) + count * value
    if pods:
        yield "pods", float(pods)
    for name, total in totals.items():
        if math.isfinite(total):
            yield f"requests.{name}", total


def _number(text: Any) -> float | None:
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def quantity(text: str) -> float:
    """A quantity of Kubernetes as a number; NaN where it is none.

    Args:
        text: Such as ``250m``, ``4Gi`` or ``1e3``.

    Returns:
        The number: 0.25, 2**32, 1000.
    """
    match = _QUANTITY.fullmatch(text)
    if match is None or match[2] not in _UNITS:
        return math.nan
    value = _number(match[1])
    return math.nan if value is None else value * _UNITS[match[2]]
