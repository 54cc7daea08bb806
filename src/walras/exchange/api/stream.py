"""The route of events: server-sent events that resume where a client left off."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from walras.exchange.api.gate import TOKEN
from walras.exchange.api.hub import Event
from walras.exchange.api.routing import ScopedRoute, api_of, caller_of, needs
from walras.exchange.api.state import Api
from walras.exchange.errors import UnauthorisedError
from walras.exchange.service.tokens import Caller

router = APIRouter(prefix="/v1", route_class=ScopedRoute, tags=["events"])

_SECOND = 0.5  # between looks at whether the token is still valid
_PING = 15.0  # seconds of silence after which a comment is sent
_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
"""Headers of a stream: nothing on the way may keep it."""

_CONTENT = {"text/event-stream": {"schema": {"type": "string"}}}

LastEventId = Annotated[
    str | None,
    Header(
        alias="Last-Event-ID",
        pattern=r"^[0-9]{1,15}$",
        description="The last event that was seen; those that follow it are sent.",
    ),
]
After = Annotated[
    int | None,
    Query(ge=0, le=2**53, description="As Last-Event-ID. Without either: only new events."),
]


@router.get(
    "/events",
    response_class=StreamingResponse,
    responses={200: {"content": _CONTENT, "description": "Events, until the client leaves."}},
    openapi_extra=needs("read"),
    summary="Follow events",
)
async def events(
    request: Request, last_event_id: LastEventId = None, after: After = None
) -> StreamingResponse:
    """Events as they happen: a tenant's token sees its tenant's."""
    api, caller, token = api_of(request), caller_of(request), str(request.scope[TOKEN])
    last = int(last_event_id) if last_event_id is not None else after
    if last is None:
        last = await api.hub.newest()
    return Counted(api, caller.token, _written(follow(api, caller, token, last)))


class Counted(StreamingResponse):
    """A stream that counts before its first byte is sent, so that many at once are not too many."""

    def __init__(self, api: Api, token: str, content: AsyncIterator[str]) -> None:
        super().__init__(content, media_type="text/event-stream", headers=_HEADERS)
        self._api, self._token = api, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it; it counts no more however it ends.

        Raises:
            BusyError: The token has as many as it may.
        """
        self._api.hub.open(self._token)
        self._api.metrics.streams.inc()
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._api.hub.close(self._token)
            self._api.metrics.streams.dec()


async def _written(found: AsyncGenerator[list[Event]]) -> AsyncIterator[str]:
    yield "retry: 1000\n\n"
    try:
        async with aclosing(found):
            async for events in found:
                yield "".join(map(written, events)) or ": ping\n\n"
    except UnauthorisedError:
        yield "event: unauthorised\ndata: {}\n\n"


async def follow(
    api: Api, caller: Caller, token: str, last: int, pause: float = 0.0
) -> AsyncGenerator[list[Event]]:
    """Events that a caller may see, as they come; an empty list after some silence.

    Args:
        api: The parts of the service.
        caller: Who follows.
        token: Its token, which is looked at again and again.
        last: The event after which to begin.
        pause: Seconds to wait after each list, so that more come together.

    Yields:
        Events in order, until the service ends.

    Raises:
        UnauthorisedError: The token is valid no longer.
    """
    hub, silent = api.hub, 0.0
    while not api.exchange.stopping.is_set():
        found = await hub.after(last)
        seen = [event for event in found if visible(event, caller)]
        if found:
            last = found[-1].id
        if seen:
            silent = 0.0
            yield seen
        if pause and seen:
            await asyncio.sleep(pause)
        elif not found:
            await hub.wait(_SECOND)
            silent += _SECOND
        if silent >= _PING:
            silent = 0.0
            yield []
        await api.authenticator.known(token)


def visible(event: Event, caller: Caller) -> bool:
    """Whether a caller may see an event: a tenant its own, others all."""
    return caller.tenant in (None, event.tenant)


def written(event: Event) -> str:
    """An event in the form of server-sent events."""
    data = {"at": event.at, "subject": event.subject, "data": json.loads(event.data)}
    body = json.dumps(data, separators=(",", ":"))
    return f"id: {event.id}\nevent: {event.kind}\ndata: {body}\n\n"
