"""Kueue's workloads and events as a log of jobs: JSON lines, a list, or what a watch wrote.

``kubectl get workloads -A -o json`` gives the workloads that are there; their conditions carry the
times. ``kubectl get events -A -o json`` adds what was admitted and finished. Of one workload the
last line counts, and a time that a workload lacks is taken from its events.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from walras.errors import DataError
from walras.files import reason_of
from walras.predict.logs.moments import moments
from walras.predict.logs.text import read_text
from walras.shadow.jobs import Rows

COMMAND = "kubectl get workloads,events -A -o json > kueue.json"
"""What writes the text that is read here."""

_GPUS = ("nvidia.com/gpu", "amd.com/gpu")
_SUFFIX = re.compile(r"-[0-9a-f]{5,}$")  # Kueue ends a workload's name with a hash
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)(m?)")
_QUEUE = re.compile(r"ClusterQueue (\S+?)[,.]?(?:\s|$)")


@dataclass
class _Workload:
    """What is known of one workload.

    Attributes:
        line: The last line that named it.
        facts: Times as written, cluster, name, user, slots, outcome.
    """

    line: int
    facts: dict[str, Any] = field(default_factory=dict)


def read(path: Path) -> Rows:
    """Read workloads and events.

    Args:
        path: JSON lines of objects, or one JSON object with ``items``.

    Raises:
        DataError: The file cannot be read, or holds no workload.
    """
    found: dict[str, _Workload] = {}
    ragged: list[int] = []
    try:
        text = read_text(path)
        for number, item in _objects(text, ragged):
            _take(found, number, item)
    except (
        OSError,
        ValueError,
        TypeError,
        AttributeError,
        LookupError,
        OverflowError,
        RecursionError,
    ) as error:
        raise _unusable(f"cannot be read: {reason_of(error)}", path) from error
    if not found:
        raise _unusable("has no workload", path)
    ended = [one for one in found.values() if "end" in one.facts]
    rows = [one.facts for one in ended]
    table = pd.DataFrame(
        {
            **{name: moments([row.get(name, "") for row in rows]) for name in _TIMES},
            "cluster": [row.get("cluster", "") for row in rows],
            "outcome": [row.get("outcome", "completed") for row in rows],
            "name": [row.get("name", "") for row in rows],
            "user": [row.get("user", "") for row in rows],
            "slots": [row.get("slots", 1) for row in rows],
        }
    )
    numbers = np.array([one.line for one in ended], np.int64)
    return Rows(table, numbers, ragged, len(found) - len(ended), 0, str(path))


_TIMES = ("submit", "start", "end")


def _unusable(what: str, path: Path) -> DataError:
    return DataError(
        what,
        where=str(path),
        allowed="Kueue's workloads and events as JSON: one object a line, or a list",
        remedy=COMMAND,
    )


def _objects(text: str, ragged: list[int]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The objects of a file by their number; lists and events of a watch are unpacked."""
    try:
        whole = json.loads(text)
        items = whole.get("items", [whole]) if isinstance(whole, dict) else whole
        lines = list(enumerate(items, start=1))
    except json.JSONDecodeError:
        lines = []
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip():
                continue
            try:
                lines.append((number, json.loads(line)))
            except json.JSONDecodeError:
                ragged.append(number)
    for number, item in lines:
        if isinstance(item, dict):
            yield number, item["object"] if isinstance(item.get("object"), dict) else item


def _take(found: dict[str, _Workload], number: int, item: Mapping[str, Any]) -> None:
    kind = item.get("kind")
    meta = item.get("metadata", {})
    if kind == "Workload":
        key = f"{meta.get('namespace', '')}/{meta['name']}"
        one = found.setdefault(key, _Workload(number))
        one.line = number
        one.facts |= _workload(item, meta)
    elif kind == "Event":
        about = item.get("involvedObject") or item.get("regarding") or {}
        if about.get("kind") == "Workload":
            key = f"{about.get('namespace', '')}/{about['name']}"
            one = found.setdefault(key, _Workload(number))
            for name, value in _event(item, about).items():
                one.facts.setdefault(name, value)


def _workload(item: Mapping[str, Any], meta: Mapping[str, Any]) -> dict[str, Any]:
    spec, status = item.get("spec", {}), item.get("status", {})
    admission = status.get("admission") or {}
    facts: dict[str, Any] = {
        "submit": meta.get("creationTimestamp", ""),
        "name": _owner(meta),
        "user": meta.get("namespace", ""),
        "slots": _slots(spec.get("podSets", ())),
    }
    cluster = status.get("clusterName") or _flavor(admission) or admission.get("clusterQueue")
    if cluster:
        facts["cluster"] = cluster
    for condition in status.get("conditions", ()):
        if condition.get("status") != "True":
            continue
        when, kind = condition.get("lastTransitionTime", ""), condition.get("type")
        if kind == "Admitted":
            facts["start"] = when
        elif kind == "Finished":
            facts |= {"end": when, "outcome": _outcome(condition)}
    return facts


def _owner(meta: Mapping[str, Any]) -> str:
    owners = meta.get("ownerReferences") or ()
    return str(owners[0]["name"]) if owners else _SUFFIX.sub("", str(meta["name"]))


def _flavor(admission: Mapping[str, Any]) -> str | None:
    for assigned in admission.get("podSetAssignments", ()):
        for flavor in (assigned.get("flavors") or {}).values():
            return str(flavor)
    return None


def _slots(pod_sets: Any) -> int:
    """GPUs that are asked for, or CPUs where there are none; one at least."""
    gpus = cpus = 0.0
    for one in pod_sets:
        count = float(one.get("count", 1))
        spec = one.get("template", {}).get("spec", {})
        for container in spec.get("containers", ()):
            asked = container.get("resources", {}).get("requests", {})
            gpus += count * sum(_number(asked.get(name, "0")) for name in _GPUS)
            cpus += count * _number(asked.get("cpu", "0"))
    return max(1, int(np.ceil(gpus or cpus)))


def _number(quantity: Any) -> float:
    found = _QUANTITY.fullmatch(str(quantity))
    return 0.0 if found is None else float(found[1]) / (1000.0 if found[2] else 1.0)


def _outcome(condition: Mapping[str, Any]) -> str:
    words = f"{condition.get('reason', '')} {condition.get('message', '')}".lower()
    if "deactivat" in words or "cancel" in words or "outofsync" in words:
        return "cancelled"
    return "failed" if "fail" in words else "completed"


def _event(item: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
    when = item.get("lastTimestamp") or item.get("eventTime") or item.get("firstTimestamp") or ""
    facts: dict[str, Any] = {
        "name": _SUFFIX.sub("", str(about["name"])),
        "user": about.get("namespace", ""),
    }
    reason, message = str(item.get("reason", "")), str(item.get("message", ""))
    queue = _QUEUE.search(message)
    if reason == "Admitted":
        facts["start"] = when
    elif reason.startswith("Finished"):
        facts |= {"end": when, "outcome": _outcome({"message": message})}
    if queue and reason in ("Admitted", "QuotaReserved"):
        facts["cluster"] = queue[1]
    return facts
