"""Signing in by a link that works once."""

from __future__ import annotations

import asyncio
import secrets
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from walras.exchange.api.auth import cookie_name
from walras.exchange.api.routing import OPEN, ScopedRoute, api_of, needs
from walras.exchange.errors import UnauthorisedError
from walras.exchange.pages.render import bare
from walras.exchange.runtime.home import new_uid
from walras.exchange.service import audit, sessions
from walras.exchange.store.statements import Transaction

router = APIRouter(route_class=ScopedRoute, include_in_schema=False)

Link = Annotated[str | None, Query(pattern=r"^wll_[A-Za-z0-9_-]{20,200}$")]


def _server(request: Request) -> str:
    """The address by which the browser has reached the service."""
    return str(request.base_url).rstrip("/")


def _sent_by_another(request: Request) -> bool:
    """Whether another site's page asks, or something that shows no page."""
    headers = request.headers
    return (
        headers.get("sec-fetch-site", "none") == "cross-site"
        or headers.get("sec-fetch-dest", "document") != "document"
    )


@router.get("/login", openapi_extra=needs(OPEN))
async def login(request: Request, link: Link = None) -> Response:
    """Use a link: the browser gets a session; without one, say how to have one."""
    if _sent_by_another(request):
        # A person follows the link here: no other site signs a browser in, or uses a link up.
        return HTMLResponse(bare("follow.html", link=link), 200 if link else 401)
    if link is None:
        return HTMLResponse(bare("login.html", problem=None, server=_server(request)))
    # A browser that looks ahead must not use the link up.
    if "prefetch" in request.headers.get("sec-purpose", ""):
        return Response(status_code=204)
    secret = "wls_" + secrets.token_urlsafe(32)

    def work(tx: Transaction, now: float) -> None:
        uid = new_uid("s")
        name = sessions.sign_in(tx, now, link, uid, secret)
        audit.record(tx, now, name, "login.use", uid)

    try:
        await asyncio.wrap_future(api_of(request).exchange.submit(work))
    except UnauthorisedError as error:
        return HTMLResponse(bare("login.html", problem=error, server=_server(request)), 401)
    made = RedirectResponse("/", 303)
    headers = dict(request.scope["headers"])
    made.set_cookie(
        cookie_name(headers),
        secret,
        max_age=int(sessions.SESSION_SECONDS),
        httponly=True,
        samesite="lax",
        secure=request.headers.get("x-forwarded-proto") == "https",
    )
    return made
