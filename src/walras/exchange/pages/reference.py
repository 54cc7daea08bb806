"""The page of the API: every route from its own description, without any outside request."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from walras.exchange.api.routing import needs
from walras.exchange.pages.ask import ask
from walras.exchange.pages.render import PageRoute, shown

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/reference", openapi_extra=needs("read-or-provider"))
async def reference(request: Request) -> Response:
    """Routes by topic, with parameters, bodies and answers."""
    described = await ask(request, "/openapi.json")
    return shown(
        request,
        "reference.html",
        groups=_groups(described),
        schemas=described["components"]["schemas"],
    )


def _groups(described: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Topic -> its operations."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            entry = {"method": method.upper(), "path": path, "body": _body(operation)} | operation
            found.setdefault(operation["tags"][0], []).append(entry)
    return found


def _body(operation: dict[str, Any]) -> str:
    """The name of the schema of an operation's body; empty where it takes none."""
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    named = [str(one["$ref"]) for one in schema.get("anyOf", [schema]) if "$ref" in one]
    return named[0].rpartition("/")[2] if named else ""
