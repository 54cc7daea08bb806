"""Events: a tenant sees its own, in order, without gaps, and no longer than its token is valid."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from tests.exchange.api.serving import Served, problem

from walras.exchange.api.auth import Authenticator
from walras.exchange.api.hub import STREAMS, Event, Hub
from walras.exchange.api.stream import visible, written
from walras.exchange.service.tokens import Caller


def _scope(served: Served, role: str, query: str) -> dict[str, Any]:
    return {
        "type": "http",
        "method": "GET",
        "path": "/v1/events",
        "raw_path": b"/v1/events",
        "query_string": query.encode(),
        "http_version": "1.1",
        "scheme": "http",
        "headers": [
            (b"host", b"localhost"),
            (b"authorization", f"Bearer {served.tokens[role]}".encode()),
        ],
        "server": ("localhost", 80),
        "client": ("localhost", 1),
        "root_path": "",
    }


def _follow(served: Served, role: str, query: str, enough: Callable[[str], bool]) -> str:
    """What a stream sends until it is enough, or for ten seconds."""
    got: list[str] = []

    async def follow() -> None:
        left = asyncio.Event()

        async def receive() -> dict[str, Any]:
            if got and enough("".join(got)):
                return {"type": "http.disconnect"}
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.body":
                got.append(message.get("body", b"").decode())
                if enough("".join(got)) or not message.get("more_body"):
                    left.set()

        Hub.__init__(served.api.hub, served.exchange)  # of this loop
        async with asyncio.timeout(10.0):
            await served.app(_scope(served, role, query), receive, send)

    asyncio.run(follow())
    return "".join(got)


def _events_of(text: str) -> list[dict[str, Any]]:
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
        if "id" in fields:
            found.append(
                {"id": int(fields["id"]), "kind": fields["event"], **json.loads(fields["data"])}
            )
    return found


def test_a_tenant_follows_its_own_events(served: Served) -> None:
    served.put("/v1/clusters/c1", {"slots": 4})
    mine, other = served.task("mine", "alpha"), served.task("other", "beta")
    served.post(f"/v1/tasks/{mine}:cancel", role="alpha")
    text = _follow(served, "alpha", "after=0", lambda text: "task.cancelled" in text)
    assert other not in text
    assert [one["kind"] for one in _events_of(text)] == ["task.submitted", "task.cancelled"]
    everything = _follow(served, "reader", "after=0", lambda text: "task.cancelled" in text)
    kinds = [one["kind"] for one in _events_of(everything)]
    assert kinds == ["cluster.added", "task.submitted", "task.submitted", "task.cancelled"]
    assert everything.startswith("retry: ")


def test_only_new_events_come_without_a_last_one(served: Served) -> None:
    served.task("before", "alpha")

    def enough(text: str) -> bool:
        if "retry" in text and not done:
            done.append(served.task("after", "alpha"))
        return "task.submitted" in text

    done: list[str] = []
    (found,) = _events_of(_follow(served, "alpha", "", enough))
    assert found["subject"] == done[0]


def test_a_stream_ends_with_its_token(served: Served) -> None:
    began = 0.0

    def enough(text: str) -> bool:
        nonlocal began
        if not began:
            began = time.monotonic()
            served.post(f"/v1/tokens/{served.uids['alpha']}:revoke")
        return False

    text = _follow(served, "alpha", "", enough)
    assert "event: unauthorised" in text
    assert time.monotonic() - began < 2.0


def test_as_many_streams_open_at_once_as_one_after_another(served: Served) -> None:
    statuses: list[int] = []

    async def follow(left: asyncio.Event) -> None:
        async def receive() -> dict[str, Any]:
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])
            if len(statuses) == STREAMS + 8:
                left.set()

        await served.app(_scope(served, "alpha", "after=0"), receive, send)

    async def follow_all() -> None:
        Hub.__init__(served.api.hub, served.exchange)  # of this loop
        left = asyncio.Event()
        async with asyncio.timeout(10.0):
            await asyncio.gather(*(follow(left) for _ in range(STREAMS + 8)))

    asyncio.run(follow_all())
    assert Counter(statuses) == {200: STREAMS, 429: 8}
    assert not served.api.hub._of


def test_bad_places_to_resume_are_refused(quick: Served) -> None:
    for query, header in (("after=-1", None), ("after=x", None), ("", "abc"), ("", "-1")):
        headers = {} if header is None else {"Last-Event-ID": header}
        problem(quick.send("GET", f"/v1/events?{query}", headers=headers), 422, "WAL-2422")


def test_who_sees_what() -> None:
    def caller(tenant: str | None) -> Caller:
        return Caller("k", "n", tenant, frozenset({"read"}))

    mine, other, none = (Event(1, name, 0.0, "x", "y", "{}") for name in ("alpha", "beta", None))
    assert [visible(one, caller("alpha")) for one in (mine, other, none)] == [True, False, False]
    assert all(visible(one, caller(None)) for one in (mine, other, none))
    assert written(mine) == 'id: 1\nevent: x\ndata: {"at":0.0,"subject":"y","data":{}}\n\n'


def test_a_token_is_asked_for_again_after_half_a_second(quick: Served) -> None:
    time_now = 0.0
    authenticator = Authenticator(quick.exchange, steady=lambda: time_now)
    asked: list[str] = []
    inner: Callable[[str], Awaitable[Caller]] = authenticator._ask

    async def counted(token: str) -> Caller:
        asked.append(token)
        return await inner(token)

    authenticator._ask = counted  # type: ignore[method-assign]

    async def ask() -> None:
        nonlocal time_now
        for seconds in (0.0, 0.1, 0.4, 0.6, 0.7):
            time_now = seconds
            await authenticator.known(quick.tokens["alpha"])

    asyncio.run(ask())
    assert len(asked) == 2
