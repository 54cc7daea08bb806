"""Schedules of ticks: by the clock, or in rounds with the neighbours."""

from __future__ import annotations

import time
from collections.abc import Iterator, Set
from typing import Protocol

from walras.network.drivers.recorded_node import RecordedNode

_LOOK = 0.1  # seconds between looks at the missing neighbours
# largest counted time between two looks, since a process that slept blames nobody for it
_AWAKE = 1.0
_HUNG = 20.0  # multiple of the patience for a neighbour whose connection is up


class Pace(Protocol):
    """Decides when to tick, and when messages are due."""

    @property
    def now(self) -> int:
        """The node's clock."""

    def wait(self) -> int:
        """Milliseconds until the next event, unless a message comes first."""

    def keep(self, sender: int, tick: int, data: bytes) -> None:
        """Queue a message."""

    def due(self) -> Iterator[tuple[int, bytes]]:
        """The messages that are due."""

    def ready(self) -> bool:
        """Whether to tick."""

    def tick(self) -> int:
        """The time of the tick that now begins."""


class Clock:
    """Ticks every few milliseconds; messages are due at once.

    Args:
        recorded: The recorded node.
        period: Milliseconds between ticks.
    """

    def __init__(self, recorded: RecordedNode, period: int) -> None:
        # The host's clock continues from where an earlier process, or an earlier boot, had left it.
        self._shift = max(0, recorded.last + 1 - _milliseconds())
        self._period, self._next = period, self.now
        self._kept: list[tuple[int, bytes]] = []

    @property
    def now(self) -> int:
        """The clock in milliseconds."""
        return _milliseconds() + self._shift

    def wait(self) -> int:
        """Milliseconds until the next tick."""
        return self._next - self.now

    def keep(self, sender: int, tick: int, data: bytes) -> None:
        """Queue the message for this turn only."""
        self._kept.append((sender, data))

    def due(self) -> Iterator[tuple[int, bytes]]:
        """All queued messages."""
        kept, self._kept = self._kept, []
        yield from kept

    def ready(self) -> bool:
        """Whether the period is over."""
        return self.now >= self._next

    def tick(self) -> int:
        """The present time; missed ticks are not repeated."""
        now = self.now
        self._next = max(self._next + self._period, now + 1)
        return now


class Rounds:
    """Ticks when every neighbour's message of the last round has come.

    Messages of later rounds wait, so a run does not depend on the centres' speeds. The node waits
    for a running neighbour, however slow its host is. It does not wait for a neighbour whose
    connection is down for ``patience``, or that stands still for 20 times as long, until that
    neighbour catches up.

    Args:
        recorded: The recorded node.
        patience: Seconds to wait for a neighbour without connection.
        lost: The neighbours whose connections are down; the transport updates it.
    """

    def __init__(self, recorded: RecordedNode, patience: float, lost: Set[int]) -> None:
        self._recorded, self._patience, self._lost = recorded, patience, lost
        self._kept: dict[tuple[int, int], bytes] = {}  # by tick and sender
        self._latest: dict[int, int] = {}
        self._late: set[int] = set()
        self._waited, self._looked = 0.0, time.monotonic()

    @property
    def now(self) -> int:
        """The number of the round."""
        return max(0, self._recorded.node.ticks - 1)

    def wait(self) -> int:
        """Milliseconds until the next look at the missing neighbours."""
        return 0 if self._complete() else int(1000 * _LOOK)

    def keep(self, sender: int, tick: int, data: bytes) -> None:
        """Queue the message for its round."""
        self._kept[tick, sender] = data
        self._latest[sender] = max(self._latest.get(sender, 0), tick)
        if tick >= self._recorded.node.ticks:
            self._late.discard(sender)

    def due(self) -> Iterator[tuple[int, bytes]]:
        """Messages of the round and of earlier ones in order, once the round is complete."""
        if not self._complete():
            return
        for tick, sender in sorted(
            key for key in self._kept if key[0] <= self._recorded.node.ticks
        ):
            yield sender, self._kept.pop((tick, sender))

    def ready(self) -> bool:
        """Whether the round is complete."""
        return self._complete()

    def tick(self) -> int:
        """The number of the next round."""
        self._waited = 0.0
        return self._recorded.node.ticks

    def _look(self) -> None:
        """Count the time since the last look as waiting."""
        now = time.monotonic()
        self._waited += min(now - self._looked, _AWAKE)
        self._looked = now

    def _complete(self) -> bool:
        self._look()
        ticks = self._recorded.node.ticks
        missing = {
            j
            for j in self._recorded.node.node_config.weights
            if self._latest.get(j, 0) < ticks and j not in self._late
        }
        if self._waited >= self._patience:
            hung = self._waited >= _HUNG * self._patience
            self._late |= missing if hung else missing & self._lost
        return missing <= self._late


def _milliseconds() -> int:
    return time.monotonic_ns() // 1_000_000
