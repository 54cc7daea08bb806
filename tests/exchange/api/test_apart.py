"""Requests that wait for another process have threads of their own."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

from walras.exchange.api.apart import apart


def test_all_of_its_threads_may_wait_while_others_answer() -> None:
    pool, go_on = ThreadPoolExecutor(2), threading.Event()
    api = SimpleNamespace(waiting=pool)
    request: Any = SimpleNamespace(app=SimpleNamespace(state=SimpleNamespace(walras=api)))

    async def main() -> list[bool]:
        waits = [asyncio.ensure_future(apart(request, lambda: go_on.wait(10.0))) for _ in range(3)]
        assert await asyncio.to_thread(lambda: "read") == "read"
        assert not any(one.done() for one in waits)
        go_on.set()
        return await asyncio.gather(*waits)

    assert asyncio.run(main()) == [True] * 3
    pool.shutdown()
