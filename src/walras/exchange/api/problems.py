"""Errors as RFC 9457 problems: one form for every error, with a stable code.

A problem has the standard members (type, title, status, detail) and, where they are known, a JSON
pointer to what is wrong, what is allowed and what to do.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Match

from walras.errors import WalrasError
from walras.exchange.api import allowed
from walras.exchange.api.models import NAME
from walras.exchange.errors import ExchangeError, StaleError
from walras.exchange.runtime.logs import request_id

log = logging.getLogger("walras.api")

MEDIA = "application/problem+json"
_SHOWN = 20  # wrong fields that one problem names
_PLACES = {"path": "path", "query": "query", "header": "header", "cookie": "cookie"}

TITLES = {
    400: "The request cannot be read",
    401: "No valid token",
    403: "The token does not allow it",
    404: "There is no such thing",
    405: "The method is not allowed here",
    409: "The state does not allow it",
    412: "It was changed meanwhile",
    413: "The body is too large",
    415: "The body is not JSON",
    421: "The Host header is not ours",
    422: "A field cannot be used",
    429: "Too many requests",
    500: "A fault of the service",
    503: "The service cannot answer now",
}
"""Status -> title."""


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    headers: Mapping[str, str] | None = None,
    **members: Any,
) -> Response:
    """A problem as a response.

    Args:
        status: HTTP status.
        code: Stable code, such as ``WAL-2404``.
        detail: What is wrong, in one sentence.
        headers: More headers.
        members: Further members; empty ones are left out.
    """
    body = document(status, code, detail, **members)
    return Response(
        json.dumps(body, separators=(",", ":")),
        status,
        media_type=MEDIA,
        headers=dict(headers or {}),
    )


def document(status: int, code: str, detail: str, **members: Any) -> dict[str, Any]:
    """A problem's members."""
    body: dict[str, Any] = {
        "type": f"urn:walras:problem:{code}",
        "title": TITLES.get(status, HTTPStatus(status).phrase),
        "status": status,
        "detail": detail,
        "code": code,
    }
    body |= {key: value for key, value in members.items() if value not in ("", None, [])}
    if found := request_id.get():
        body["request_id"] = found
    return body


def of_error(error: WalrasError) -> Response:
    """The problem of an error of Walras."""
    status = int(getattr(error, "status", HTTPStatus.UNPROCESSABLE_ENTITY))
    more: dict[str, Any] = {}
    headers: dict[str, str] = {}
    if isinstance(error, StaleError):
        more = {"incarnation": error.incarnation, "seq": error.seq}
    if status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Bearer realm="walras"'
    if status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE):
        headers["Retry-After"] = "1"
    return problem(
        status,
        error.code,
        f"{error.where}: {error.what}" if error.where else error.what,
        headers=headers,
        pointer=error.pointer if isinstance(error, ExchangeError) else "",
        allowed=error.allowed,
        remedy=error.remedy,
        **more,
    )


def install(app: FastAPI) -> None:
    """Let an app answer every error with a problem."""
    app.add_exception_handler(WalrasError, _walras)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _fault)


def _walras(request: Request, error: Exception) -> Response:
    if not isinstance(error, WalrasError):
        raise error
    if getattr(error, "status", 0) >= HTTPStatus.INTERNAL_SERVER_ERROR:
        log.error("%s", error)
    return of_error(error)


def _fault(request: Request, error: Exception) -> Response:
    """Never a word of the fault itself: it is in the log, under the request's id."""
    return problem(
        500,
        "WAL-2500",
        "the service failed; nothing was half written",
        remedy="send it again with the same Idempotency-Key; tell the operator the request_id",
    )


def _http(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    status, headers = error.status_code, dict(error.headers or {})
    path = request.url.path
    if status == HTTPStatus.NOT_FOUND:
        return problem(
            404,
            "WAL-2404",
            f"{path}: there is no such route",
            headers=headers,
            remedy="see /openapi.json",
        )
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(_methods(request))
        return problem(
            405,
            "WAL-2405",
            f"{path}: {request.method} is not allowed",
            headers=headers,
            allowed=headers.get("Allow", ""),
        )
    if status == HTTPStatus.BAD_REQUEST:  # a body that is read and is no JSON comes to _invalid
        return problem(
            400,
            "WAL-2400",
            "body: cannot be read",
            headers=headers,
            allowed="JSON in UTF-8, less than 1000 levels deep, numbers of at most 4300 digits",
            remedy="see /openapi.json for the body of this route",
        )
    return problem(status, f"WAL-2{status}", str(error.detail), headers=headers)


def _methods(request: Request) -> list[str]:
    """The methods of all routes of a path; a router names those of its first one alone."""
    found: set[str] = set()
    for method in ("DELETE", "GET", "PATCH", "POST", "PUT"):
        scope = {**request.scope, "method": method}
        for route in request.app.router.routes:
            if route.matches(scope)[0] is Match.FULL:
                found.add(method)
    return sorted(found)


def _invalid(request: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    found = error.errors()
    if any(item["type"] == "json_invalid" for item in found):
        said = next(item for item in found if item["type"] == "json_invalid")
        return problem(
            400,
            "WAL-2400",
            f"body: {said.get('ctx', {}).get('error', 'is not JSON')}, at byte {said['loc'][-1]}",
            allowed="JSON in UTF-8",
            remedy="see /openapi.json for the body of this route",
        )
    wrong = [_field(request, item) for item in found[:_SHOWN]]
    first = wrong[0]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return problem(
        422,
        "WAL-2422",
        first["detail"] + more,
        pointer=first["pointer"],
        allowed=first.get("allowed", ""),
        remedy="see /openapi.json for what each field allows",
        errors=wrong if len(wrong) > 1 else [],
    )


def _field(request: Request, item: Mapping[str, Any]) -> dict[str, str]:
    """One wrong field: a pointer into the body, or the name of a parameter."""
    place, *rest = item["loc"]
    names = [str(part) for part in rest if part != "[key]"]
    if place == "body":
        pointer = "".join("/" + name.replace("~", "~0").replace("/", "~1") for name in names)
        where = pointer or "body"
    else:
        pointer, where = "", f"{_PLACES.get(str(place), place)} {'.'.join(names)}".strip()
    fault = {"detail": f"{where}: {_words(item)}", "pointer": pointer}
    return fault | {"allowed": _allowed(request, item)}


def _words(item: Mapping[str, Any]) -> str:
    text = str(item["msg"])
    if item["type"] == "string_pattern_mismatch" and item["ctx"]["pattern"] == NAME:
        return "should be lower-case letters, digits and dashes, 1 to 63 of them"
    return text[0].lower() + text[1:]


def _allowed(request: Request, item: Mapping[str, Any]) -> str:
    """What the field allows, as the OpenAPI file tells it."""
    route = request.scope.get("route")
    described = request.app.openapi()
    path = described["paths"].get(getattr(route, "path_format", ""), {})
    place, *names = item["loc"]
    if item["type"] in ("extra_forbidden", "missing") and place == "body":
        # Of a field that is not known, what its object knows; of one that is missing, what it is.
        names = names[:-1] if item["type"] == "extra_forbidden" else names
    operation = path.get(request.method.lower(), {})
    known = allowed.found(operation, described["components"]["schemas"], str(place), names)
    expected = item.get("ctx", {}).get("expected", "")
    return known or expected or "only what /openapi.json tells"
