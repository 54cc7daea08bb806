"""A service in this process, with a client for each role."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient
from tests.exchange.greedy import Greedy

from walras.exchange.api.address import Address
from walras.exchange.api.app import Pages
from walras.exchange.api.gate import Gate
from walras.exchange.api.http import build
from walras.exchange.api.state import Api
from walras.exchange.runtime.exchange import Exchange
from walras.exchange.runtime.home import new_token, new_uid
from walras.exchange.runtime.planner import Planner
from walras.exchange.runtime.service import Service
from walras.exchange.runtime.settings import Settings
from walras.exchange.service import tokens
from walras.exchange.store.statements import Transaction

ROLES: dict[str, tuple[tuple[str, ...], str | None]] = {
    "admin": (("admin",), None),
    "operator": (("operate",), None),
    "reader": (("read",), None),
    "submitter": (("submit",), None),
    "provider-c1": (("provider:c1",), None),
    "provider-c2": (("provider:c2",), None),
    "alpha": (("read", "submit"), "alpha"),
    "alpha-read": (("read",), "alpha"),
    "alpha-submit": (("submit",), "alpha"),
    "beta": (("read", "submit"), "beta"),
}
"""Role -> scopes and tenant."""


class Served:
    """A service whose threads do not run: time goes on when a test says so.

    Attributes:
        exchange: Its exchange.
        service: Its parts.
        app: Its app.
        tokens: Role -> token.
    """

    def __init__(
        self,
        home: Path,
        url: str | None = None,
        planner: Planner | None = None,
        pages: Pages | None = None,
        **settings: Any,
    ) -> None:
        self.exchange = Exchange.open(home, url, settings=Settings(**settings))
        # A process that decides takes seconds to begin: tests of other things do without.
        self.service = Service.of(self.exchange, planner or Greedy(self.exchange.settings.timing))
        self.app: Gate
        self.api: Api
        self.app, self.api = build(self.service, Address(names=("testserver",)), None, pages)
        self.client = TestClient(self.app, raise_server_exceptions=False)
        self.tokens: dict[str, str] = {}
        self.uids: dict[str, str] = {}
        self.exchange.write(self._fill)

    def _fill(self, tx: Transaction, now: float) -> None:
        for name in ("alpha", "beta"):
            tokens.add_tenant(tx, now, name)
        for role, (scopes, tenant) in ROLES.items():
            token, uid = new_token(), new_uid("k")
            tokens.create(tx, now, uid, token, name=role, scopes=scopes, owner=tenant, expires=None)
            self.tokens[role], self.uids[role] = token, uid

    def send(
        self,
        method: str,
        path: str,
        json: Any = None,
        *,
        role: str | None = "admin",
        headers: Mapping[str, str | bytes] | None = None,
        **more: Any,
    ) -> Any:
        """A response; the admin asks unless another role is named."""
        given: Any = dict(headers or {})
        if role is not None:
            given["Authorization"] = f"Bearer {self.tokens[role]}"
        return self.client.request(method, path, json=json, headers=given, **more)

    def get(self, path: str, **more: Any) -> Any:
        """The body of a GET that works."""
        found = self.send("GET", path, **more)
        assert found.status_code == 200, found.text
        return found.json()

    def post(self, path: str, json: Any = None, **more: Any) -> Any:
        """The body of a POST that works."""
        found = self.send("POST", path, json, **more)
        assert found.status_code in (200, 201, 202), found.text
        return found.json()

    def put(self, path: str, json: Any = None, **more: Any) -> Any:
        """The body of a PUT that works."""
        found = self.send("PUT", path, json, **more)
        assert found.status_code in (200, 201), found.text
        return found.json()

    def task(self, name: str, role: str = "admin", **more: Any) -> str:
        """The uid of a new task."""
        body = {"name": name, "command": ["true"], **more}
        return str(self.post("/v1/tasks", body, role=role)["uid"])

    def round(self) -> None:
        """A round, if one is due or was asked for."""
        self.service.background.work("round")

    def sync(self, seq: int, agent: str = "a1", **more: Any) -> Any:
        """What an agent hears."""
        body = {"incarnation": 1, "seq": seq, "free": 4, **more}
        return self.post(f"/v1/agents/{agent}/sync", body)

    def running(self, name: str, role: str = "admin", **more: Any) -> tuple[str, dict[str, Any]]:
        """A task that is granted to a1 of c1, and its grant."""
        uid = self.task(name, role, **more)
        if self.send("GET", "/v1/clusters/c1").status_code == 404:
            self.put("/v1/clusters/c1", {"slots": 4})
            self.post("/v1/agents", {"uid": "a1", "cluster": "c1"})
            self.sync(1)
        self.post("/v1/rounds:run")
        self.round()
        self._seq = getattr(self, "_seq", 1) + 1
        (grant,) = [run for run in self.sync(self._seq)["run"] if run["task"] == uid]
        return uid, grant

    def close(self) -> None:
        """Close everything."""
        self.service.stop()
        self.client.close()
        self.exchange.close()


def problem(response: Any, status: int, code: str) -> dict[str, Any]:
    """The problem of a response, which has this status and code and the standard form."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = response.json()
    assert body["status"] == status
    assert body["code"] == code
    assert body["type"] == f"urn:walras:problem:{code}"
    assert body["title"]
    assert body["detail"]
    assert body["request_id"] == response.headers["x-request-id"]
    return body
