"""Runs as Kubernetes Jobs, against a server that keeps Jobs as the API documents them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from walras.exchange.agent import scheduled
from walras.exchange.agent.kubernetes import Kubernetes
from walras.exchange.errors import FieldError
from walras.exchange.service.messages import Grant

JOBS = "/apis/batch/v1/namespaces/lab/jobs"


class Server:
    """The five calls, with Jobs in a dictionary; ``down`` answers 503."""

    def __init__(self) -> None:
        self.jobs: dict[str, dict[str, Any]] = {}
        self.created = 0
        self.down = False
        self.lost_answer = False
        self.printed = b"epoch 1\n"
        self.page = 500

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        assert request.headers["authorization"] == "Bearer secret"
        if self.down:
            return httpx2.Response(503, text="etcd is gone")
        path, name = request.url.path, request.url.path.rpartition("/")[2]
        if path.endswith("/log"):
            return httpx2.Response(200, content=self.read(request.url.params))
        if path.endswith("/pods"):
            return httpx2.Response(200, json={"items": [{"metadata": {"name": "pod"}}]})
        if request.method == "POST":
            return self.create(json.loads(request.content))
        if request.method == "DELETE":
            found = self.jobs.pop(name, None)
            return httpx2.Response(200 if found else 404, json={})
        return self.listed(request)

    def read(self, asked: httpx2.QueryParams) -> bytes:
        """As the API reference says: the last lines, and the first bytes of these."""
        lines = self.printed.splitlines(keepends=True)
        return b"".join(lines[-int(asked["tailLines"]) :])[: int(asked["limitBytes"])]

    def create(self, body: dict[str, Any]) -> httpx2.Response:
        name = body["metadata"]["name"]
        if name in self.jobs:
            return httpx2.Response(409, json={"reason": "AlreadyExists"})
        self.jobs[name] = {**body, "status": {}}
        self.created += 1
        if self.lost_answer:
            raise httpx2.ReadTimeout("timed out")
        return httpx2.Response(201, json=body)

    def listed(self, request: httpx2.Request) -> httpx2.Response:
        names = sorted(self.jobs)
        begin = int(request.url.params.get("continue", "0"))
        end = begin + self.page
        rest = {"continue": str(end)} if end < len(names) else {}
        items = [self.jobs[name] for name in names[begin:end]]
        return httpx2.Response(200, json={"metadata": rest, "items": items})


@pytest.fixture
def server() -> Server:
    return Server()


def backend_of(server: Server, home: Path) -> Kubernetes:
    client = httpx2.Client(
        transport=httpx2.MockTransport(server),
        base_url="https://cluster",
        headers={"Authorization": "Bearer secret"},
    )
    return Kubernetes(home, image="lab/train:1", namespace="lab", client=client)


def grant(placement: int = 1, task: str = "abc", limit: float | None = 90.0) -> Grant:
    spec = {"command": ["train"], "environment": {"SEED": "3"}}
    return Grant(placement, 1, task, 2, limit, spec)


def test_a_run_is_a_job_that_is_never_started_twice(server: Server, tmp_path: Path) -> None:
    backend = backend_of(server, tmp_path)
    backend.start(grant(), 0.0)
    assert backend.poll() == []
    job = server.jobs["walras-abc-1"]
    assert job["spec"]["backoffLimit"] == 0
    assert job["spec"]["activeDeadlineSeconds"] == 90
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["command"] == ["train"]
    assert {"name": "SEED", "value": "3"} in container["env"]
    assert backend.waiting() == {(1, 1)}
    job["status"] = {"active": 1}
    assert backend.poll() == []
    assert not backend.waiting(), "its deadline counts, though its pod may wait"
    job["status"] = {
        "startTime": "2026-01-01T00:00:00Z",
        "completionTime": "2026-01-01T00:01:01Z",
        "conditions": [{"type": "Complete", "status": "True"}],
    }
    (ended,) = backend.poll()
    assert (ended.outcome, ended.seconds, ended.log) == ("completed", 61.0, "epoch 1\n")
    backend.forget((1, 1))
    assert server.jobs == {}
    assert list((tmp_path / "jobs").iterdir()) == []


@pytest.mark.parametrize(
    ("reason", "outcome"), [("DeadlineExceeded", "timeout"), ("BackoffLimitExceeded", "failed")]
)
def test_failures_tell_their_reason(
    server: Server, tmp_path: Path, reason: str, outcome: str
) -> None:
    backend = backend_of(server, tmp_path)
    backend.start(grant(), 0.0)
    backend.poll()
    condition = {"type": "Failed", "status": "True", "reason": reason}
    server.jobs["walras-abc-1"]["status"] = {"conditions": [condition]}
    assert [e.outcome for e in backend.poll()] == [outcome]


def test_a_lost_answer_and_a_silent_server_start_nothing_twice(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(scheduled, "now", lambda: now[0])
    backend = backend_of(server, tmp_path)
    server.lost_answer = True
    backend.start(grant(), 0.0)
    backend.poll()
    server.lost_answer = False
    server.down = True
    for _ in range(4):
        now[0] += 100.0
        assert backend.poll() == []
    server.down = False
    assert backend.poll() == []
    assert server.created == 1


def test_all_pages_of_jobs_are_read(server: Server, tmp_path: Path) -> None:
    server.page = 2
    backend = backend_of(server, tmp_path)
    for k in range(5):
        backend.start(grant(k, f"t{k}"), 0.0)
    backend.poll()
    for job in server.jobs.values():
        job["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}
    assert len(backend.poll()) == 5


def test_of_a_long_output_the_end_is_kept(server: Server, tmp_path: Path) -> None:
    backend = backend_of(server, tmp_path)
    backend.start(grant(), 0.0)
    backend.poll()
    server.printed = b"".join(b"step %05d\n" % k for k in range(10_000))
    job = server.jobs["walras-abc-1"]
    job["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}
    (found,) = backend.poll()
    assert str(found.log).startswith("step 09800\n")
    assert str(found.log).endswith("step 09999\n")


def test_a_limit_is_never_less_than_was_asked_for(server: Server, tmp_path: Path) -> None:
    backend = backend_of(server, tmp_path)
    for number, limit in enumerate((0.2, 1.5, 90.0), 1):
        backend.start(grant(number, f"t{number}", limit), 0.0)
    backend.poll()
    specs = [server.jobs[name]["spec"] for name in sorted(server.jobs)]
    assert [spec["activeDeadlineSeconds"] for spec in specs] == [1, 2, 90]


def test_a_run_that_is_told_to_end_is_deleted(server: Server, tmp_path: Path) -> None:
    backend = backend_of(server, tmp_path)
    backend.start(grant(limit=None), 0.0)
    backend.poll()
    assert "activeDeadlineSeconds" not in server.jobs["walras-abc-1"]["spec"]
    backend.stop((1, 1))
    backend.poll()
    assert server.jobs == {}
    assert [e.outcome for e in backend.poll()] == ["cancelled"]


def test_outside_a_cluster_an_address_is_needed(tmp_path: Path) -> None:
    with pytest.raises(FieldError, match="no service account"):
        Kubernetes(tmp_path, image="lab/train:1")
