"""What a hostile consumer or provider may try over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.exchange.api.serving import Served, problem


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home: Path = tmp_path_factory.mktemp("attacks")
    made = Served(home / "home")
    yield made
    made.close()


@pytest.mark.parametrize(
    "name", ["Authorization", "Host", "Content-Length", "Content-Type", "Idempotency-Key"]
)
def test_a_header_that_is_given_twice_is_refused(full: Served, name: str) -> None:
    token = f"Bearer {full.tokens['alpha']}"
    headers = [("Authorization", token), (name, "testserver"), (name, "x")]
    response = full.client.request("GET", "/v1/tasks", headers=headers)
    details = problem(response, 400, "WAL-2400")
    assert details["detail"] == f"header {name.lower()}: is given twice"


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"slots":' + b"9" * 5000 + b"}", b'"\xff"'])
def test_a_body_that_cannot_be_read_is_told_what_can(full: Served, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    headers["Authorization"] = f"Bearer {full.tokens['alpha']}"
    response = full.client.request("POST", "/v1/tasks", content=body, headers=headers)
    details = problem(response, 400, "WAL-2400")
    assert details["detail"] == "body: cannot be read"
    assert "JSON in UTF-8" in details["allowed"]


def test_another_tenants_cursor_tells_nothing(full: Served) -> None:
    """The answer is that to a cursor which nothing ever had."""
    uid = full.task("secret", "alpha")
    answers = []
    for cursor in (uid, "t-" + "0" * 20):
        details = problem(
            full.send("GET", f"/v1/tasks?cursor={cursor}", role="beta"), 404, "WAL-2404"
        )
        answers.append({k: v.replace(cursor, "") for k, v in details.items() if isinstance(v, str)})
        answers[-1].pop("request_id")
    assert answers[0] == answers[1]


@pytest.mark.parametrize("verb", ["", "/why", "/receipt", "/log", ":cancel", ":reject"])
def test_another_tenants_task_is_as_one_that_is_not_there(full: Served, verb: str) -> None:
    uid = full.task(f"hidden-{verb.strip('/:') or 'x'}", "alpha")
    method = "POST" if verb.startswith(":") else "GET"
    body = {"reason": "x"} if verb == ":reject" else None
    details = []
    for asked in (uid, "t-" + "0" * 20):
        response = full.send(method, f"/v1/tasks/{asked}{verb}", body, role="beta")
        details.append(problem(response, 404, "WAL-2404")["detail"].replace(asked, ""))
    assert details[0] == details[1]
    assert full.get(f"/v1/tasks/{uid}")["state"] == "pending"


@pytest.mark.parametrize(
    "path",
    [
        "/v1/tasks/..%2f..%2fadmin.token/log",
        "/v1/tasks/%2e%2e/log",
        "/v1/tasks/t-1%00/log",
        "/v1//tasks",
        "/v1/tasks/t-1/log/../../../admin.token",
    ],
)
def test_a_path_reaches_no_file(full: Served, path: str) -> None:
    response = full.send("GET", path)
    assert response.status_code in (400, 404, 422)
    assert full.tokens["admin"] not in response.text


def test_a_cluster_cannot_pass_for_another_provider(full: Served) -> None:
    labels = {"provider": "trusted-lab", "cluster": "other"}
    full.put("/v1/clusters/c1", {"slots": 4, "labels": labels}, role="provider-c1")
    full.post("/v1/agents", {"uid": "a1", "cluster": "c1"}, role="provider-c1")
    full.sync(1)
    uid = full.task("picky", "alpha", requires={"provider": "trusted-lab"})
    full.post("/v1/rounds:run")
    full.round()
    assert full.get(f"/v1/tasks/{uid}")["state"] == "pending"


def test_a_provider_sets_neither_trust_nor_another_cluster(full: Served) -> None:
    body = {"slots": 1, "trusted": True}
    problem(full.send("PUT", "/v1/clusters/c2", body, role="provider-c2"), 403, "WAL-2403")
    problem(full.send("PUT", "/v1/clusters/c1", {"slots": 1}, role="provider-c2"), 403, "WAL-2403")
    problem(full.send("GET", "/v1/audits", role="provider-c1"), 403, "WAL-2403")
    problem(full.send("GET", "/v1/audits", role="alpha"), 403, "WAL-2403")


@pytest.mark.parametrize(
    ("path", "body", "where"),
    [
        ("/v1/tasks", {"features": 300}, "/features"),
        ("/v1/tasks", {"requires": 65}, "/requires"),
        ("/v1/tasks", {"environment": 300}, "/environment"),
        ("/v1/tasks", {"": 65}, "body"),
        ("/v1/predictors:predict", {"features": 300}, "/features"),
        ("/v1/shadows", {"prices": 65}, "/prices"),
        ("/v1/shadows", {"slots": 65}, "/slots"),
    ],
)
def test_a_mapping_of_many_entries_is_one_error(
    full: Served, path: str, body: dict[str, int], where: str
) -> None:
    """Each of its entries would be an error of its own: a million of them cost seconds."""
    ((field, count),) = body.items()
    many = {f"é{k}": "no number" for k in range(count)}
    sent = {field: many} if field else many
    details = problem(full.send("POST", path, sent), 422, "WAL-2422")
    wrong = details.get("errors") or [details]
    (found,) = [one for one in wrong if one["detail"].startswith(where)]
    assert f"has {count} " in found["detail"].lower()
    assert len(wrong) < 10


def test_of_many_wrong_tasks_the_first_is_named(full: Served) -> None:
    sent = {"tasks": [{"name": "a b", "command": ["x"], "slots": 0}] * 500}
    details = problem(full.send("POST", "/v1/tasks:batch", sent), 422, "WAL-2422")
    assert [one["pointer"] for one in details["errors"]] == ["/tasks/0/name", "/tasks/0/slots"]
