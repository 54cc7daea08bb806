"""Every route of the OpenAPI file, for every role: who may, who may not, and that nothing leaks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.exchange.api.serving import ROLES, Served, problem

from walras.exchange.api import problems
from walras.exchange.api.app import routes
from walras.exchange.api.routing import SCOPE

DESCRIBED: dict[str, Any] = routes().openapi()
OPERATIONS = [
    (method.upper(), path, operation)
    for path, item in DESCRIBED["paths"].items()
    for method, operation in item.items()
]
IDS = [f"{method} {path}" for method, path, _ in OPERATIONS]

MAY = {
    "read": {"admin", "operator", "reader", "alpha", "alpha-read", "beta"},
    "read-or-provider": {"admin", "reader", "operator", "alpha", "alpha-read", "beta"}
    | {"provider-c1", "provider-c2"},
    "submit": {"admin", "submitter", "alpha", "alpha-submit", "beta"},
    "read-all": {"admin", "operator", "reader"},
    "operate": {"admin", "operator"},
    "provider": {"admin", "operator", "provider-c1"},
    "admin": {"admin"},
}
"""Scope -> roles that may use its routes; written here by hand, not read from the code."""

BODIES: dict[str, Any] = {
    "/v1/tasks": {"name": "new", "command": ["true"]},
    "/v1/tasks:batch": {"tasks": [{"name": "new", "command": ["true"]}]},
    "/v1/clusters/{uid}": {"slots": 3},
    "/v1/tasks/{uid}:reject": {"reason": "empty"},
    "/v1/agents": {"uid": "a1", "cluster": "c1"},
    "/v1/agents/{uid}/sync": {"incarnation": 1, "seq": 10**6, "free": 0},
    "/v1/rounds:whatif": {},
    "/v1/predictors:promote": {"version": 1},
    "/v1/predictors:predict": {"features": {"rows": 1.0}, "clusters": ["c1"]},
    "/v1/observations:import": {
        "observations": [
            {"cluster": "c1", "features": {}, "outcome": "completed", "seconds": 1.0, "at": 1.0}
        ]
    },
    "/v1/tokens": {"name": "x", "scopes": ["read"]},
    "/v1/tenants": {"name": "gamma"},
    "/v1/tenants/{uid}": {"weight": 2.0},
    "/v1/shadows": {"log": "x", "scheduler": "csv"},
    "/v1/networks/{uid}:cut": {"links": [[0, 1]]},
    "/v1/networks/{uid}:mend": {"links": [[0, 1]]},
    "/v1/networks/{uid}:kill": {"centre": 0},
    "/v1/networks/{uid}:start": {"centre": 0},
    "/v1/networks/{uid}:faults": {"loss": 0.1},
}
SECRET = "alphas-secret"  # in the name of a task of tenant alpha


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service with something of each kind; tenant alpha's task runs."""
    home: Path = tmp_path_factory.mktemp("matrix")
    made = Served(home / "home")
    uid, _ = made.running(SECRET, "alpha", features={"rows": 3.0}, environment={"KEY": SECRET})
    made.uids["task"] = uid
    made.task("betas", "beta")
    made.post("/v1/rounds:run")
    made.round()
    yield made
    made.close()


def _path(served: Served, path: str) -> str:
    of = {
        "/v1/tasks": served.uids["task"],
        "/v1/clusters": "c1",
        "/v1/agents": "a1",
        "/v1/tokens": "k-unknown",
        "/v1/tenants": "alpha",
        "/v1/networks": "n-unknown",
        "/v1/shadows": "s-unknown",
        "/v1/allocations": "a-unknown",
    }
    for start, uid in of.items():
        if path.startswith(start):
            path = path.replace("{uid}", uid)
    return path.replace("{seq}", "1").replace("{other}", "2").replace("{number}", "1")


def _ask(served: Served, method: str, path: str, role: str | None) -> Any:
    return served.send(method, _path(served, path), BODIES.get(path), role=role)


