"""A manager cluster without a cluster: the API server's rules, and what Kueue writes.

It keeps resourceVersions, field managers of server-side apply, the admission policy, a history of
events that can be forgotten, and what Kueue's schema and webhook refuse. Sources: kubernetes.io,
*Server-Side Apply* and *API Concepts*; kubernetes-sigs/kueue, ``config/components/map``,
``pkg/webhooks/workload_webhook.go``.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from walras.exchange.dispatch.requests import KINDS, Request

KUEUE = "kueue-admission"
GROUP = "/apis/kueue.x-k8s.io/v1beta2"
POLICY = "kueue-clear-nominated-cluster-names"
DISPATCHER = "walras.dev/exchange"
Answer = tuple[int, dict[str, Any]]


class RefusedError(Exception):
    """The server refuses a request."""

    def __init__(self, code: int, reason: str, message: str = "") -> None:
        super().__init__(message or reason)
        self.body = {
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Failure",
            "reason": reason,
            "code": code,
            "message": message or reason,
        }
        self.code = code


@dataclass(frozen=True)
class Write:
    """A list of names that the dispatcher wrote."""

    key: tuple[str, str]
    before: tuple[str, ...]
    after: tuple[str, ...]
    status: dict[str, Any]


@dataclass
class FakeKueue:
    """The API server and Kueue's manager.

    Attributes:
        policy: Whether the admission policy is there and bound.
        merge_gate: Whether Kueue writes merge patches and takes its fields from anybody.
        now: Seconds since 1970, for managedFields.
        page: Objects of a page, at most.
        writes: What the dispatcher wrote.
        requests: Every request, for the rights that it needs.
    """

    policy: bool = True
    merge_gate: bool = False
    now: float = 1.8e9
    page: int = 500
    writes: list[Write] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    objects: dict[str, dict[tuple[str, str], dict[str, Any]]] = field(default_factory=dict)
    events: list[tuple[int, str, str, dict[str, Any]]] = field(default_factory=list)
    version: int = 100
    forgotten: int = 0
    dispatcher: str = DISPATCHER
    _lists: dict[tuple[str, int], list[dict[str, Any]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.objects = {kind: {} for kind in KINDS}

    # ---- what the tests and Kueue do ----------------------------------------------------------

    def put(self, kind: str, name: str, spec: Any = None, **more: Any) -> dict[str, Any]:
        """Create or replace an object that has no namespace."""
        found = {"metadata": {"name": name}, "spec": spec or {}, **more}
        return self._store(kind, ("", name), found)

    def chain(self, *clusters: str, queue: str = "cq", active: bool = True) -> None:
        """A ClusterQueue whose jobs go to some clusters."""
        checks = {"admissionChecks": [{"name": f"{queue}-check"}]}
        self.put("clusterqueues", queue, {"admissionChecksStrategy": checks})
        parameters = {
            "apiGroup": "kueue.x-k8s.io",
            "kind": "MultiKueueConfig",
            "name": f"{queue}-config",
        }
        spec = {"controllerName": "kueue.x-k8s.io/multikueue", "parameters": parameters}
        self.put("admissionchecks", f"{queue}-check", spec)
        self.put("multikueueconfigs", f"{queue}-config", {"clusters": list(clusters)})
        for name in clusters:
            self.cluster(name, active=active)

    def cluster(self, name: str, *, active: bool = True) -> None:
        """A MultiKueueCluster."""
        condition = {"type": "Active", "status": "True" if active else "False"}
        self.put("multikueueclusters", name, status={"conditions": [condition]})

    def workload(self, name: str, queue: str = "cq", *, reserved: bool = True, **more: Any) -> None:
        """A Workload; with quota reserved unless said otherwise."""
        self.version += 1
        found: dict[str, Any] = {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "Workload",
            "metadata": {"name": name, "namespace": "lab", "uid": f"u{self.version}"},
            "spec": {"queueName": queue, "podSets": []},
            "status": {},
        }
        for part, value in more.items():
            found[part] = {**found[part], **value}
        self._store("workloads", ("lab", name), found)
        if reserved:
            self.reserve(name, queue)

    def reserve(self, name: str, queue: str = "cq") -> None:
        """Kueue reserves quota."""
        self._kueue(
            name,
            {
                "admission": {"clusterQueue": queue},
                "conditions": [
                    {"type": "QuotaReserved", "status": "True"},
                    {"type": "Evicted", "status": "False"},
                ],
                "admissionChecks": [{"name": f"{queue}-check", "state": "Pending"}],
            },
        )

    def admit(self, name: str, cluster: str) -> None:
        """Kueue admits it on a cluster.

        Raises:
            RefusedError: The names that are nominated stand in the way.
        """
        status = self.get(name)["status"]
        self._kueue(
            name,
            {
                "admission": status["admission"],
                "conditions": status["conditions"],
                "admissionChecks": [{**one, "state": "Ready"} for one in status["admissionChecks"]],
                "clusterName": cluster,
            },
        )

    def evict(self, name: str) -> None:
        """Kueue takes the quota back; the name of the cluster goes with it."""
        self._kueue(
            name,
            {
                "conditions": [
                    {"type": "QuotaReserved", "status": "False"},
                    {"type": "Evicted", "status": "True"},
                ],
                "admissionChecks": [],
            },
        )

    def finish(self, name: str) -> None:
        """It has finished."""
        found = copy.deepcopy(self.get(name))
        found["status"]["conditions"].append({"type": "Finished", "status": "True"})
        self._store("workloads", ("lab", name), found)

    def delete(self, name: str, kind: str = "workloads", namespace: str = "lab") -> None:
        """An object is removed."""
        found = self.objects[kind].pop((namespace, name))
        self.version += 1
        found = copy.deepcopy(found)
        found["metadata"]["resourceVersion"] = str(self.version)
        self.events.append((self.version, kind, "DELETED", found))

    def get(self, name: str) -> dict[str, Any]:
        """A workload."""
        return self.objects["workloads"]["lab", name]

    def names(self, name: str) -> list[str]:
        """The names that are nominated for a workload."""
        found: list[str] = self.get(name)["status"].get("nominatedClusterNames", [])
        return found

    def forget(self) -> None:
        """Forget the history: whoever resumes from an older version is answered 410."""
        self.forgotten = self.version

    def active(self) -> frozenset[str]:
        """The clusters that are connected."""
        return frozenset(
            name
            for (_, name), one in self.objects["multikueueclusters"].items()
            if one["status"]["conditions"][0]["status"] == "True"
        )

    # ---- the server ---------------------------------------------------------------------------

    def handle(self, request: Request) -> Answer:
        """Answer a request that is no watch."""
        self.requests.append(request)
        try:
            return 200, self._answer(request)
        except RefusedError as refused:
            return refused.code, refused.body

    def _answer(self, request: Request) -> dict[str, Any]:
        path = request.path
        if path.startswith("/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolic"):
            return self._policy(path.rpartition("/")[2])
        if path == "/api/v1/namespaces/kueue-system/configmaps/kueue-manager-config":
            text = f"multiKueue:\n  dispatcherName: {self.dispatcher}\n"
            return {"data": {"controller_manager_config.yaml": text}}
        parts = path.removeprefix(GROUP + "/").split("/")
        if request.method == "GET" and len(parts) == 1 and parts[0] in KINDS:
            return self._list(parts[0], request.query)
        if parts[0] != "namespaces" or parts[2] != "workloads":
            raise RefusedError(404, "NotFound", f"there is no {path}")
        found = self.objects["workloads"].get((parts[1], parts[3]))
        if found is None:
            raise RefusedError(404, "NotFound", f'workloads "{parts[3]}" not found')
        if request.method == "PATCH" and parts[4:] == ["status"]:
            return self._patch(found, request)
        if request.method == "GET" and len(parts) == 4:
            return copy.deepcopy(found)
        raise RefusedError(405, "MethodNotAllowed")

    def _policy(self, name: str) -> dict[str, Any]:
        if not self.policy or name not in (POLICY, f"{POLICY}-binding"):
            raise RefusedError(404, "NotFound", f'"{name}" not found')
        return {"metadata": {"name": name}, "spec": {"policyName": POLICY}}

    def _list(self, kind: str, query: Mapping[str, str]) -> dict[str, Any]:
        """A page; all pages of a list show the state of its beginning."""
        begin, version = 0, self.version
        if "continue" in query:
            begin, version = map(int, query["continue"].split("@"))
            if version < self.forgotten:
                raise RefusedError(410, "Expired", "the continue token is too old")
            found = self._lists[kind, version]
        else:
            found = [copy.deepcopy(one) for _, one in sorted(self.objects[kind].items())]
        end = begin + min(self.page, int(query["limit"]))
        meta = {"resourceVersion": str(version)}
        if end < len(found):
            meta["continue"] = f"{end}@{version}"
            self._lists[kind, version] = found
        return {"metadata": meta, "items": copy.deepcopy(found[begin:end])}

    def after(self, kind: str, version: int) -> tuple[list[dict[str, Any]], int]:
        """The events of a kind after a version, and the version up to which they were looked at.

        Raises:
            RefusedError: The version was forgotten.
        """
        if version < self.forgotten:
            raise RefusedError(410, "Expired", f"too old resource version: {version}")
        found = [
            {"type": what, "object": copy.deepcopy(one)}
            for at, of, what, one in self.events
            if of == kind and at > version
        ]
        return found, self.version

    def bookmark(self) -> dict[str, Any]:
        """A bookmark of now."""
        return {
            "type": "BOOKMARK",
            "object": {"metadata": {"resourceVersion": str(self.version)}},
        }

    def _patch(self, found: dict[str, Any], request: Request) -> dict[str, Any]:
        body = json.loads(request.body or b"{}")
        meta = body.get("metadata", {})
        for part in ("uid", "resourceVersion"):
            if part in meta and meta[part] != found["metadata"][part]:
                raise RefusedError(409, "Conflict", "the object has been modified")
        if request.content == "application/merge-patch+json":
            made = self._merged(found, body["status"], request.query["fieldManager"])
        elif request.content == "application/apply-patch+yaml":
            if (body["apiVersion"], body["kind"]) != ("kueue.x-k8s.io/v1beta2", "Workload"):
                raise RefusedError(400, "BadRequest")
            force = request.query.get("force") == "true"
            made = self._applied(found, body["status"], request.query["fieldManager"], force)
        else:
            raise RefusedError(415, "UnsupportedMediaType")
        before, key = found["status"], (found["metadata"]["namespace"], found["metadata"]["name"])
        stored = self._admitted(found, made)
        self.writes.append(
            Write(
                key,
                tuple(before.get("nominatedClusterNames", ())),
                tuple(stored["status"].get("nominatedClusterNames", ())),
                before,
            )
        )
        return copy.deepcopy(stored)

    def _kueue(self, name: str, status: dict[str, Any]) -> None:
        """Kueue writes all that is its own, by server-side apply or, with the gate, by merge."""
        found = self.get(name)
        if self.merge_gate:
            none = {"clusterName": None, "nominatedClusterNames": None, "admission": None}
            kept = {"nominatedClusterNames": found["status"].get("nominatedClusterNames")}
            kept = kept if not status.get("clusterName") and "admission" in status else {}
            made = self._merged(found, none | kept | status, "kueue")
        else:
            made = self._applied(found, status, KUEUE, True)
        self._admitted(found, made)

    def _applied(
        self, found: dict[str, Any], status: dict[str, Any], manager: str, force: bool
    ) -> dict[str, Any]:
        """Server-side apply: what the manager owned and does not repeat is removed."""
        made = copy.deepcopy(found)
        owned = _owned(found)
        others = {who: fields for who, fields in owned.items() if who != manager}
        for name, value in status.items():
            taken = [who for who, fields in others.items() if name in fields]
            if taken and made["status"].get(name) != value:
                if not force:
                    raise RefusedError(409, "Conflict", f"{name} is managed by {taken[0]}")
                for who in taken:
                    others[who].discard(name)
            made["status"][name] = value
        for name in owned.get(manager, set()) - status.keys():
            if not any(name in fields for fields in others.values()):
                made["status"].pop(name, None)
        changed = {n for n, v in status.items() if found["status"].get(n) != v}
        self._owners(made, {**others, manager: set(status)}, manager if changed else "")
        return made

    def _merged(
        self, found: dict[str, Any], status: dict[str, Any], manager: str
    ) -> dict[str, Any]:
        """Merge patch: what is written changes hands, whoever owned it."""
        made = copy.deepcopy(found)
        owned = _owned(found)
        for name, value in status.items():
            if made["status"].get(name) == value:
                continue
            for fields in owned.values():
                fields.discard(name)
            made["status"].pop(name, None)
            if value is not None:
                made["status"][name] = value
                owned.setdefault(manager, set()).add(name)
        self._owners(made, owned, manager)
        return made

    def _owners(self, made: dict[str, Any], owned: dict[str, set[str]], wrote: str) -> None:
        times = {e["manager"]: e["time"] for e in made["metadata"].get("managedFields", [])}
        now = datetime.fromtimestamp(self.now, UTC).isoformat(timespec="seconds")
        made["metadata"]["managedFields"] = [
            {
                "manager": who,
                "operation": "Apply",
                "subresource": "status",
                "time": now if who == wrote else times.get(who, now),
                "fieldsV1": {"f:status": {f"f:{name}": {} for name in sorted(fields)}},
            }
            for who, fields in sorted(owned.items())
            if fields
        ]

    def _admitted(self, old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
        """The admission policy, then the schema and the webhook, then the store."""
        status, before = new["status"], old["status"]
        begins = status.get("clusterName") and not before.get("clusterName")
        evicted = _true(status, "Evicted") and not _true(before, "Evicted")
        if self.policy and status.get("nominatedClusterNames") and (begins or evicted):
            status["nominatedClusterNames"] = []
            owned = _owned(new)
            for fields in owned.values():
                fields.discard("nominatedClusterNames")
            self._owners(new, owned, "")
        names = status.get("nominatedClusterNames") or []
        if len(names) > 20 or any(len(one) > 256 for one in names):
            raise RefusedError(422, "Invalid", "nominatedClusterNames has too many items")
        if status.get("clusterName"):
            if names:
                raise RefusedError(422, "Invalid", "clusterName and nominatedClusterNames exclude")
            had = before.get("nominatedClusterNames") or []
            if begins and status["clusterName"] not in had:
                raise RefusedError(
                    403, "Forbidden", "clusterName must be one of the nominated ones"
                )
        return self._store(
            "workloads", (new["metadata"]["namespace"], new["metadata"]["name"]), new
        )

    def _store(self, kind: str, key: tuple[str, str], found: dict[str, Any]) -> dict[str, Any]:
        self.version += 1
        found["metadata"]["resourceVersion"] = str(self.version)
        what = "MODIFIED" if key in self.objects[kind] else "ADDED"
        self.objects[kind][key] = found
        self.events.append((self.version, kind, what, copy.deepcopy(found)))
        return found


def _owned(found: Mapping[str, Any]) -> dict[str, set[str]]:
    return {
        one["manager"]: {name.removeprefix("f:") for name in one["fieldsV1"]["f:status"]}
        for one in found["metadata"].get("managedFields", [])
    }


def _true(status: Mapping[str, Any], condition: str) -> bool:
    conditions: Sequence[Mapping[str, str]] = status.get("conditions", [])
    return any(one["type"] == condition and one["status"] == "True" for one in conditions)
