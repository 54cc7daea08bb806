"""The page of the service itself."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from walras.exchange.api.routing import needs
from walras.exchange.pages.ask import ask
from walras.exchange.pages.render import PageRoute, shown

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/status", openapi_extra=needs("read-all"))
async def status(request: Request) -> Response:
    """Database, queue of writes, agents, jobs, the last backup."""
    found = await ask(request, "/v1/status")
    return shown(request, "status.html", service=found)
