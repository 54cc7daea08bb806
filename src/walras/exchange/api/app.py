"""The HTTP API of an exchange as an ASGI app, and the OpenAPI file that describes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from walras.exchange.api import (
    admin,
    agents,
    allocations,
    clusters,
    learning,
    logins,
    networks,
    problems,
    rounds,
    shadows,
    stream,
    tasks,
)
from walras.exchange.api import system as service
from walras.exchange.api.auth import SCOPE_WORDS
from walras.exchange.api.gate import Gate
from walras.exchange.api.limits import RateLimit
from walras.exchange.api.routing import OPEN, SCOPE
from walras.exchange.api.state import Api
from walras.version import __version__

_TEXT = """A service that matches tasks of many tenants to clusters of many providers.

Every route but `/healthz`, `/readyz` and `/openapi.json` needs `Authorization: Bearer TOKEN`,
or the cookie of a browser that signed in.
Errors are problems as in RFC 9457, with a stable `code`. Send an `Idempotency-Key` with a POST that
you may have to send again. Pages go on with `cursor`; times are seconds since 1970."""
_MEMBERS = {
    "type": "A name of the kind of problem.",
    "title": "The kind of problem, in words.",
    "detail": "What is wrong.",
    "code": "Stable code.",
    "pointer": "JSON pointer to the wrong field of the body.",
    "allowed": "What would be accepted.",
    "remedy": "What to do.",
    "request_id": "The id under which the service's log has it.",
}
_ALWAYS = (400, 401, 403, 404, 405, 413, 421, 422, 429, 500, 503)


@dataclass(frozen=True)
class Pages:
    """Pages for people, beside the API.

    Attributes:
        install: Adds them to the app.
        open: Beginnings of their paths that need no session.
        sign_in: The path to which a browser without a session is sent.
    """

    install: Callable[[FastAPI], None]
    open: tuple[str, ...]
    sign_in: str


def create_app(api: Api, hosts: frozenset[str] = frozenset(), pages: Pages | None = None) -> Gate:
    """The app of a service.

    Args:
        api: Its parts.
        hosts: Names that the Host header may have, without the port; empty for any.
        pages: Pages for people, where it has some.

    Returns:
        The app, behind the gate that authenticates every request.
    """
    app = routes()
    app.state.walras = api
    problems.install(app)
    settings = api.exchange.settings
    limit = RateLimit(settings.rate, settings.burst)
    gate = Gate(app, api.authenticator, limit, api.metrics, hosts)
    if pages is not None:
        app.openapi()  # it tells of the API alone
        pages.install(app)
        gate.open, gate.sign_in = pages.open, pages.sign_in
    return gate


def routes() -> FastAPI:
    """The routes alone: they answer nothing, and describe themselves."""
    app = FastAPI(
        title="Walras exchange",
        version=__version__,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    for router in (
        service.router,
        tasks.batches,
        tasks.router,
        clusters.router,
        clusters.offers,
        agents.router,
        rounds.verbs,
        rounds.router,
        learning.router,
        stream.router,
        admin.router,
        logins.router,
        networks.router,
        shadows.router,
        allocations.router,
    ):
        app.include_router(router)
    app.openapi = lambda: described(app)  # type: ignore[method-assign]
    return app


def described(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI file, with problems and credentials on every operation; made once."""
    if app.openapi_schema is not None:
        return app.openapi_schema
    made = get_openapi(title=app.title, version=app.version, description=_TEXT, routes=app.routes)
    parts = made.setdefault("components", {})
    parts.setdefault("schemas", {})["Problem"] = _problem()
    for name in ("HTTPValidationError", "ValidationError"):
        parts["schemas"].pop(name, None)
    parts["responses"] = {f"Problem{status}": _response(status) for status in problems.TITLES}
    parts["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
    for path in made["paths"].values():
        for method, operation in path.items():
            _complete(method, operation)
    _close(made)
    app.openapi_schema = made
    return made


def _problem() -> dict[str, Any]:
    members: dict[str, Any] = {
        name: {"type": "string", "description": text} for name, text in _MEMBERS.items()
    }
    members["status"] = {"type": "integer", "description": "The HTTP status."}
    members["incarnation"] = {"type": "integer", "description": "The agent's stored life."}
    members["seq"] = {"type": "integer", "description": "Its stored number."}
    members["errors"] = {
        "type": "array",
        "description": "Each wrong field, where there are several.",
        "items": {
            "type": "object",
            "properties": {name: {"type": "string"} for name in ("detail", "pointer", "allowed")},
            "required": ["detail", "pointer"],
        },
    }
    required = ["type", "title", "status", "detail", "code"]
    return {"type": "object", "properties": members, "required": required}


def _response(status: int) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Problem"}
    made: dict[str, Any] = {
        "description": problems.TITLES[status],
        "content": {problems.MEDIA: {"schema": schema}},
    }
    if status in (429, 503):
        made["headers"] = {
            "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "string"}}
        }
    return made


def _complete(method: str, operation: dict[str, Any]) -> None:
    """Add to an operation the problems that it can answer with, and the scope it needs."""
    scope = operation[SCOPE]
    statuses = list(_ALWAYS)
    if method in ("post", "put"):
        statuses += [409]
    if method == "put":
        statuses += [412]
    if "requestBody" in operation:
        statuses += [415]
    responses = operation["responses"]
    responses.pop("422", None)
    for status in sorted(statuses):
        key = str(status)
        if key not in responses:
            responses[key] = {"$ref": f"#/components/responses/Problem{status}"}
    if any(item["name"] == "If-None-Match" for item in operation.get("parameters", [])):
        responses["304"] = {"description": "You have this version."}
    for item in operation.get("parameters", []):
        _without_null(item)
    if scope == OPEN:
        operation["security"] = []
        return
    operation["security"] = [{"bearer": []}]
    words = f"Needs {SCOPE_WORDS[scope]}."
    operation["description"] = f"{operation.get('description', '')}\n\n{words}".strip()


def _without_null(parameter: dict[str, Any]) -> None:
    """A parameter is left out; there is no null in a header or a query."""
    kinds = parameter["schema"].pop("anyOf", None)
    if kinds is not None:
        parameter["schema"] |= next(kind for kind in kinds if kind.get("type") != "null")


def _close(value: Any) -> None:
    """Say that names outside a pattern are refused, which pydantic leaves out."""
    if isinstance(value, dict):
        if "patternProperties" in value:
            value.setdefault("additionalProperties", False)
        for below in value.values():
            _close(below)
    elif isinstance(value, list):
        for below in value:
            _close(below)
