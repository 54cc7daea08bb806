"""Work that waits for another process, beside the threads of short reads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from fastapi import Request

from walras.exchange.api.routing import api_of

T = TypeVar("T")


async def apart(request: Request, work: Callable[[], T]) -> T:
    """Do work in a thread of those that may wait; reads and what-if questions have others."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(api_of(request).waiting, work)
