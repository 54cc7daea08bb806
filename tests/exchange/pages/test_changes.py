"""Pages hear of what has changed, and of nothing that is another tenant's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from walras.exchange.api.hub import Event
from walras.exchange.errors import UnauthorisedError
from walras.exchange.pages.changes import _written


def _event(number: int, kind: str) -> Event:
    return Event(number, None, 0.0, kind, "x", "{}")


async def _found(end: bool) -> AsyncGenerator[list[Event]]:
    yield [_event(1, "task.succeeded"), _event(2, "round.published"), _event(3, "task.failed")]
    yield []
    if end:
        raise UnauthorisedError("is not valid", where="token")


async def _all(end: bool) -> list[str]:
    return [text async for text in _written(_found(end))]


def test_topics_come_once_a_message() -> None:
    start, *rest = asyncio.run(_all(False))
    assert start == "retry: 2000\n\n"
    assert rest == ["id: 3\nevent: change\ndata: round task\n\n", ": ping\n\n"]


def test_a_session_that_ends_says_so() -> None:
    assert asyncio.run(_all(True))[-1] == "event: unauthorised\ndata: \n\n"
