"""What a page shows is what the API answers to the same caller: pages read nothing else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import MutableMapping
from typing import Any
from urllib.parse import urlencode

from fastapi import Request


class AskError(Exception):
    """The API refused what a page asked for.

    Args:
        status: The HTTP status.
        problem: The problem, as in RFC 9457.
    """

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        super().__init__(problem.get("detail", ""))
        self.status, self.problem = status, problem


async def ask(request: Request, path: str, **query: Any) -> dict[str, Any]:
    """What the API answers to a GET of the page's caller.

    Args:
        request: The page's request.
        path: A path of the API.
        query: Its parameters; those that are None or empty are left out.

    Raises:
        AskError: It refuses.
    """
    used = {name: value for name, value in query.items() if value not in (None, "", [])}
    status, body = await _get(request, path, urlencode(used, doseq=True))
    found: dict[str, Any] = json.loads(body)
    if status != 200:
        raise AskError(status, found)
    return found


async def ask_if_allowed(request: Request, path: str, **query: Any) -> dict[str, Any] | None:
    """As :func:`ask`; None where the caller may not."""
    try:
        return await ask(request, path, **query)
    except AskError as error:
        if error.status == 403:
            return None
        raise


async def _get(request: Request, path: str, query: str) -> tuple[int, bytes]:
    """Let the app answer a request that came through the gate already."""
    kept = ("type", "asgi", "http_version", "scheme", "server", "client", "app")
    scope: dict[str, Any] = {name: request.scope[name] for name in kept if name in request.scope}
    scope |= {name: value for name, value in request.scope.items() if name.startswith("walras.")}
    scope |= {
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(b"host", request.headers.get("host", "").encode("latin-1"))],
    }
    status, parts = 0, []

    async def receive() -> MutableMapping[str, Any]:
        await asyncio.sleep(0)
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = int(message["status"])
        elif message["type"] == "http.response.body":
            parts.append(message.get("body", b""))

    await request.app(scope, receive, send)
    return status, b"".join(parts)
