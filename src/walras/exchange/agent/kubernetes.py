"""Runs as Kubernetes Jobs, by five HTTP calls: create, list, delete, list pods, read a log."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2

from walras.exchange.agent.backend import tail
from walras.exchange.agent.machine import Key
from walras.exchange.agent.scheduled import OutsideError, Scheduled, Seen
from walras.exchange.errors import FieldError
from walras.exchange.service.messages import Grant

_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_PATIENCE = 30.0
_KEPT = 3600  # seconds that an ended Job stays, should nobody remove it
# The last lines of an output, from the first of them on: bytes alone are counted from its begin.
_TAIL = {"tailLines": "200", "limitBytes": str(2**20)}


class Kubernetes(Scheduled):
    """Runs as Jobs of one namespace.

    Args:
        home: Folder of the agent.
        image: Image that runs the commands.
        namespace: Namespace, or None for the service account's.
        url: Address of the API server, or None for the one of this cluster.
        token: Bearer token, or None for the service account's.
        client: An HTTP client to use instead; for tests.

    Raises:
        FieldError: There is no service account here, and no address and token were given.
    """

    name = "kubernetes"

    def __init__(
        self,
        home: Path,
        *,
        image: str,
        namespace: str | None = None,
        url: str | None = None,
        token: str | None = None,
        client: httpx2.Client | None = None,
    ) -> None:
        super().__init__(home)
        self._image = image
        self._client = client or _client(url, token)
        self._space = namespace or _account("namespace") or "default"

    def _submit(self, key: Key, grant: Grant) -> None:
        answer = self._ask("POST", self._jobs_path(), json=self._manifest(key, grant))
        if answer.status_code == 409:  # it is there: the try before took effect
            return
        _check(answer, 201)

    def _manifest(self, key: Key, grant: Grant) -> dict[str, Any]:
        environment = {
            **grant.spec.get("environment", {}),
            "WALRAS_TASK": grant.task,
            "WALRAS_SLOTS": str(grant.slots),
        }
        container = {
            "name": "task",
            "image": self._image,
            "command": grant.spec["command"],
            "env": [{"name": k, "value": v} for k, v in sorted(environment.items())],
            "resources": {"requests": {"cpu": str(grant.slots)}},
        }
        spec: dict[str, Any] = {
            "backoffLimit": 0,  # a run is never started twice
            "completions": 1,
            "parallelism": 1,
            "ttlSecondsAfterFinished": _KEPT,
            "template": {
                "metadata": {"labels": {"walras.dev/run": self.job_name(key)}},
                "spec": {"restartPolicy": "Never", "containers": [container]},
            },
        }
        if grant.time_limit is not None:
            spec["activeDeadlineSeconds"] = max(math.ceil(grant.time_limit), 1)
        return {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": self.job_name(key), "labels": {"walras.dev/agent": "run"}},
            "spec": spec,
        }

    def _look(self, names: Mapping[str, Key]) -> dict[Key, Seen]:
        found: dict[Key, Seen] = {}
        query = {"labelSelector": "walras.dev/agent=run", "limit": "500"}
        while True:
            answer = self._ask("GET", self._jobs_path(), params=query)
            _check(answer, 200)
            body = answer.json()
            for job in body["items"]:
                key = names.get(job["metadata"]["name"])
                if key is not None:
                    found[key] = _seen(job.get("status", {}))
            rest = body.get("metadata", {}).get("continue")
            if not rest:
                return found
            query = {**query, "continue": rest}

    def _cancel(self, key: Key) -> None:
        answer = self._ask(
            "DELETE",
            f"{self._jobs_path()}/{self.job_name(key)}",
            params={"propagationPolicy": "Foreground"},
        )
        if answer.status_code != 404:
            _check(answer, 200, 202)

    def _log(self, key: Key) -> str:
        """The end of the output; empty where it cannot be read: a result does not wait for it."""
        try:
            query = {"labelSelector": f"walras.dev/run={self.job_name(key)}"}
            base = f"/api/v1/namespaces/{self._space}/pods"
            pods = self._ask("GET", base, params=query)
            _check(pods, 200)
            items = pods.json()["items"]
            if not items:
                return ""
            name = items[-1]["metadata"]["name"]
            answer = self._ask("GET", f"{base}/{name}/log", params=_TAIL)
            _check(answer, 200)
            return tail(answer.content)
        except OutsideError:
            return ""

    def _remove(self, key: Key) -> None:
        if key in self._runs:
            try:
                self._cancel(key)
            except OutsideError:
                return  # it goes by itself, after an hour

    def _jobs_path(self) -> str:
        return f"/apis/batch/v1/namespaces/{self._space}/jobs"

    def _ask(self, method: str, path: str, **options: Any) -> httpx2.Response:
        try:
            return self._client.request(method, path, **options)
        except httpx2.HTTPError as error:
            raise OutsideError(str(error)) from error


def _seen(status: Mapping[str, Any]) -> Seen:
    """What a Job's status says."""
    for condition in status.get("conditions") or []:
        if condition.get("status") != "True":
            continue
        if condition["type"] == "Complete":
            return Seen("completed", _seconds(status), 0)
        if condition["type"] == "Failed":
            late = condition.get("reason") == "DeadlineExceeded"
            return Seen("timeout" if late else "failed", _seconds(status))
    return Seen("running" if status.get("active") else "waiting")


def _seconds(status: Mapping[str, Any]) -> float | None:
    try:
        began = datetime.fromisoformat(status["startTime"])
        ended = datetime.fromisoformat(status["completionTime"])
    except (KeyError, ValueError):
        return None
    return (ended - began).total_seconds()


def _check(answer: httpx2.Response, *good: int) -> None:
    if answer.status_code not in good:
        raise OutsideError(f"HTTP {answer.status_code}: {answer.text[:200]}")


def _account(name: str) -> str | None:
    try:
        return (_ACCOUNT / name).read_text(encoding="utf-8").strip()
    except OSError:
        return None


def _client(url: str | None, token: str | None) -> httpx2.Client:
    token = token or _account("token")
    if token is None:
        raise FieldError(
            "there is no service account here",
            where="backend kubernetes",
            allowed="an agent in a pod with a service account, or an address and a token",
            remedy="run the agent in the cluster: see the how-to on Kubernetes",
        )
    authority = _ACCOUNT / "ca.crt"
    return httpx2.Client(
        base_url=url or "https://kubernetes.default.svc",
        headers={"Authorization": f"Bearer {token}"},
        verify=str(authority) if authority.exists() else True,
        timeout=_PATIENCE,
    )
