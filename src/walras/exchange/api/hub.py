"""Events for open streams: one look at the database for all of them, in order, without gaps."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from walras.exchange.errors import BusyError, ExchangeError
from walras.exchange.runtime.exchange import Exchange
from walras.exchange.service import events
from walras.exchange.store.statements import Transaction

T = TypeVar("T")
log = logging.getLogger("walras.api")

STREAMS = 32
"""Streams that a token may have open at once."""

_PAUSE = 0.2  # seconds between looks, while a stream is open
_KEPT = 10_000  # events in memory; a stream that resumes from before reads the database
_PATIENCE = 5.0  # seconds that a number may be missing: a transaction that is slow, or was undone


@dataclass(frozen=True)
class Event:
    """An event.

    Attributes:
        id: Its number; grows.
        tenant: Whose it is; None for operators.
        at: When it happened.
        kind: Such as ``task.succeeded``.
        subject: What it is about.
        data: More, as JSON.
    """

    id: int
    tenant: str | None
    at: float
    kind: str
    subject: str
    data: str


class Hub:
    """Looks for new events while streams are open.

    Transactions of several processes end in another order than their events are numbered. A number
    that is missing is waited for, so that no stream passes over an event that comes late.

    Args:
        exchange: Where they are.
    """

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self._events: deque[Event] = deque(maxlen=_KEPT)
        self._last: int | None = None
        self._missing: tuple[int, float] = (0, 0.0)
        self._streams = 0
        self._of: Counter[str] = Counter()
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def streams(self) -> int:
        """How many streams are open."""
        return self._streams

    async def newest(self) -> int:
        """The number of the last event that streams have seen or will see."""
        if self._last is None:
            return await self._asked(events.newest)
        return self._last

    def open(self, token: str) -> None:
        """Count a stream of a token.

        Raises:
            BusyError: It has as many as it may.
        """
        if self._of[token] >= STREAMS:
            raise BusyError(
                f"has {STREAMS} open streams of events",
                where="token",
                allowed=f"at most {STREAMS} streams a token",
                remedy="close some, or share one stream",
            )
        self._of[token] += 1
        self._streams += 1
        if self._task is None or self._task.done():
            self._events.clear()
            self._last = None
            self._task = asyncio.create_task(self._look())

    def close(self, token: str) -> None:
        """A stream of a token has ended."""
        self._streams -= 1
        self._of[token] -= 1
        if not self._of[token]:
            del self._of[token]

    async def after(self, last: int, most: int = 500) -> Sequence[Event]:
        """Events that follow one; none where there is none yet."""
        if self._last is None or last >= self._last:
            return ()
        if self._events and self._events[0].id <= last + 1:
            return [event for event in self._events if event.id > last][:most]
        end = self._last
        rows = await self._asked(lambda tx: events.after(tx, last, most))
        return [made for row in rows if (made := _event(row)).id <= end]

    async def wait(self, seconds: float) -> None:
        """Wait until there may be more, at most so long."""
        news = self._news
        try:
            async with asyncio.timeout(seconds):
                await news.wait()
        except TimeoutError:
            return

    def wake(self) -> None:
        """Let every stream look now: for news, or for the end of the service."""
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def _look(self) -> None:
        while self._streams and not self.exchange.stopping.is_set():
            try:
                await self._turn()
            except ExchangeError as error:  # the database cannot be read now: at the next turn
                log.warning("events: %s", error)
            await asyncio.sleep(_PAUSE)

    async def _turn(self) -> None:
        last = self._last
        if last is None:
            self._last = await self._asked(events.newest)
            return
        rows = await self._asked(lambda tx: events.after(tx, last))
        fresh = self.settled(last, [_event(row) for row in rows], self.exchange.now())
        if fresh:
            self._events.extend(fresh)
            self._last = fresh[-1].id
            self.wake()

    async def _asked(self, work: Callable[[Transaction], T]) -> T:
        return await asyncio.wrap_future(self.exchange.read_soon(work))

    def settled(self, last: int, found: Sequence[Event], now: float) -> list[Event]:
        """The events before the first number that is missing and may still come."""
        made: list[Event] = []
        for event in found:
            if event.id != last + 1 and not self._given_up(last + 1, now):
                break
            made.append(event)
            last = event.id
        return made

    def _given_up(self, number: int, now: float) -> bool:
        """Whether a missing number has been waited for long enough."""
        if self._missing[0] != number:
            self._missing = (number, now)
        return now - self._missing[1] > _PATIENCE


def _event(row: tuple[Any, ...]) -> Event:
    return Event(int(row[0]), row[1], float(row[2]), row[3], row[4], row[5])
