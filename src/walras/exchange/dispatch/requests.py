"""The requests that the dispatcher makes of a Kubernetes API server, as data.

Kueue's facts: kubernetes-sigs/kueue, API ``kueue.x-k8s.io/v1beta2``; see
``docs/howto/exchange_kueue.md``. One file, so that the rights in ``deploy/kueue/dispatcher.yaml``
can be checked against it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from walras.exchange.dispatch.workloads import Workload

GROUP = "kueue.x-k8s.io"
VERSION = "v1beta2"
MANAGER = "walras"
"""Field manager of what is written."""
KINDS = (
    "workloads",
    "clusterqueues",
    "admissionchecks",
    "multikueueconfigs",
    "multikueueclusters",
)
"""Kinds of objects that are listed and watched."""
PAGE = 500  # objects of a page
WATCH_SECONDS = 60  # then the server ends a watch, and it is resumed: a dead one is found so

APPLY = "application/apply-patch+yaml"  # JSON is YAML
MERGE = "application/merge-patch+json"

_KUEUE = f"/apis/{GROUP}/{VERSION}"
_ADMISSION = "/apis/admissionregistration.k8s.io/v1"


@dataclass(frozen=True)
class Request:
    """A request.

    Attributes:
        method: HTTP method.
        path: Path of the address.
        query: What follows the question mark.
        body: Bytes to send, or None.
        content: Type of the body.
        stream: Whether the answer is a line of JSON for each event.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    content: str = ""
    stream: bool = False


def listing(kind: str, token: str = "") -> Request:
    """A page of a list, of the newest state."""
    more = {"continue": token} if token else {}
    return Request("GET", f"{_KUEUE}/{kind}", {"limit": str(PAGE), **more})


def watching(kind: str, version: str) -> Request:
    """The changes after a version, with bookmarks."""
    query = {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": version,
        "timeoutSeconds": str(WATCH_SECONDS),
    }
    return Request("GET", f"{_KUEUE}/{kind}", query, stream=True)


def reading(namespace: str, name: str) -> Request:
    """A workload as it is now."""
    return Request("GET", f"{_KUEUE}/namespaces/{namespace}/workloads/{name}")


def applying(workload: Workload, names: Sequence[str]) -> Request:
    """Way A: server-side apply of the list alone, as a manager of its own.

    The version of the workload goes with it: one that has changed since is not written (409).
    """
    body = {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "Workload",
        "metadata": {
            "name": workload.name,
            "namespace": workload.namespace,
            "uid": workload.uid,
            "resourceVersion": workload.version,
        },
        "status": {"nominatedClusterNames": list(names)},
    }
    return _patch(workload, APPLY, {"fieldManager": MANAGER, "force": "true"}, body)


def merging(workload: Workload, names: Sequence[str]) -> Request:
    """Way B: a merge patch, where the manager has the gate WorkloadRequestUseMergePatch."""
    body = {
        "metadata": {"resourceVersion": workload.version},
        "status": {"nominatedClusterNames": list(names)},
    }
    return _patch(workload, MERGE, {"fieldManager": MANAGER}, body)


def _patch(
    workload: Workload, content: str, query: Mapping[str, str], body: Mapping[str, object]
) -> Request:
    path = f"{_KUEUE}/namespaces/{workload.namespace}/workloads/{workload.name}/status"
    return Request("PATCH", path, query, json.dumps(body).encode(), content)


def policy(name: str) -> Request:
    """The MutatingAdmissionPolicy of a name."""
    return Request("GET", f"{_ADMISSION}/mutatingadmissionpolicies/{name}")


def policy_binding(name: str) -> Request:
    """The binding that puts a MutatingAdmissionPolicy in force."""
    return Request("GET", f"{_ADMISSION}/mutatingadmissionpolicybindings/{name}")


def config_map(namespace: str, name: str) -> Request:
    """A ConfigMap."""
    return Request("GET", f"/api/v1/namespaces/{namespace}/configmaps/{name}")
