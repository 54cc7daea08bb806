"""Pages of rounds: the list with its timeline, one round, two side by side."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from walras.exchange.api.rounds import Seq
from walras.exchange.api.routing import caller_of, needs
from walras.exchange.pages.ask import ask, ask_if_allowed
from walras.exchange.pages.render import PageRoute, shown
from walras.rounds.blockers import MEANINGS

router = APIRouter(route_class=PageRoute, include_in_schema=False)

_SHOWN = 50  # rounds of a page
_PLACED = 200  # placements of a page

Cursor = Annotated[str | None, Query(pattern=r"^[0-9]{1,15}$")]
Other = Annotated[int, Query(ge=1, le=2**53)]


@router.get("/", openapi_extra=needs("read-or-provider"))
async def home(request: Request) -> Response:
    """The first page: the rounds, or the clusters of who offers some."""
    reads = caller_of(request).scopes & {"read", "operate", "admin"}
    return RedirectResponse("/rounds" if reads else "/clusters", 303)


@router.get("/rounds", openapi_extra=needs("read"))
async def listed(request: Request, cursor: Cursor = None) -> Response:
    """Rounds, the newest first."""
    found, clusters, status = await asyncio.gather(
        ask(request, "/v1/rounds", limit=_SHOWN, cursor=cursor),
        ask(request, "/v1/clusters", limit=500),
        ask_if_allowed(request, "/v1/status"),
    )
    return shown(
        request,
        "rounds.html",
        rounds=found["items"],
        next_cursor=found["next_cursor"],
        first=cursor is None,
        clusters=clusters["items"],
        status=status,
    )


@router.get("/rounds/diff", openapi_extra=needs("read"))
async def chosen(request: Request, seq: Other, other: Other) -> Response:
    """Two rounds that were chosen in the list."""
    return RedirectResponse(f"/rounds/{min(seq, other)}/diff/{max(seq, other)}", 303)


@router.get("/rounds/{seq:name}", openapi_extra=needs("read"))
async def one(request: Request, seq: Seq, cursor: Cursor = None) -> Response:
    """A round: its plan and what became of it, its figures, what it left and why."""
    found = await ask(request, f"/v1/rounds/{seq}", limit=_PLACED, cursor=cursor)
    blockers = sorted(found["blockers"].items(), key=lambda item: -item[1])
    return shown(request, "round.html", round=found, blockers=blockers, words=MEANINGS)


@router.get("/rounds/{seq:name}/diff/{other:name}", openapi_extra=needs("read"))
async def diff(request: Request, seq: Seq, other: Seq) -> Response:
    """Two rounds side by side, and the tasks that they place differently."""
    found, left, right = await asyncio.gather(
        ask(request, f"/v1/rounds/{seq}/diff/{other}"),
        ask(request, f"/v1/rounds/{seq}", limit=1),
        ask(request, f"/v1/rounds/{other}", limit=1),
    )
    return shown(request, "diff.html", diff=found, rounds=(left, right))
