"""What has changed, once a second at most: pages renew what shows it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from walras.exchange.api.gate import TOKEN
from walras.exchange.api.hub import Event
from walras.exchange.api.routing import ScopedRoute, api_of, caller_of, needs
from walras.exchange.api.stream import Counted, follow
from walras.exchange.errors import UnauthorisedError

router = APIRouter(route_class=ScopedRoute, include_in_schema=False)

_PAUSE = 1.0  # seconds between two messages


@router.get("/changes", openapi_extra=needs("read-or-provider"))
async def changes(request: Request) -> StreamingResponse:
    """Kinds of things that events were about: ``task``, ``round``, ``cluster`` and so on.

    The id of a message is its last event's: a page that is renewed with it shows that event.
    """
    api, caller, token = api_of(request), caller_of(request), str(request.scope[TOKEN])
    last = await api.hub.newest()
    return Counted(api, caller.token, _written(follow(api, caller, token, last, _PAUSE)))


async def _written(found: AsyncGenerator[list[Event]]) -> AsyncIterator[str]:
    yield "retry: 2000\n\n"
    try:
        async with aclosing(found):
            async for events in found:
                topics = sorted({event.kind.partition(".")[0] for event in events})
                if not events:
                    yield ": ping\n\n"
                    continue
                yield f"id: {events[-1].id}\nevent: change\ndata: {' '.join(topics)}\n\n"
    except UnauthorisedError:
        yield "event: unauthorised\ndata: \n\n"
