"""POSTs whose answers are kept in memory: they change nothing that the database holds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from fastapi import Request, Response

from walras.exchange.api.apart import apart
from walras.exchange.api.routing import answered, caller_of, fingerprint, owner_of
from walras.exchange.errors import FieldError
from walras.exchange.runtime.replies import Replies


async def once_in_memory(
    request: Request,
    replies: Replies,
    key: str | None,
    status: int,
    work: Callable[[], dict[str, Any]],
) -> Response:
    """Answer a POST; one that is sent again with its key gets the same answer, from memory.

    Raises:
        FieldError: The key was used with another request.
    """
    if key is None:
        return answered(await apart(request, work), status)
    name, asked = (owner_of(caller_of(request)), key), await fingerprint(request)
    before = replies.get(name)
    if before is None:
        task = asyncio.ensure_future(apart(request, work))
        replies.keep(name, (asked, task))
        task.add_done_callback(lambda done: _forget_failed(replies, name, done))
        return answered(await asyncio.shield(task), status)
    if before[0] != asked:
        raise FieldError(
            "was used with another request",
            where="Idempotency-Key",
            allowed="a new key for each request",
            remedy="send a new key",
        )
    return answered(await asyncio.shield(before[1]), status, {"Idempotency-Replayed": "true"})


def _forget_failed(replies: Replies, name: tuple[str, str], done: asyncio.Future[Any]) -> None:
    """Let a request that failed be sent again, also where its caller has left."""
    if done.cancelled() or done.exception() is not None:
        replies.forget(name)
