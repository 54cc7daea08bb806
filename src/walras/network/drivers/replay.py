"""Recorded traces played again: the same calls, the same states, and books that agree."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from walras.errors import DataError
from walras.network.drivers.bundle import unpack_charter, unpack_terms
from walras.network.drivers.deploy import FILE
from walras.network.drivers.trace import TAKE, TICK, Event, Trace, apply, traces
from walras.network.protocol.auditing import Books, books
from walras.network.protocol.centre import Terms
from walras.network.protocol.messages import MessageError
from walras.network.protocol.node import Charter, Node
from walras.network.quanta import AuditError

_AUDIT_EVERY = 500  # events


@dataclass(frozen=True, eq=False)
class Replay:
    """What a replay found.

    Attributes:
        nodes: The last life of every centre, as its trace left it.
        events: Ticks and messages that were played.
        audits: How often the books were taken; they agreed each time.
        books: Where all quanta were at the end.
        same: Whether each centre's state is the one that its process ended with; None for those
            that did not end well.
    """

    nodes: tuple[Node, ...]
    events: int
    audits: int
    books: Books
    same: tuple[bool | None, ...]


def replay(folder: Path, *, progress: Callable[[int, int], None] | None = None) -> Replay:
    """Play all traces of a deployment again, in an order in which each message is sent first.

    Every message that a centre took must be one that another's replay sends, byte for byte.

    Args:
        folder: Of the deployment.
        progress: Called with the bytes of traces read, and in all.

    Raises:
        DataError: A file is missing or damaged, or a message was taken that none sent.
        AuditError: A quantum was lost or made.
    """
    shared = _read(folder / FILE)
    charter = unpack_charter(shared["charter"])
    players = [
        _Player(unpack_terms(packed), charter, traces(folder, k))
        for k, packed in enumerate(shared["terms"])
    ]
    sent: list[set[bytes]] = [set() for _ in players]
    total = sum(t.path.stat().st_size for player in players for t in player.traces)
    events = audits = 0
    moved = True
    while moved:
        moved = False
        for k, player in enumerate(players):
            for _ in range(_AUDIT_EVERY):
                if not player.can_go(sent[k]):
                    break
                for receiver, data in player.go():
                    sent[receiver].add(_mark(data))
                moved, events = True, events + 1
        _check([life for player in players for life in player.lives], events)
        audits += 1
        if progress is not None:
            progress(min(total, sum(player.read for player in players)), total)
    stuck = [k for k, player in enumerate(players) if player.next is not None]
    if stuck:
        raise DataError(
            "took a message that no centre sent", where=f"trace of centre {stuck[0]}",
            allowed="messages that the other traces explain",
            remedy="the traces are of different deployments, or were changed",
        )  # fmt: skip
    nodes = tuple(player.lives[-1] for player in players)
    final = books([life for player in players for life in player.lives])
    return Replay(nodes, events, audits, final, _same(folder, nodes))


class _Player:
    """One centre's traces, played event by event."""

    def __init__(self, terms: Terms, charter: Charter, recorded: list[Trace]) -> None:
        if not recorded:
            raise DataError(
                "has no trace", where=f"centre {terms.centre}", allowed="one trace at least",
                remedy="give the folder of a deployment that ran",
            )  # fmt: skip
        self.traces = recorded
        self.lives: list[Node] = []
        self.read = 0
        self._terms, self._charter = terms, charter
        self._events = self._all()
        self.next: Event | None = None
        self._advance()

    def can_go(self, sent: set[bytes]) -> bool:
        """Whether the next event may happen: a message has to be sent first."""
        event = self.next
        if event is None:
            return False
        return event.kind != TAKE or _mark(event.data) in sent or not self._sound(event)

    def go(self) -> list[tuple[int, bytes]]:
        """Let it happen."""
        event, out = self.next, []
        if event is not None:
            self.read += 13 + len(event.data)
            with contextlib.suppress(MessageError):  # as when it happened: it was dropped
                out = apply(self.lives[-1], event)
            self._advance()
            out = out if event.kind == TICK else []
        return out

    def _sound(self, event: Event) -> bool:
        try:
            self._charter.codec.decode(event.data)
        except MessageError:
            return False
        return True

    def _all(self) -> Iterator[tuple[Trace, Event]]:
        for trace in self.traces:
            yield from ((trace, event) for event in trace.events())

    def _advance(self) -> None:
        found = next(self._events, None)
        self.next = None if found is None else found[1]
        trace = self.traces[-1] if found is None else found[0]
        while len(self.lives) <= self.traces.index(trace):
            memory = self.traces[len(self.lives)].memory
            self.lives.append(Node(self._terms, self._charter, memory))


def _mark(data: bytes) -> bytes:
    return blake2b(data, digest_size=12).digest()


def _check(lives: list[Node], events: int) -> None:
    found = books(lives)
    if found.difference.any() or found.least_in_flight < 0:
        raise AuditError(
            f"{found.difference.tolist()} quanta are over or missing", where=f"event {events}",
            allowed="exactly 0", remedy="report this as a defect, with the traces",
        )  # fmt: skip


def _same(folder: Path, nodes: tuple[Node, ...]) -> tuple[bool | None, ...]:
    path = folder / "final.json"
    if not path.exists():
        return (None,) * len(nodes)
    digests = _read(path)
    return tuple(
        node.digest == digest if digest else None
        for node, digest in zip(nodes, digests, strict=True)
    )


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(
            f"cannot be read: {error}", where=str(path), allowed="the folder of a deployment",
            remedy="give the folder that walras network deploy printed",
        ) from error  # fmt: skip
