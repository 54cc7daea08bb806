"""What is refused before a route is found: hosts, bodies, tokens, rates; and what is logged."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client import generate_latest
from tests.exchange.api.serving import Served, problem

from walras.exchange.api.gate import BODY


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "[::2]:80"])
def test_a_host_that_is_not_ours_is_refused(quick: Served, host: str) -> None:
    details = problem(quick.send("GET", "/v1/tasks", headers={"Host": host}), 421, "WAL-2421")
    assert "--name" in details["remedy"]


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "LOCALHOST", "[::1]:80", "testserver"])
def test_our_hosts_pass(quick: Served, host: str) -> None:
    assert quick.send("GET", "/v1/tasks", headers={"Host": host}).status_code == 200


def test_a_body_that_says_it_is_too_large_is_refused_unread(quick: Served) -> None:
    headers = {"Content-Type": "application/json", "Content-Length": str(BODY + 1)}
    response = quick.send("POST", "/v1/tasks", headers=headers, content=b"{}")
    details = problem(response, 413, "WAL-2413")
    assert str(BODY) in details["allowed"]


def test_the_bytes_of_a_body_are_counted(quick: Served) -> None:
    sent = 0

    def parts() -> Iterator[bytes]:
        nonlocal sent
        while sent < 2 * BODY:
            sent += 2**16
            yield b" " * 2**16

    headers = {"Content-Type": "application/json"}
    problem(quick.send("POST", "/v1/tasks", headers=headers, content=parts()), 413, "WAL-2413")
    body = b" " * (BODY - 100) + b'{"name":"a","command":["true"]}'
    response = quick.send("POST", "/v1/tasks", headers=headers, content=iter([body]))
    assert response.status_code == 201  # just below the limit
    problem(
        quick.send("POST", "/v1/tasks", headers=headers, content=b" " * (BODY + 1)), 413, "WAL-2413"
    )


def test_a_token_is_asked_for_before_the_body_is_read(quick: Served) -> None:
    read = 0

    def parts() -> Iterator[bytes]:
        nonlocal read
        for _ in range(64):
            read += 1
            yield b" " * 2**20

    headers = {"Content-Type": "application/json"}
    response = quick.client.request("POST", "/v1/tasks", headers=headers, content=parts())
    problem(response, 401, "WAL-2401")
    response = quick.send("POST", "/v1/tasks", role="reader", headers=headers, content=b"{" * 10**6)
    problem(response, 403, "WAL-2403")  # the scope, too: the body is not JSON


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded"])
def test_a_body_that_is_not_json_is_refused(quick: Served, kind: str | None) -> None:
    headers = {} if kind is None else {"Content-Type": kind}
    response = quick.send("POST", "/v1/tasks", headers=headers, content=b'{"name":"a"}')
    details = problem(response, 415, "WAL-2415")
    assert details["allowed"] == "application/json"


@pytest.mark.parametrize(
    "body", [b"{", b"", b"\xff\xfe", b"nul", b"[" * 200_000, b'{"name":"\\ud800","command":["a"]}']
)
def test_a_body_that_cannot_be_read_is_a_problem_of_the_caller(quick: Served, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    response = quick.send("POST", "/v1/tasks", headers=headers, content=body)
    assert response.status_code in (400, 422), response.text
    assert response.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("method", "path", "status", "allow"),
    [
        ("GET", "/nowhere", 404, None),
        ("GET", "/v1/tasks/", 404, None),
        ("GET", "/v1/tasks/a/b/c", 404, None),
        ("PATCH", "/v1/tasks", 405, "GET, POST"),
        ("DELETE", "/v1/clusters/c1", 405, "GET, PUT"),
        ("GET", "/v1/tasks/a:cancel", 405, "POST"),
        ("HEAD", "/v1/tasks", 405, "GET, POST"),
        ("TRACE", "/v1/tokens", 405, "GET, POST"),
    ],
)
def test_unknown_paths_and_methods_are_problems(
    quick: Served, method: str, path: str, status: int, allow: str | None
) -> None:
    response = quick.send(method, path)
    assert response.status_code == status
    assert response.headers.get("allow") == allow
    if method != "HEAD":
        problem(response, status, f"WAL-2{status}")


def test_each_token_has_its_rate_and_others_go_on(tmp_path: Path) -> None:
    served = Served(tmp_path / "home", rate=5.0, burst=10.0)
    try:
        answers = [served.send("GET", "/v1/tasks", role="alpha") for _ in range(40)]
        refused = [one for one in answers if one.status_code == 429]
        assert 20 <= len(refused) <= 30
        details = problem(refused[0], 429, "WAL-2429")
        assert int(refused[0].headers["retry-after"]) >= 1
        assert "batches" in details["remedy"]
        assert served.send("GET", "/v1/tasks", role="operator").status_code == 200
        assert served.send("GET", "/healthz", role=None).status_code == 200
    finally:
        served.close()


def test_every_answer_has_an_id_that_the_log_has_too(
    quick: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "walras.api"):
        response = quick.send("GET", "/v1/tasks", headers={"X-Request-Id": "from-the-client.1"})
        assert response.headers["x-request-id"] == "from-the-client.1"
        other = quick.send("GET", "/v1/tasks", headers={"X-Request-Id": "no good\u00e9".encode()})
        assert other.headers["x-request-id"] != "no good"
        third = quick.send("GET", "/v1/tasks")
        assert len({one.headers["x-request-id"] for one in (response, other, third)}) == 3
    lines = [record for record in caplog.records if record.getMessage() == "request"]
    assert [(one.status, one.path, one.method) for one in lines] == [(200, "/v1/tasks", "GET")] * 3  # type: ignore[attr-defined]
    assert {one.token for one in lines} == {quick.uids["admin"]}  # type: ignore[attr-defined]
    assert quick.tokens["admin"] not in caplog.text


def test_answers_are_not_kept_or_guessed_at(quick: Served) -> None:
    headers = quick.send("GET", "/v1/tasks").headers
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"


def test_a_fault_is_reported_without_its_words(
    quick: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise ValueError("the secret of the house")

    monkeypatch.setattr("walras.exchange.service.queries.page", broken)
    details = problem(quick.send("GET", "/v1/tasks"), 500, "WAL-2500")
    assert "secret" not in json.dumps(details)
    assert "the secret of the house" in caplog.text


def test_a_database_that_cannot_be_written_is_503(quick: Served) -> None:
    quick.exchange.database.close()
    response = quick.send("POST", "/v1/tasks", {"name": "a", "command": ["true"]})
    problem(response, 503, "WAL-2503")
    assert response.headers["retry-after"]


def test_websockets_are_refused(quick: Served) -> None:
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises(WebSocketDisconnect), quick.client.websocket_connect("/v1/events"):
        pass


def test_threads_are_not_needed_for_a_refusal(quick: Served) -> None:
    before = threading.active_count()
    for _ in range(50):
        quick.send("GET", "/v1/tasks", role=None)
    assert threading.active_count() <= before + 2


def test_how_long_a_stream_is_looked_at_is_no_time_of_a_request(quick: Served) -> None:
    gate = quick.app

    async def answer(kind: bytes) -> None:
        async def app(scope: Any, _: Any, send: Any) -> None:
            scope["route"] = SimpleNamespace(path_format=kind.decode())
            head = [(b"content-type", kind)]
            await send({"type": "http.response.start", "status": 200, "headers": head})

        async def none(*_: Any) -> Any:
            return {"type": "http.disconnect"}

        scope = {"type": "http", "method": "GET", "path": "/healthz", "headers": []}
        await replace(gate, app=app)(scope, none, none)

    for kind in (b"text/event-stream; charset=utf-8", b"application/json"):
        asyncio.run(answer(kind))
    text = generate_latest(gate.metrics.registry).decode()
    counted = [line for line in text.splitlines() if "walras_http_request_seconds_count" in line]
    assert not any("event-stream" in line for line in counted)
    assert any("application/json" in line for line in counted)
    assert 'route="text/event-stream; charset=utf-8",status="200"' in text, "it is still counted"
