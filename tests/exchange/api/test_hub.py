"""Events for open streams: in order, without gaps, one look for all."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.exchange.api.serving import Served, problem

from walras.exchange.api.hub import STREAMS, Event, Hub
from walras.exchange.service import events


def _event(number: int) -> Event:
    return Event(number, None, 0.0, "x", "y", "{}")


def test_an_event_that_comes_late_is_waited_for(quick: Served) -> None:
    hub = Hub(quick.exchange)
    found = [_event(n) for n in (11, 12, 14, 15)]  # 13 is not committed yet
    assert [one.id for one in hub.settled(10, found, 100.0)] == [11, 12]
    late = [_event(n) for n in (14, 15)]
    assert hub.settled(12, late, 102.0) == []
    assert [one.id for one in hub.settled(12, [_event(13), *late], 103.0)] == [13, 14, 15]
    assert hub.settled(15, [_event(17)], 200.0) == []  # 16: its transaction was undone
    assert [one.id for one in hub.settled(15, [_event(17)], 206.0)] == [17]


def test_one_look_serves_all_streams_and_a_late_one_reads_the_database(served: Served) -> None:
    for k in range(5):
        served.exchange.write(lambda tx, now, k=k: events.tell(tx, now, "x", f"{k}", tenant=None))  # type: ignore[misc]

    async def look() -> list[list[str]]:
        hub = Hub(served.exchange)
        newest = await hub.newest()
        hub.open("k")
        while not hub._last:
            await asyncio.sleep(0.01)
        served.exchange.write(lambda tx, now: events.tell(tx, now, "x", "new", tenant=None))
        found: list[list[str]] = []
        for last in (newest, newest - 3):
            rows: Any = ()
            while not rows:
                await hub.wait(0.1)
                rows = await hub.after(last)
            found.append([one.subject for one in rows])
        hub.close("k")
        while hub._task is not None and not hub._task.done():
            await asyncio.sleep(0.05)
        return found

    assert asyncio.run(look()) == [["new"], ["2", "3", "4", "new"]]


def test_a_token_has_so_many_streams_and_no_more(served: Served) -> None:
    hub = served.api.hub
    token = served.uids["alpha"]
    hub._of[token] = STREAMS
    details = problem(served.send("GET", "/v1/events", role="alpha"), 429, "WAL-2429")
    assert details["allowed"] == f"at most {STREAMS} streams a token"
    for _ in range(STREAMS):
        hub.close(token)
    assert token not in hub._of


def test_waiting_ends_with_news_or_with_its_time(quick: Served) -> None:
    async def wait() -> tuple[float, float]:
        hub, loop = Hub(quick.exchange), asyncio.get_running_loop()
        began = loop.time()
        await hub.wait(0.05)
        late = loop.time() - began
        loop.call_later(0.01, hub.wake)
        began = loop.time()
        await hub.wait(20.0)
        return late, loop.time() - began

    late, woken = asyncio.run(wait())
    assert late >= 0.05
    assert woken < 10.0


def test_nothing_follows_before_the_first_look(quick: Served) -> None:
    assert asyncio.run(Hub(quick.exchange).after(0)) == ()
