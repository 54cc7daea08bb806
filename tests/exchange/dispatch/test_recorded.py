"""The dispatcher against an API server's answers, request by request.

``recorded.json`` has the answers of a manager cluster in full. They were written by hand as the
APIs document them; no server gave them.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.exchange.dispatch.virtual import predicted

from walras.exchange.dispatch.checks import Setup
from walras.exchange.dispatch.driver import Driver
from walras.exchange.dispatch.ranking import Ranker
from walras.exchange.dispatch.server import Server
from walras.exchange.errors import ConflictError

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).parent / "recorded.json").read_text(encoding="utf-8")
)
KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
LISTS = ["workloads", "clusterqueues", "admissionchecks", "multikueueconfigs", "multikueueclusters"]
JOB = f"{KUEUE}/namespaces/lab/workloads/job-train-5f2c1"


class Recorded:
    """Answers as written down, and writes with what a test says.

    Attributes:
        asked: The requests, in order.
        patches: Header and body of each write.
        answers: Status and body of each write and of what is read again, in order.
    """

    def __init__(self, *answers: tuple[int, Any]) -> None:
        self.asked: list[str] = []
        self.patches: list[tuple[str, Any]] = []
        self.answers = list(answers)

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        name = f"{request.method} {request.url.raw_path.decode()}"
        self.asked.append(name)
        assert request.headers["accept"] == "application/json"
        if name in RECORDED:
            return httpx2.Response(200, json=RECORDED[name])
        assert request.url.path.startswith(JOB), name
        if request.method == "PATCH":
            self.patches.append((request.headers["content-type"], json.loads(request.content)))
        status, body = self.answers.pop(0)
        return httpx2.Response(status, json=body)


def _once(recorded: Recorded, setup: Setup | None = None) -> tuple[list[Any], list[str]]:
    async def work() -> tuple[list[Any], list[str]]:
        client = httpx2.AsyncClient(
            transport=httpx2.MockTransport(recorded), base_url="https://manager"
        )
        said: list[str] = []
        made = Driver(
            Server("https://manager", client=client), Ranker(predicted), setup, on_event=said.append
        )
        found = await made.once()
        await client.aclose()
        return [one.model_dump() for one in found], said

    return asyncio.run(work())


def _job(*names: str, version: str = "90177") -> dict[str, Any]:
    (found,) = [
        one
        for one in RECORDED[f"GET {KUEUE}/workloads?limit=500"]["items"]
        if one["metadata"]["name"] == "job-train-5f2c1"
    ]
    meta = found["metadata"] | {"resourceVersion": version}
    return {
        **found,
        "metadata": meta,
        "status": found["status"] | {"nominatedClusterNames": list(names)},
    }


WAY_A = f"PATCH {JOB}/status?fieldManager=walras&force=true"


def test_a_pass_by_way_a() -> None:
    recorded = Recorded((200, _job("worker-west", "worker-east", version="90300")))
    found, said = _once(recorded)
    policy = "kueue-clear-nominated-cluster-names"
    admission = "GET /apis/admissionregistration.k8s.io/v1"
    assert recorded.asked == [
        "GET /api/v1/namespaces/kueue-system/configmaps/kueue-manager-config",
        f"{admission}/mutatingadmissionpolicies/{policy}",
        f"{admission}/mutatingadmissionpolicybindings/{policy}-binding",
        *(f"GET {KUEUE}/{kind}?limit=500" for kind in LISTS),
        f"GET {KUEUE}/multikueueclusters?limit=500",
        WAY_A,
    ]
    assert recorded.patches == [
        (
            "application/apply-patch+yaml",
            {
                "apiVersion": "kueue.x-k8s.io/v1beta2",
                "kind": "Workload",
                "metadata": {
                    "name": "job-train-5f2c1",
                    "namespace": "lab",
                    "uid": "0b0f2a9e-5d5e-4c2e-9a64-0f0e5d2f7c11",
                    "resourceVersion": "90177",
                },
                "status": {"nominatedClusterNames": ["worker-west", "worker-east"]},
            },
        )
    ]
    assert found == [
        {
            "namespace": "lab",
            "workload": "job-train-5f2c1",
            "state": "complete",
            "nominated": ["worker-west", "worker-east"],
            "text": "every active cluster is nominated",
        }
    ]
    assert said == [
        "follows https://manager: 1 workloads wait for a cluster, 2 clusters are active"
    ]


def test_a_pass_by_way_b() -> None:
    recorded = Recorded((200, _job("worker-west", "worker-east")))
    _once(recorded, Setup(merge=True))
    assert recorded.asked[-1] == f"PATCH {JOB}/status?fieldManager=walras"
    assert recorded.patches == [
        (
            "application/merge-patch+json",
            {
                "metadata": {"resourceVersion": "90177"},
                "status": {"nominatedClusterNames": ["worker-west", "worker-east"]},
            },
        )
    ]


def test_after_a_conflict_the_workload_is_read_again_and_written_anew() -> None:
    conflict = {"kind": "Status", "reason": "Conflict", "code": 409}
    recorded = Recorded(
        (409, conflict),
        (200, _job("worker-east", version="90250")),  # another replica was first
    )
    found, _ = _once(recorded)
    assert recorded.asked[-2:] == [WAY_A, f"GET {JOB}"]
    assert [one["state"] for one in found] == ["waits"]
    recorded = Recorded(
        (409, conflict),
        (200, _job(version="90250")),
        (200, _job("worker-west", "worker-east", version="90251")),
    )
    _once(recorded)
    assert [body["metadata"]["resourceVersion"] for _, body in recorded.patches] == [
        "90177",
        "90250",
    ]


def test_a_workload_that_is_gone_is_forgotten() -> None:
    found, _ = _once(Recorded((404, {"reason": "NotFound"})))
    assert found == []
    found, _ = _once(Recorded((409, {}), (404, {})))
    assert found == []


def test_a_pass_gives_up_where_every_write_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from walras.exchange.dispatch import dispatcher

    monkeypatch.setattr(dispatcher, "backoff", lambda _: 0.01)
    answers: list[tuple[int, Any]] = [(409, {}), (200, _job())] * 20
    with pytest.raises(ConflictError, match="changes faster than it can be written"):
        _once(Recorded(*answers))
