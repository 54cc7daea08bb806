"""Routes by which people sign in to the pages, and out."""

from __future__ import annotations

import secrets
from typing import Any

from fastapi import APIRouter, Request, Response

from walras.exchange.api import views
from walras.exchange.api.derive import check_same, derived
from walras.exchange.api.gate import TOKEN
from walras.exchange.api.routing import (
    IdempotencyKey,
    Reply,
    ScopedRoute,
    caller_of,
    needs,
    once,
)
from walras.exchange.runtime.home import new_uid
from walras.exchange.service import audit, sessions
from walras.exchange.store.statements import Transaction

router = APIRouter(prefix="/v1", route_class=ScopedRoute, tags=["sessions"])


@router.post(
    "/logins",
    status_code=201,
    response_model=views.Login,
    openapi_extra=needs("read-or-provider"),
    summary="Make a link that signs a browser in, once",
)
async def create(request: Request, key: IdempotencyKey = None) -> Response:
    """A path of this service that signs a browser in with the token's rights, within ten minutes.

    The session lasts twelve hours at most and ends with the token.
    """
    caller, secret = caller_of(request), str(request.scope[TOKEN])

    def work(tx: Transaction, now: float) -> Reply:
        salt, uid = secrets.token_urlsafe(32), new_uid("l")
        until = sessions.offer(tx, now, caller, uid, derived(secret, salt, "wll"))
        audit.record(tx, now, caller.name, "login.create", uid)
        return Reply({"salt": salt, "by": caller.token, "expires": until}, 201)

    def shown(made: dict[str, Any]) -> dict[str, Any]:
        check_same(made["by"], caller.token)
        link = derived(secret, made["salt"], "wll")
        return {"path": f"/login?link={link}", "expires": made["expires"]}

    return await once(request, key, work, shown=shown)


@router.post(
    "/logins:end",
    response_model=views.LoginEnd,
    openapi_extra=needs("read-or-provider"),
    summary="Sign out",
)
async def end(request: Request, key: IdempotencyKey = None) -> Response:
    """End the session that asks; a token is no session, and stays valid."""
    caller = caller_of(request)

    def work(tx: Transaction, now: float) -> Reply:
        ended = sessions.end(tx, caller.token)
        if ended:
            audit.record(tx, now, caller.name, "login.end", caller.token)
        return Reply({"ended": ended})

    return await once(request, key, work)
