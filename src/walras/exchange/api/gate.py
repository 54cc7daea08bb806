"""What every request passes before its route, as pure ASGI: nothing here reads the body.

In order: an id for the request, the Host header, the length of the body, the token, its rate. The
bytes of the body are counted while the route reads them.
"""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from fastapi import Response
from fastapi.responses import RedirectResponse

from walras.exchange.api import problems
from walras.exchange.api.auth import Authenticator
from walras.exchange.api.limits import RateLimit
from walras.exchange.errors import BusyError, ExchangeError, UnauthorisedError
from walras.exchange.runtime.logs import request_id
from walras.exchange.runtime.metrics import Metrics

log = logging.getLogger("walras.api")

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

OPEN = frozenset({"/healthz", "/readyz", "/openapi.json"})
"""Paths that need no token."""

BODY = 8 * 2**20  # bytes that a body may have
CALLER = "walras.caller"
TOKEN = "walras.token"

_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_PROCESS, _COUNT = secrets.token_hex(4), count()
_QUIET = OPEN | {"/metrics"}
_ONCE = (
    b"authorization",
    b"host",
    b"content-length",
    b"content-type",
    b"idempotency-key",
    b"if-match",
    b"cookie",
    b"origin",
    b"x-csrf-token",
)
"""Headers of which a proxy and the service could believe different ones."""
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'self'; frame-ancestors 'none'; base-uri 'none'"),
]


@dataclass
class _Exchange:
    """One request: what was received of its body, what was sent of its answer."""

    receive: Receive
    send: Send
    id: str
    began: float
    status: int = 0
    received: int = 0
    over: bool = False
    caller: str = ""
    stream: bool = False

    async def take(self) -> Message:
        """The next part of the body; one that is too large is not handed on."""
        message = await self.receive()
        if message["type"] == "http.request":
            self.received += len(message.get("body", b""))
            if self.received > BODY:
                self.over = True
                raise _TooLargeError
        return message

    async def give(self, message: Message) -> None:
        """Send a part of the answer, unless it is about a body that was cut off."""
        if self.over and not self.status:
            return
        if message["type"] == "http.response.start":
            self.status = int(message["status"])
            headers = [*message.get("headers", []), *_HEADERS]
            self.stream = any(
                name.lower() == b"content-type" and value.startswith(b"text/event-stream")
                for name, value in headers
            )
            headers.append((b"x-request-id", self.id.encode()))
            if not any(name.lower() == b"cache-control" for name, _ in headers):
                headers.append((b"cache-control", b"no-store"))
            message["headers"] = headers
        await self.send(message)


class _TooLargeError(Exception):
    """The body is larger than allowed."""


