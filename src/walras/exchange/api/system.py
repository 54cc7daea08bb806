"""Routes of the service itself: health, metrics, the OpenAPI file."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST

from walras.exchange.api import views
from walras.exchange.api.routing import OPEN, ScopedRoute, answered, api_of, needs, reading
from walras.exchange.errors import ExchangeError
from walras.exchange.service import events, status
from walras.exchange.store.statements import Transaction
from walras.version import __version__

router = APIRouter(route_class=ScopedRoute, tags=["service"])

_TEXT = {"text/plain": {"schema": {"type": "string"}}}


@router.get(
    "/healthz",
    response_model=views.Health,
    openapi_extra=needs(OPEN),
    summary="Whether the process lives",
)
async def health(request: Request) -> Response:
    """200 while the process answers."""
    return answered({"status": "ok", "reasons": [], "version": __version__})


@router.get(
    "/readyz",
    response_model=views.Health,
    responses={503: {"model": views.Health, "description": "It is not ready."}},
    openapi_extra=needs(OPEN),
    summary="Whether the service can work",
)
async def ready(request: Request) -> Response:
    """200 while the database answers and the threads run; else 503 with the reasons."""
    api = api_of(request)
    reasons = []
    if api.exchange.stopping.is_set():
        reasons.append("the service stops")
    elif not api.background.healthy:
        reasons.append("a thread in the background has stopped")
    try:
        async with asyncio.timeout(2.0):
            if not reasons:
                await asyncio.wrap_future(api.exchange.read_soon(events.newest))
    except (ExchangeError, TimeoutError):
        reasons.append("the database does not answer")
    body = {
        "status": "not ready" if reasons else "ok",
        "reasons": reasons,
        "version": __version__,
    }
    return answered(body, 503 if reasons else 200)


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": _TEXT, "description": "Figures in Prometheus' format."}},
    openapi_extra=needs("read-all"),
    summary="Figures for Prometheus",
)
async def metrics(request: Request) -> Response:
    """Counters, gauges and histograms; no label is a task or a user."""
    api = api_of(request)
    exchange = api.exchange
    text = await asyncio.to_thread(
        api.metrics.text, exchange.database, exchange.now(), exchange.settings.timing.held
    )
    return Response(text, media_type=CONTENT_TYPE_LATEST)


@router.get(
    "/v1/status",
    response_model=views.Status,
    openapi_extra=needs("read-all"),
    summary="What the service is doing",
)
async def state(request: Request) -> Response:
    """Agents, open tasks and jobs, the database's queue and log, the last backup."""
    exchange = api_of(request).exchange
    now = exchange.now()

    def work(tx: Transaction) -> dict[str, Any]:
        return {
            "tasks": status.open_tasks(tx),
            "jobs": status.open_jobs(tx),
            "agents": status.agents(tx, now - exchange.settings.timing.held),
            "backup": status.last_backup(tx),
        }

    found = await reading(request, work)
    own = {
        "version": __version__,
        "now": now,
        "database": exchange.database.dialect.name,
        "store": exchange.database.stats(),
        "streams": api_of(request).hub.streams,
    }
    return answered(own | found)


@router.get(
    "/openapi.json",
    openapi_extra=needs(OPEN),
    summary="This description of the API",
)
async def description(request: Request) -> Response:
    """The OpenAPI 3.1 file."""
    return answered(request.app.openapi())
