"""The typed client against the service's own app, without a socket."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient
from tests.exchange.api.serving import Served

from walras.exchange.client import Client
from walras.exchange.errors import (
    ConflictError,
    FieldError,
    ForbiddenError,
    NotFoundError,
    PreconditionError,
    StaleError,
    UnauthorisedError,
    UnreachableError,
)
from walras.exchange.service.messages import Finished, Running, Sync


def client_of(served: Served, role: str, token: str | None = None) -> Client:
    transport: Any = TestClient(served.app, raise_server_exceptions=False)
    transport.headers["Authorization"] = f"Bearer {token or served.tokens[role]}"
    return Client("http://testserver", "", transport=transport)


@pytest.fixture
def quick(tmp_path: Path) -> Iterator[Served]:
    made = Served(tmp_path / "home")
    yield made
    made.close()


@pytest.fixture
def admin(quick: Served) -> Iterator[Client]:
    with client_of(quick, "admin") as made:
        yield made


def test_tasks_are_submitted_found_explained_and_cancelled(quick: Served, admin: Client) -> None:
    made = admin.tasks.submit("one", ["true"], features={"layers": 50.0}, slots=2)
    many = admin.tasks.submit_many([{"name": f"m-{k}", "command": ["true"]} for k in range(3)])
    assert (made.state, [m.name for m in many]) == ("pending", ["m-0", "m-1", "m-2"])
    assert {t.name for t in admin.tasks.list(state=["pending"])} == {"one", "m-0", "m-1", "m-2"}
    assert len(admin.tasks.list(2)) == 2
    assert admin.tasks.find("one") == made.uid == admin.tasks.find(made.uid)
    assert admin.tasks.get(made.uid).features == {"layers": 50.0}
    assert admin.tasks.why(made.uid).state == "pending"
    assert admin.tasks.cancel(made.uid).state == "cancelled"
    assert admin.tasks.log(made.uid).entries[-1].text
    with pytest.raises(ConflictError, match="taken"):
        admin.tasks.submit("m-0", ["true"])
    with pytest.raises(FieldError) as raised:
        admin.tasks.submit("no", ["true"], slots=0)
    assert raised.value.pointer == "/slots"
    with pytest.raises(NotFoundError):
        admin.tasks.receipt(many[0].uid)
    with pytest.raises(ConflictError):
        admin.tasks.release(many[0].uid)


def test_clusters_tenants_and_tokens_are_kept(quick: Served, admin: Client) -> None:
    made = admin.clusters.put("east", 4, labels={"gpu": "t4"})
    assert (made.version, made.free) == (1, 4)
    assert admin.clusters.put("east", 6, version=1).slots == 6
    with pytest.raises(PreconditionError):
        admin.clusters.put("east", 8, version=1)
    assert admin.clusters.drain("east").state == "draining"
    assert admin.clusters.cordon("east").state == "cordoned"
    assert admin.clusters.uncordon("east").state == "up"
    assert [c.uid for c in admin.clusters.list()] == ["east"]
    assert admin.tenants.add("lab", 2.0, 10).quota_slots == 10
    assert admin.tenants.change("lab", 3.0, None).weight == 3.0
    assert "lab" in [t.name for t in admin.tenants.list()]
    token = admin.tokens.create("ann", ["read"], tenant="lab", seconds=60.0)
    with client_of(quick, "", token.token) as ann:
        assert ann.tasks.list() == []
        with pytest.raises(ForbiddenError):
            ann.tasks.submit("one", ["true"])
    admin.tokens.revoke(token.uid)
    assert [t.revoked is not None for t in admin.tokens.list() if t.uid == token.uid] == [True]
    assert any(entry.action == "token.create" for entry in admin.audit())
    with client_of(quick, "", "wlr_" + "x" * 40) as nobody, pytest.raises(UnauthorisedError):
        nobody.tasks.list()


def test_rounds_and_predictors_are_asked_for(admin: Client) -> None:
    assert admin.rounds.list() == []
    job = admin.rounds.run()
    assert admin.wait(job, 0.2).state == "waiting"
    assert admin.job(job.id).kind == "round"
    with pytest.raises(NotFoundError):
        admin.rounds.get(7)
    with pytest.raises(NotFoundError):
        admin.rounds.diff(7, 8)
    assert admin.predictors.list() == []
    assert admin.predictors.train().kind == "train"
    found = admin.predictors.predict({"rows": 3.0}, ["c1", "c2"])
    assert [one.cluster for one in found.items] == ["c1", "c2"]
    with pytest.raises(NotFoundError):
        admin.predictors.promote(3)
    with pytest.raises(ConflictError):
        admin.predictors.rollback()


def test_an_agent_registers_and_syncs(admin: Client) -> None:
    admin.clusters.put("east", 4)
    newest, often = admin.register("one", "east", "local", True)
    assert newest == 0
    assert often > 0
    answer = admin.sync("one", Sync(1, 1, 4))
    assert (answer.run, answer.stop, answer.ack) == ([], [], [])
    sync = Sync(1, 2, 4, [Running(9, 1)], [Finished(8, 1, "completed", 2.0, 0, "done")])
    answer = admin.sync("one", sync)
    assert (answer.stop, answer.ack) == ([(9, 1, "stale")], [(8, 1, "stale")])
    with pytest.raises(StaleError) as stale:
        admin.sync("one", sync)
    assert (stale.value.incarnation, stale.value.seq) == (1, 2)


def test_a_task_is_found_by_any_name_that_it_may_have(admin: Client) -> None:
    made = admin.tasks.submit("t-1", ["true"])
    assert admin.tasks.find("t-1") == made.uid
    admin.tenants.add("lab")
    other = admin.tasks.submit("t-1", ["true"], tenant="lab")
    with pytest.raises(ConflictError, match=f"{other.uid} of lab, {made.uid} of default"):
        admin.tasks.find("t-1")


def test_a_name_opens_no_other_route(admin: Client) -> None:
    admin.clusters.put("here", 1)
    for name in ("here:drain?", "../tasks", "\udcff"):
        with pytest.raises((FieldError, NotFoundError)):
            admin.clusters.cordon(name)
    assert admin.clusters.get("here").state == "up"


def test_a_request_without_an_answer_is_sent_again_with_the_same_key() -> None:
    keys: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        keys.append(request.headers["idempotency-key"])
        if len(keys) == 1:
            raise httpx2.ReadTimeout("lost")
        if len(keys) == 2:
            return httpx2.Response(503, json={"code": "WAL-2503", "detail": "busy"})
        body = {"uid": "t-1", "state": "cancelled"}
        return httpx2.Response(200, json=body)

    http = httpx2.Client(transport=httpx2.MockTransport(answer), base_url="http://x")
    with Client("http://x", "", transport=http) as client:
        assert client.tasks.cancel("t-1").state == "cancelled"
    assert len(keys) == 3
    assert len(set(keys)) == 1


def test_what_is_no_service_of_walras_is_reported() -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(404, text="<html>nginx</html>")

    http = httpx2.Client(transport=httpx2.MockTransport(answer), base_url="http://x")
    wrong = pytest.raises(UnreachableError, match="no problem of Walras")
    with Client("http://x", "", transport=http) as client, wrong:
        client.health()
    silent = pytest.raises(UnreachableError, match="does not answer")
    with Client("http://127.0.0.1:1", "t", tries=1) as client, silent:
        client.health()


def test_events_are_followed() -> None:
    lines = (
        'retry: 1000\n\nid: 7\nevent: task.granted\ndata: {"at":1.0,"subject":"t","data":{}}\n\n'
    )

    def answer(request: httpx2.Request) -> httpx2.Response:
        assert request.url.params["after"] == "6"
        return httpx2.Response(200, text=lines)

    http = httpx2.Client(transport=httpx2.MockTransport(answer), base_url="http://x")
    with Client("http://x", "", transport=http) as client:
        (event,) = client.events(6)
    assert event == {"id": 7, "kind": "task.granted", "at": 1.0, "subject": "t", "data": {}}


def test_a_sync_on_a_cut_connection_is_given_up_while_the_lease_lasts() -> None:
    body = b'{"run":[],"stop":[],"ack":[],"lease_seconds":1.0}'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(head % len(body) + body)
            while connection.recv(65536):  # the second message is never answered
                pass

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        with Client(f"http://127.0.0.1:{listener.getsockname()[1]}", "wlr_x") as client:
            assert client.sync("a", Sync(1, 1, 0, [], [])).lease_seconds == 1.0
            began = time.monotonic()
            with pytest.raises(UnreachableError):
                client.sync("a", Sync(1, 2, 0, [], []))
            assert time.monotonic() - began < 10.0  # without that it waits for half a minute
        thread.join(20.0)
