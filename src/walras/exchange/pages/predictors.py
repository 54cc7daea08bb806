"""The page of predictors: versions, their scores in the shadow, promotion and rollback."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from walras.exchange.api.routing import needs
from walras.exchange.pages.ask import ask
from walras.exchange.pages.render import PageRoute, shown

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/predictors", openapi_extra=needs("read"))
async def listed(request: Request) -> Response:
    """Predictors, the newest first."""
    found = await ask(request, "/v1/predictors", limit=50)
    return shown(request, "predictors.html", predictors=found["items"])
