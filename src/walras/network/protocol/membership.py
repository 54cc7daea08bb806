"""Membership: heartbeats, leases and signed ends, merged from records in any order.

Records spread from neighbour to neighbour. Merging keeps the latest of each centre, so that loss,
repetition and reordering do no harm. Two rules make the use of shares safe, whatever happens to
messages:

* a centre is *leased* while more than half of all centres have heard a heartbeat that it made
  within the last ``lease``; a centre without a lease uses nothing and transfers nothing;
* a life is *ended* when more than half of all centres have signed so. A centre signs after
  ``lease + margin`` of silence, or when it hears of a later life; it keeps its signature on stable
  storage and takes no further heartbeat of that life.

Two majorities share a centre. It cannot have heard a heartbeat of the last ``lease`` and been
without one for longer: an ended life is not leased. Both sides of a partition continue with their
own holdings.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from walras.network.protocol.records import Incarnation, Record, version_of
from walras.network.protocol.settings import Settings
from walras.types import Ints, Longs


@dataclass(frozen=True)
class Memory:
    """The memory of a centre that must survive a crash: on stable storage before a message leaves.

    Attributes:
        epoch: The present life.
        suspected_dead: Number of epochs of each centre that it has signed as ended.
    """

    epoch: int
    suspected_dead: tuple[int, ...]

    @classmethod
    def first(cls, centres: int) -> Memory:
        """The memory of a centre that has never run."""
        return cls(0, (0,) * centres)

    def next_life(self, centre: int) -> Memory:
        """The memory of a centre that starts a new life: it signs its own past life as ended."""
        suspected_dead = list(self.suspected_dead)
        suspected_dead[centre] = max(suspected_dead[centre], self.epoch + 1)
        return Memory(self.epoch + 1, tuple(suspected_dead))


class Membership:
    """One centre's view of the living centres.

    Args:
        centre: Number of the centre.
        memory: Its stable storage.
        settings: Its leases and patience.

    Attributes:
        records: The latest record of each centre, None if there is none.
        ended: (centres,) number of epochs of each centre that are known to be ended.
        lease_until: The time until which the share may be used.
    """

    def __init__(self, centre: int, memory: Memory, settings: Settings) -> None:
        n = len(memory.suspected_dead)
        self.centre, self.memory, self._settings = centre, memory, settings
        self.records: list[Record | None] = [None] * n
        self.ended: Ints = np.zeros(n, np.int32)
        self.lease_until = -1
        self._majority = n // 2 + 1
        self._suspected_dead: Ints = np.zeros((n, n), np.int32)
        self._suspected_dead[centre] = memory.suspected_dead
        self._confirmed: Longs = np.zeros(n, np.int64)  # own version that each centre has heard
        self._advanced: list[int | None] = [None] * n  # time of the latest news of each centre
        self._held_by: dict[tuple[int, int], int] = {}  # version by neighbour and centre
        self._heartbeat = 0
        self._made: deque[tuple[int, int]] = deque()  # (version, time) of own recent heartbeats
        self._count()

    @property
    def version(self) -> int:
        """The version of its own latest record."""
        return version_of(self.memory.epoch, self._heartbeat)

    def is_ended(self, life: Incarnation) -> bool:
        """Whether more than half of the centres have signed that life's end."""
        return bool(life[1] < self.ended[life[0]])

    def leased(self, now: int) -> bool:
        """Whether the share may be used now."""
        return now < self.lease_until

    @property
    def versions(self) -> list[int]:
        """The version of each centre's latest record, 0 for none."""
        return [0 if r is None else r.version for r in self.records]

    def merge(
        self,
        records: Sequence[Record],
        now: int,
        sender: int = -1,
        versions: Sequence[tuple[int, int]] = (),
    ) -> bool:
        """Take records, unless later ones are known or their lives were signed as ended.

        Args:
            records: The records, in any order.
            now: The time of their arrival.
            sender: The neighbour that sent them.
            versions: Centre and version of all that the sender is known to hold.

        Returns:
            Whether anything was new.
        """
        for k, version in versions:
            self._held_by[sender, k] = version
        own, held = self._suspected_dead[self.centre], self.versions
        new = [
            r
            for r in records
            if r.centre != self.centre and r.version > held[r.centre] and r.epoch >= own[r.centre]
        ]
        for record in new:
            k = record.centre
            self.records[k] = record
            self._advanced[k] = now
            self._suspected_dead[k] = np.maximum(self._suspected_dead[k], record.suspected_dead)
            self._confirmed[k] = record.heard[self.centre]
            # A confirmation comes with all records of its sender. So a leased centre knows every
            # end that a majority knew before.
            self.ended = np.maximum(self.ended, record.confirmed_dead)
        if new:
            self._renew()
            self._count()
        return bool(new)

    def review(self, now: int) -> None:
        """Sign the ends of silent centres, and of lives before a known later one."""
        signed = self._suspected_dead[self.centre]
        for k, record in enumerate(self.records):
            if k == self.centre:
                continue
            if record is not None:
                signed[k] = max(signed[k], record.epoch)
            if self.leased(now) and self._silent(k, now):
                signed[k] = max(signed[k], (0 if record is None else record.epoch) + 1)
        self._remember()
        self._count()

    def speak(
        self,
        now: int,
        pack: Callable[[Record], bytes],
        *,
        done: bool,
        settled: frozenset[Incarnation],
        claims: Mapping[Incarnation, Longs],
    ) -> None:
        """Make the next heartbeat's record; it starts a new lease once a majority has it."""
        self._heartbeat += 1
        heard = np.array(self.versions, np.int64)
        heard[self.centre] = self._confirmed[self.centre] = self.version
        own = Record(
            self.centre,
            self.version,
            heard,
            self._suspected_dead[self.centre].copy(),
            self.ended.copy(),
            done,
            settled,
            dict(claims),
        )
        self.records[self.centre] = replace(own, raw=pack(own))
        self._made.append((self.version, now))
        self._renew()

    def news_for(self, neighbour: int) -> list[Record]:
        """The records that a neighbour is not known to have, the own one first."""
        known = self.records[neighbour]
        held = known.heard.tolist() if known is not None else [0] * len(self.records)
        news = [
            r
            for r in self.records
            if r is not None
            and r.version > held[r.centre]
            and r.version > self._held_by.get((neighbour, r.centre), 0)
        ]
        return sorted(news, key=lambda r: (r.centre - self.centre) % len(self.records))

    def _silent(self, k: int, now: int) -> bool:
        """Whether a centre has sent nothing new for longer than the lease plus the margin."""
        since = self._advanced[k]
        if since is None:  # it may still be starting, so count from the own first lease
            self._advanced[k] = now + self._settings.arrival
            return False
        return now - since > self._settings.lease + self._settings.margin

    def _renew(self) -> None:
        """Renew the lease from the latest own heartbeat that more than half have heard."""
        heard = int(np.sort(self._confirmed)[-self._majority])
        while self._made and self._made[0][0] < heard:
            self._made.popleft()
        if self._made and self._made[0][0] == heard:
            self.lease_until = max(self.lease_until, self._made[0][1] + self._settings.lease)

    def _count(self) -> None:
        """For each centre, the largest number of epochs that more than half have signed."""
        signed = np.sort(self._suspected_dead, axis=0)[-self._majority]
        self.ended = np.maximum(self.ended, signed)

    def _remember(self) -> None:
        self.memory = Memory(
            self.memory.epoch, tuple(int(e) for e in self._suspected_dead[self.centre])
        )