@dataclass
class Gate:
    """The middleware.

    Attributes:
        app: What comes after it.
        authenticator: Finds the caller.
        limit: Requests a second for each token.
        metrics: Where requests are counted.
        hosts: Names that the Host header may have, without the port; empty for any.
        open: Beginnings of further paths that need no token.
        sign_in: Where browsers without a session are sent; empty where there are no pages.
    """

    app: App
    authenticator: Authenticator
    limit: RateLimit
    metrics: Metrics
    hosts: frozenset[str] = field(default_factory=frozenset)
    open: tuple[str, ...] = ()
    sign_in: str = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = {name.lower(): value for name, value in scope["headers"]}
        asked = headers.get(b"x-request-id", b"")
        name = asked.decode() if _ID.fullmatch(asked) else f"{_PROCESS}-{next(_COUNT):x}"
        one = _Exchange(receive, send, name, time.perf_counter())
        mark = request_id.set(name)
        try:
            await self._pass(scope, headers, one)
        finally:
            self._tell(scope, one)
            request_id.reset(mark)

    async def _pass(self, scope: Scope, headers: dict[bytes, bytes], one: _Exchange) -> None:
        try:
            refused = await self._refusal(scope, headers, one)
            if refused is None:
                await self.app(scope, one.take, one.give)
        except _TooLargeError:
            refused = None
        except Exception:
            log.exception("a request failed")
            refused = (
                None if one.status else problems.problem(500, "WAL-2500", "the service failed")
            )
        if one.over and not one.status:
            one.over = False
            refused = _too_large()
        if refused is not None:
            await refused(scope, one.receive, one.give)

    async def _refusal(
        self, scope: Scope, headers: dict[bytes, bytes], one: _Exchange
    ) -> Response | None:
        """The answer to a request that may not pass, or None."""
        path = scope["path"]
        if path in ("/healthz", "/readyz"):
            return None
        names = [name.lower() for name, _ in scope["headers"]]
        for name in _ONCE:
            if names.count(name) > 1:
                return self._refused("headers", _twice(name.decode()))
        if self.hosts and _host(headers) not in self.hosts:
            return self._refused("host", _wrong_host(headers))
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > BODY:
            return self._refused("body", _too_large())
        if path in OPEN or path.startswith(self.open):
            return None
        try:
            caller, token = await self.authenticator.caller(scope["method"], headers)
            scope[CALLER], scope[TOKEN] = caller, token
            one.caller = caller.token
            wait = self.limit.take(caller.account)
        except UnauthorisedError as error:
            if self.sign_in and scope["method"] == "GET" and _wants_page(path, headers):
                return RedirectResponse(self.sign_in, 303)
            return self._refused("token", problems.of_error(error))
        except ExchangeError as error:
            return self._refused("token", problems.of_error(error))
        if wait > 0.0:
            return self._refused("rate", _busy(wait))
        return None

    def _refused(self, reason: str, response: Response) -> Response:
        self.metrics.refused.labels(reason).inc()
        return response

    def _tell(self, scope: Scope, one: _Exchange) -> None:
        """Count a request and log it."""
        route = getattr(scope.get("route"), "path_format", "none")
        method = scope["method"] if route != "none" else "any"
        seconds = time.perf_counter() - one.began
        self.metrics.requests.labels(method, route, str(one.status)).inc()
        if not one.stream:  # it lasts as long as somebody looks
            self.metrics.seconds.labels(method, route).observe(seconds)
        level = logging.DEBUG if scope["path"] in _QUIET else logging.INFO
        if log.isEnabledFor(level):
            fields = {
                "method": scope["method"],
                "path": scope["path"],
                "status": one.status,
                "ms": round(1000.0 * seconds, 2),
                "token": one.caller,
            }
            log.log(level, "request", extra=fields)


def _wants_page(path: str, headers: dict[bytes, bytes]) -> bool:
    """Whether a browser asks for a page, and not a program for the API."""
    return not path.startswith("/v1/") and b"text/html" in headers.get(b"accept", b"")


def _host(headers: dict[bytes, bytes]) -> str:
    """The name in the Host header, without the port."""
    value = headers.get(b"host", b"").decode("latin-1").lower()
    if value.startswith("["):
        return value.partition("]")[0] + "]"
    return value.partition(":")[0]


def _twice(name: str) -> Response:
    return problems.problem(
        400,
        "WAL-2400",
        f"header {name}: is given twice",
        allowed="one header of this name",
        remedy="send it once",
    )


def _wrong_host(headers: dict[bytes, bytes]) -> Response:
    name = headers.get(b"host", b"").decode("latin-1")
    return problems.problem(
        421,
        "WAL-2421",
        f"header Host: is {name[:100]!r}",
        allowed="a name of this service",
        remedy="use the service's address, or start it with --name NAME",
    )


def _fault() -> Response:
    return problems.problem(500, "WAL-2500", "the service failed; nothing was half written")


def _too_large() -> Response:
    return problems.problem(
        413,
        "WAL-2413",
        f"body: has more than {BODY} bytes",
        allowed=f"at most {BODY} bytes",
        remedy="send fewer tasks at a time: POST /v1/tasks:batch takes 500; a log that is longer "
        "is read by: walras shadow LOG",
    )


def _busy(wait: float) -> Response:
    made = problems.of_error(
        BusyError(
            "sends too many requests",
            where="token",
            remedy=f"wait {wait:.3g} s; send tasks in batches",
        )
    )
    made.headers["Retry-After"] = str(max(1, int(wait + 0.999)))
    return made
