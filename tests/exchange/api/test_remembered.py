"""POSTs that are answered from memory: once by key, and a failure may be tried again."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.exchange.api.serving import Served, problem

from walras.exchange.api import remembered
from walras.exchange.runtime.replies import Replies


def test_a_key_of_another_request_is_refused_and_a_failed_one_is_free_again(
    tmp_path: Path,
) -> None:
    served, key = Served(tmp_path / "home"), {"Idempotency-Key": "k"}
    bad = {"log": "x", "scheduler": "csv"}
    assert served.send("POST", "/v1/shadows/s-0:cancel", headers=key).status_code == 404
    made = served.send("POST", "/v1/shadows", bad, headers=key)
    assert made.status_code == 202, "what failed is forgotten"
    other = served.send("POST", "/v1/shadows", bad | {"seed": 1}, headers=key)
    assert problem(other, 422, "WAL-2422")["detail"].startswith("Idempotency-Key: was used")
    served.close()


def test_a_failure_is_forgotten_although_its_caller_has_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    replies, go_on = Replies(), threading.Event()

    async def fingerprint(_: Any) -> str:
        return "asked"

    def fails() -> dict[str, Any]:
        go_on.wait(10.0)
        raise OSError("the disk is full")

    async def apart(_: Any, work: Any) -> Any:
        return await asyncio.to_thread(work)

    monkeypatch.setattr(remembered, "fingerprint", fingerprint)
    monkeypatch.setattr(remembered, "caller_of", lambda _: SimpleNamespace())
    monkeypatch.setattr(remembered, "owner_of", lambda _: "me")
    monkeypatch.setattr(remembered, "apart", apart)

    async def leave() -> None:
        once = remembered.once_in_memory(None, replies, "k", 200, fails)  # type: ignore[arg-type]
        caller = asyncio.ensure_future(once)
        await asyncio.sleep(0.05)
        caller.cancel()
        await asyncio.sleep(0.0)
        kept = replies.get(("me", "k"))
        assert kept is not None
        go_on.set()
        with pytest.raises(OSError, match="full"):
            await kept[1]
        assert replies.get(("me", "k")) is None

    asyncio.run(leave())
