"""Routes that say which scope they need, and what they share: writing once, pages, ETags."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from fastapi import Header, Path, Query, Request, Response
from fastapi.routing import APIRoute
from starlette.convertors import StringConvertor, register_url_convertor

from walras.exchange.api import problems
from walras.exchange.api.auth import allow
from walras.exchange.api.gate import CALLER
from walras.exchange.api.state import Api
from walras.exchange.service import idempotency
from walras.exchange.service.tokens import Caller
from walras.exchange.store.statements import Transaction

T = TypeVar("T")

SCOPE = "x-walras-scope"
OPEN = "open"


def needs(scope: str, **more: Any) -> dict[str, Any]:
    """The scope of a route, as its entry in the OpenAPI file; routes read it from there."""
    return {SCOPE: scope, **more}


class _NameConvertor(StringConvertor):
    """A part of a path without a colon: ``/tasks/a:cancel`` is not a task of that name."""

    regex = "[^/:]+"


register_url_convertor("name", _NameConvertor())


class ScopedRoute(APIRoute):
    """A route that checks its scope, then the type of its body, before the body is read."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler behind the two checks."""
        scope = (self.openapi_extra or {}).get(SCOPE)
        if scope is None:
            raise RuntimeError(f"{self.path} names no scope")
        inner, has_body = super().get_route_handler(), self.body_field is not None

        async def handler(request: Request) -> Response:
            if scope != OPEN:
                allow(request.scope[CALLER], scope)
            if has_body and (refused := _not_json(request)) is not None:
                return refused
            return await inner(request)

        return handler


def _not_json(request: Request) -> Response | None:
    """The answer to a body of another type; a body that is missing is the route's to judge."""
    headers = request.headers
    if headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers:
        return None
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json")):
        return None
    return problems.problem(
        415,
        "WAL-2415",
        f"header Content-Type: is {kind[:100]!r}" if kind else "header Content-Type: is missing",
        allowed="application/json",
        remedy="send JSON with Content-Type: application/json",
    )


@dataclass(frozen=True)
class Reply:
    """An answer of a route that writes.

    Attributes:
        body: What is sent, as JSON.
        status: HTTP status.
        headers: Headers that follow from the body.
    """

    body: dict[str, Any]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


def api_of(request: Request) -> Api:
    """What routes work on."""
    found: Api = request.app.state.walras
    return found


def caller_of(request: Request) -> Caller:
    """Who asks."""
    found: Caller = request.scope[CALLER]
    return found


async def reading(request: Request, work: Callable[[Transaction], T]) -> T:
    """The value of a function of one consistent view of the database."""
    return await asyncio.wrap_future(api_of(request).exchange.read_soon(work))


async def writing(request: Request, work: Callable[[Transaction, float], T]) -> T:
    """The value of a function that changes the database, once that is durable."""
    return await asyncio.wrap_future(api_of(request).exchange.submit(work))


async def once(
    request: Request,
    key: str | None,
    work: Callable[[Transaction, float], Reply],
    shown: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
) -> Response:
    """Answer a POST: where a key was sent, it takes effect once, and its answer is kept with it.

    Args:
        request: The request.
        key: Its Idempotency-Key, or None.
        work: What it does, in the transaction in which the key is kept.
        shown: Makes what is sent from what is kept; a secret is sent and not kept.

    Raises:
        FieldError: The key was used with another request.
    """
    owner, asked = "", ""
    if key is not None:
        owner, asked = owner_of(caller_of(request)), await fingerprint(request)

    def whole(tx: Transaction, now: float) -> tuple[int, str, Mapping[str, str]]:
        if key is not None:
            before = idempotency.begin(tx, now, owner, key, asked)
            if before is not None:
                return (*before, {"Idempotency-Replayed": "true"})
        reply = work(tx, now)
        body = dumped(reply.body)
        if key is not None:
            idempotency.answered(tx, owner, key, reply.status, body)
        return reply.status, body, reply.headers

    status, body, headers = await writing(request, whole)
    if shown is not None:
        body = dumped(shown(json.loads(body)))
    return Response(body, status, media_type="application/json", headers=dict(headers))


def owner_of(caller: Caller) -> str:
    """Whose idempotency keys a caller uses: its tenant's, or the token's own."""
    return caller.tenant or f"token:{caller.account}"


async def fingerprint(request: Request) -> str:
    """A hash of what a request asks for."""
    made = hashlib.sha256(f"{request.method} {request.url.path}?{request.url.query}\n".encode())
    made.update(await request.body())
    return made.hexdigest()


def dumped(body: Any) -> str:
    """A body as JSON."""
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def answered(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A body as a response."""
    made = dict(headers or {})
    return Response(dumped(body), status, media_type="application/json", headers=made)


def tagged(request: Request, body: dict[str, Any], status: int = 200) -> Response:
    """A body with its version as ETag; 304 where the caller has that version."""
    tag = etag(body["version"])
    if request.method == "GET" and request.headers.get("if-none-match") in (tag, "*"):
        return Response(status_code=304, headers={"ETag": tag})
    return answered(body, status, {"ETag": tag})


def etag(version: int) -> str:
    """The ETag of a version."""
    return f'"{version}"'


NAME = r"^[a-z0-9-]{1,63}$"

Uid = Annotated[str, Path(pattern=NAME, description="Name of the thing.")]
Limit = Annotated[int, Query(ge=1, le=500, description="Entries of a page, at most.")]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        pattern=r"^[\x21-\x7e]{1,255}$",
        description="A request that is sent again with the same key takes effect once and gets "
        "the same answer, for a day.",
    ),
]
IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        pattern=r'^(\*|"?[0-9]{1,18}"?)$',
        description="ETag of the version to change; left out to create.",
    ),
]
IfNoneMatch = Annotated[
    str | None,
    Header(alias="If-None-Match", max_length=200, description="ETag of the version you have."),
]
