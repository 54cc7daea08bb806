"""The API server over HTTP: tokens, authorities, answers, and clear errors."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from walras.errors import InputError
from walras.exchange.dispatch import server as module
from walras.exchange.dispatch.requests import listing, watching
from walras.exchange.dispatch.server import Reply, Server
from walras.exchange.errors import (
    ExchangeError,
    ForbiddenError,
    NotFoundError,
    UnauthorisedError,
    UnreachableError,
)

Answers = Callable[[httpx2.Request], httpx2.Response]


def _server(answers: Answers, token: Path | None = None) -> Server:
    client = httpx2.AsyncClient(transport=httpx2.MockTransport(answers), base_url="https://manager")
    return Server("https://manager", token, client=client)


def test_the_token_is_read_anew_for_each_request(tmp_path: Path) -> None:
    token, seen = tmp_path / "token", list[str]()
    token.write_text("first\n")

    def answers(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.headers["authorization"])
        return httpx2.Response(200, json={"items": []})

    async def work() -> None:
        made = _server(answers, token)
        assert await made.ask(listing("workloads")) == {"items": []}
        token.write_text("second")
        await made.ask(listing("workloads"))
        await made.close()

    asyncio.run(work())
    assert seen == ["Bearer first", "Bearer second"]


def test_without_a_token_none_is_sent() -> None:
    def answers(request: httpx2.Request) -> httpx2.Response:
        assert "authorization" not in request.headers
        return httpx2.Response(200, json={})

    asyncio.run(_server(answers).ask(listing("workloads")))


@pytest.mark.parametrize(
    ("status", "kind", "says"),
    [
        (401, UnauthorisedError, "does not know the token"),
        (403, ForbiddenError, "may not do this: workloads is forbidden"),
        (404, NotFoundError, "is not there"),
        (500, UnreachableError, "answers HTTP 500: workloads is forbidden"),
    ],
)
def test_an_answer_that_is_an_error(status: int, kind: type[ExchangeError], says: str) -> None:
    def answers(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(status, json={"message": "workloads is forbidden"})

    with pytest.raises(kind) as caught:
        asyncio.run(_server(answers).ask(listing("workloads")))
    assert says in caught.value.what
    assert caught.value.allowed
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("header", "seconds"), [("7", 7.0), ("900", 60.0), ("-1", 0.0), ("soon", 0.0), (None, 0.0)]
)
def test_a_server_may_ask_to_wait(header: str | None, seconds: float) -> None:
    def answers(_: httpx2.Request) -> httpx2.Response:
        headers = {} if header is None else {"Retry-After": header}
        return httpx2.Response(429, text="busy", headers=headers)

    assert asyncio.run(_server(answers).send(listing("workloads"))) == Reply(429, None, seconds)


def test_no_answer_is_told() -> None:
    def answers(_: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("connection refused")

    with pytest.raises(UnreachableError, match="https://manager: does not answer: connection"):
        asyncio.run(_server(answers).send(listing("workloads")))
    with pytest.raises(UnreachableError):
        asyncio.run(_events(_server(answers)))


async def _events(made: Server) -> tuple[list[Any], list[Reply]]:
    refused: list[Reply] = []
    found = [one async for one in made.events(watching("workloads", "7"), refused.append)]
    return found, refused


def test_a_watch_gives_events_until_it_ends_or_is_cut() -> None:
    def answers(request: httpx2.Request) -> httpx2.Response:
        assert request.url.params["resourceVersion"] == "7"
        return httpx2.Response(200, content=b'{"type": "A"}\n\n{"type": "B"}\n')

    assert asyncio.run(_events(_server(answers))) == ([{"type": "A"}, {"type": "B"}], [])

    def cut(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, content=b'{"type": "A"}\n{"type": ')

    with pytest.raises(UnreachableError, match="was cut"):
        asyncio.run(_events(_server(cut)))


def test_a_watch_that_is_refused_says_so() -> None:
    def answers(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(410, json={"code": 410})

    assert asyncio.run(_events(_server(answers))) == ([], [Reply(410, {"code": 410})])


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none: cannot be read: .*with --token-file"):
        Server("https://manager", tmp_path / "none")
    with pytest.raises(InputError, match=r"none: cannot be used: .*with --ca-file"):
        Server("https://manager", authority=tmp_path / "none")
    bad = tmp_path / "bad.crt"
    bad.write_text("no certificate")
    with pytest.raises(InputError, match="a file with certificates"):
        Server("https://manager", authority=bad)


def test_in_a_pod_the_service_account_says_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ACCOUNT", tmp_path)
    with pytest.raises(InputError, match="there is no service account here"):
        Server.found(None)
    (tmp_path / "token").write_text("t")
    monkeypatch.setattr(module, "_trust", lambda path: path is not None)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.delenv("KUBERNETES_SERVICE_PORT", raising=False)
    assert Server.found(None).url == "https://kubernetes.default.svc:443"
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "6443")
    assert Server.found(None).url == "https://[fd00::1]:6443"
    assert Server.found("http://127.0.0.1:8001").url == "http://127.0.0.1:8001"


@pytest.mark.parametrize("page", [b"<html>sign in</html>", b"[]", b"null", b"[" * 200_000, b""])
def test_a_page_in_place_of_an_object_is_one_clear_error(page: bytes) -> None:
    server = _server(lambda _: httpx2.Response(200, content=page))

    async def watch() -> None:
        async for _ in server.events(watching("workloads", "7"), lambda _: None):
            pass

    with pytest.raises(UnreachableError, match="without a JSON object") as caught:
        asyncio.run(server.send(listing("workloads")))
    assert "proxy" in caught.value.remedy
    if page:
        with pytest.raises(UnreachableError, match="no event, or was cut"):
            asyncio.run(watch())
