"""A request that is sent twice takes effect once, however many threads send it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.exchange.api.serving import Served, problem

from walras.exchange.api.routing import ScopedRoute

BODY = {"name": "once", "command": ["true"]}


def test_two_hundred_threads_with_one_key_make_one_task(served: Served) -> None:
    def send(_: int) -> tuple[int, bytes]:
        response = served.send("POST", "/v1/tasks", BODY, headers={"Idempotency-Key": "k"})
        return response.status_code, response.content

    with ThreadPoolExecutor(200) as pool:
        answers = set(pool.map(send, range(200)))
    assert len(answers) == 1
    assert next(iter(answers))[0] == 201
    assert len(served.get("/v1/tasks")["items"]) == 1


def test_many_threads_without_a_key_make_one_thing_of_a_name(served: Served) -> None:
    def send(k: int) -> tuple[int, int]:
        task = served.send("POST", "/v1/tasks", BODY | {"slots": k + 1})
        cluster = served.send("PUT", "/v1/clusters/c1", {"slots": k})
        return task.status_code, cluster.status_code

    with ThreadPoolExecutor(24) as pool:
        answers = list(pool.map(send, range(24)))
    assert sorted(task for task, _ in answers) == [201] + [409] * 23
    assert sorted(cluster for _, cluster in answers) == [201] + [412] * 23


def test_a_key_with_another_request_is_refused(served: Served) -> None:
    key = {"Idempotency-Key": "k"}
    first = served.send("POST", "/v1/tasks", BODY, headers=key)
    again = served.send("POST", "/v1/tasks", BODY, headers=key)
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["idempotency-replayed"] == "true"
    other = served.send("POST", "/v1/tasks", BODY | {"slots": 2}, headers=key)
    details = problem(other, 422, "WAL-2422")
    assert "Idempotency-Key" in details["detail"]
    uid = first.json()["uid"]
    problem(served.send("POST", f"/v1/tasks/{uid}:cancel", headers=key), 422, "WAL-2422")
    assert served.get(f"/v1/tasks/{uid}")["state"] == "pending"


def test_keys_are_of_a_tenant_or_of_a_token(served: Served) -> None:
    key = {"Idempotency-Key": "same"}
    made = {
        role: served.post("/v1/tasks", {"name": role, "command": ["true"]}, role=role, headers=key)
        for role in ("alpha", "beta", "submitter", "admin")
    }
    assert len({one["uid"] for one in made.values()}) == 4


def test_a_request_that_failed_can_be_sent_again_with_its_key(served: Served) -> None:
    key = {"Idempotency-Key": "k"}
    served.task("once")
    problem(served.send("POST", "/v1/tasks", BODY, headers=key), 409, "WAL-2409")
    (taken,) = served.get("/v1/tasks")["items"]
    other = served.post("/v1/tasks", BODY | {"name": "free"}, headers=key)  # nothing was kept
    assert other["uid"] != taken["uid"]


@pytest.mark.parametrize("key", ["", "a b", "x" * 256, "\u00e9"])
def test_a_key_that_cannot_be_one_is_refused(quick: Served, key: str) -> None:
    response = quick.send(
        "POST", "/v1/tasks", BODY, headers={"Idempotency-Key": key.encode("latin-1")}
    )
    details = problem(response, 422, "WAL-2422")
    assert "Idempotency-Key" in details["detail"]


def test_every_post_takes_a_key(served: Served) -> None:
    uid = served.task("a")
    served.put("/v1/clusters/c1", {"slots": 2})
    sync = {"incarnation": 1, "seq": 5, "free": 0}
    sent: list[tuple[str, Any]] = [
        ("/v1/agents", {"uid": "a1", "cluster": "c1"}),
        ("/v1/agents/a1/sync", sync),
        (f"/v1/tasks/{uid}:cancel", None),
        ("/v1/clusters/c1:drain", None),
        ("/v1/clusters/c1:cordon", None),
        ("/v1/clusters/c1:uncordon", None),
        ("/v1/rounds:run", None),
        ("/v1/predictors:train", None),
        ("/v1/predictors:predict", {"features": {}, "clusters": ["c1"]}),
        ("/v1/tokens", {"name": "x", "scopes": ["read"]}),
        ("/v1/tenants", {"name": "gamma"}),
        ("/v1/tasks:batch", {"tasks": [BODY]}),
    ]
    for k, (path, body) in enumerate(sent):
        answers = {
            served.send("POST", path, body, headers={"Idempotency-Key": f"k{k}"}).content
            for _ in range(3)
        }
        assert len(answers) == 1, path
        assert b"urn:walras" not in next(iter(answers)), path


def test_a_route_without_a_scope_does_not_start() -> None:
    async def open_to_all() -> None: ...

    with pytest.raises(RuntimeError, match="/x names no scope"):
        ScopedRoute("/x", open_to_all)
