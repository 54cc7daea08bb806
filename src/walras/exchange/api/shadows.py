"""Routes of shadow mode: compare a scheduler's log with the exchange's policy, look, cancel.

They change nothing of the exchange. The log is computed on in a process of its own, and forgotten;
reports are kept in the service's memory.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from walras.exchange.api import computed
from walras.exchange.api import shadow_views as views
from walras.exchange.api.remembered import once_in_memory
from walras.exchange.api.routing import (
    IdempotencyKey,
    ScopedRoute,
    Uid,
    answered,
    api_of,
    needs,
)
from walras.exchange.api.shadow_models import ShadowIn
from walras.exchange.runtime.works import Work, Works

router = APIRouter(prefix="/v1", route_class=ScopedRoute, tags=["shadows"])


def _shadows(request: Request) -> Works:
    return api_of(request).shadows


def _shown(one: Work) -> dict[str, Any]:
    return one.look() | {"report": one.result}


@router.post(
    "/shadows",
    status_code=202,
    response_model=views.Shadow,
    openapi_extra=needs("operate"),
    summary="Compare a scheduler's log with the exchange's policy",
)
async def start(request: Request, body: ShadowIn, key: IdempotencyKey = None) -> Response:
    """Begin to replay a log; look again until its state is no longer running."""
    shadows = _shadows(request)

    def work() -> dict[str, Any]:
        data = body.log.encode()
        facts = body.model_dump(exclude={"log"}) | {"bytes": len(data)}
        return _shown(computed.begin(request, shadows, facts, data))

    return await once_in_memory(request, shadows.replies, key, 202, work)


@router.get(
    "/shadows",
    response_model=views.ShadowList,
    openapi_extra=needs("read-all"),
    summary="List comparisons with logs",
)
async def listed(request: Request) -> Response:
    """The newest comparisons of this service, the newest first."""
    return answered({"items": [one.look() for one in _shadows(request).list()]})


@router.get(
    "/shadows/{uid:name}",
    response_model=views.Shadow,
    openapi_extra=needs("read-all"),
    summary="Look at a comparison with a log",
)
async def shown(request: Request, uid: Uid) -> Response:
    """How far it is; its report once it is done, or why it was refused."""
    return answered(_shown(_shadows(request).get(uid)))


@router.post(
    "/shadows/{uid:name}:cancel",
    response_model=views.Shadow,
    openapi_extra=needs("operate"),
    summary="Cancel a comparison with a log",
)
async def cancel(request: Request, uid: Uid, key: IdempotencyKey = None) -> Response:
    """End its process; one that has ended stays as it is, and is not cancelled."""
    shadows = _shadows(request)

    def work() -> dict[str, Any]:
        return _shown(computed.cancel(request, shadows, uid))

    return await once_in_memory(request, shadows.replies, key, 200, work)