def test_the_file_is_openapi_3_1_and_names_every_route_of_the_design() -> None:
    assert DESCRIBED["openapi"].startswith("3.1")
    wanted = {
        "POST /v1/tasks",
        "POST /v1/tasks:batch",
        "GET /v1/tasks",
        "GET /v1/tasks/{uid}",
        "GET /v1/tasks/{uid}/why",
        "GET /v1/tasks/{uid}/receipt",
        "GET /v1/tasks/{uid}/log",
        "POST /v1/tasks/{uid}:cancel",
        "POST /v1/tasks/{uid}:reject",
        "POST /v1/tasks/{uid}:release",
        "GET /v1/clusters",
        "PUT /v1/clusters/{uid}",
        "POST /v1/clusters/{uid}:drain",
        "POST /v1/clusters/{uid}:cordon",
        "POST /v1/clusters/{uid}:uncordon",
        "GET /v1/rounds",
        "GET /v1/rounds/{seq}",
        "GET /v1/rounds/{seq}/diff/{other}",
        "POST /v1/rounds:run",
        "POST /v1/rounds:whatif",
        "GET /v1/predictors",
        "POST /v1/predictors:train",
        "POST /v1/predictors:promote",
        "POST /v1/predictors:predict",
        "POST /v1/predictors:rollback",
        "POST /v1/observations:import",
        "POST /v1/agents",
        "POST /v1/agents/{uid}/sync",
        "GET /v1/events",
        "POST /v1/tokens",
        "GET /v1/tokens",
        "POST /v1/tokens/{uid}:revoke",
        "GET /v1/tenants",
        "POST /v1/tenants",
        "PUT /v1/tenants/{uid}",
        "GET /v1/audit",
        "GET /v1/audits",
        "GET /metrics",
        "GET /healthz",
        "GET /readyz",
    }
    assert wanted - set(IDS) == set()


def test_every_route_but_three_needs_a_credential() -> None:
    free = {name for name, (_, _, one) in zip(IDS, OPERATIONS, strict=True) if not one["security"]}
    assert free == {"GET /healthz", "GET /readyz", "GET /openapi.json"}


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS, ids=IDS)
def test_every_operation_describes_its_problems(
    method: str, path: str, operation: dict[str, Any]
) -> None:
    responses = operation["responses"]
    for status in (400, 401, 403, 404, 405, 413, 422, 429, 500):
        assert responses[str(status)] == {"$ref": f"#/components/responses/Problem{status}"}
        made = DESCRIBED["components"]["responses"][f"Problem{status}"]
        assert list(made["content"]) == [problems.MEDIA]
    if "requestBody" in operation:
        assert "415" in responses
    if method == "POST":
        assert "Idempotency-Key" in {item["name"] for item in operation["parameters"]}


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS, ids=IDS)
def test_without_a_valid_token_nothing_is_answered(
    full: Served, method: str, path: str, operation: dict[str, Any]
) -> None:
    if not operation["security"]:
        assert _ask(full, method, path, None).status_code == 200
        return
    target = _path(full, path)
    for header in (
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        "Basic YTpi",
        "bearer \xe9",
        "Bearer wlr_" + "A" * 43,
        "Bearer a.b.c",
    ):
        given: Any = {} if header is None else {"Authorization": header.encode("latin-1")}
        response = full.client.request(method, target, headers=given, json=BODIES.get(path))
        details = problem(response, 401, "WAL-2401")
        assert response.headers["www-authenticate"].startswith("Bearer")
        assert SECRET not in str(details)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS, ids=IDS)
def test_a_role_may_what_its_scopes_say_and_sees_its_tenant_alone(
    full: Served, method: str, path: str, operation: dict[str, Any], role: str
) -> None:
    scope = operation[SCOPE]
    if scope == "open" or path == "/v1/events":  # streams have tests of their own
        return
    response = _ask(full, method, path, role)
    if role in MAY[scope]:
        assert response.status_code not in (401, 403), response.text
        assert response.status_code < 500
    elif scope == "provider" and path.startswith("/v1/agents/"):
        assert response.status_code in (403, 404)  # another provider's agent is not found
    else:
        problem(response, 403, "WAL-2403")
    tenant, others = ROLES[role][1], role in ("provider-c2", "submitter", "alpha-submit")
    if tenant == "beta" or others:
        assert SECRET not in response.text
        assert "train" not in response.text or "train" in path
        if "{uid}" in path and path.startswith("/v1/tasks") and role in MAY[scope]:
            ended = path.endswith(":reject")  # the task runs: there is nothing to reject
            assert response.status_code == (404 if tenant == "beta" else 409 if ended else 200)
