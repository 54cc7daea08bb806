"""A node's life as a file: every tick and every message it took, before it took them.

A line of JSON (what the node was made from), then records: kind (1 byte), the driver's clock (8),
length (4), bytes. Since a node is nothing but a function of these, a trace is both a record to
replay and a journal to resume from. Records are written before they take effect and messages leave
after, so that a killed process forgets nothing that anyone heard.
"""

from __future__ import annotations

import json
import os
import re
import struct
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from walras.errors import DataError
from walras.network.protocol.membership import Memory
from walras.network.protocol.node import Node

_RECORD = struct.Struct("<cqI")
_MOST = 2**28
TICK, TAKE, EXTEND = b"t", b"m", b"x"


@dataclass(frozen=True)
class Event:
    """One thing that happened to a node.

    Attributes:
        kind: ``TICK``, ``TAKE`` (a message) or ``EXTEND`` (more steps).
        now: The driver's clock.
        data: The message, or the number of steps.
    """

    kind: bytes
    now: int
    data: bytes = b""


_NAME = re.compile(r"centre-\d+\.(\d+)\.trace")


def path_of(folder: Path, centre: int, epoch: int) -> Path:
    """Where the trace of one life is kept."""
    return folder / f"centre-{centre:03d}.{epoch}.trace"


class Recorder:
    """Writes a trace, record by record, straight to the operating system.

    Args:
        path: Of a new trace, or of one to go on with.
        memory: The node's stable storage when its life begins; None to go on.
    """

    def __init__(self, path: Path, memory: Memory | None) -> None:
        flags = os.O_WRONLY | os.O_APPEND | (os.O_CREAT | os.O_TRUNC if memory else 0)
        self._file = os.open(path, flags, 0o600)
        if memory is not None:
            os.write(self._file, json.dumps(asdict(memory)).encode() + b"\n")

    def note(self, event: Event) -> None:
        """Append an event."""
        head = _RECORD.pack(event.kind, event.now, len(event.data))
        os.write(self._file, head + event.data)

    def close(self) -> None:
        """No more will come."""
        os.close(self._file)


@dataclass(frozen=True)
class Trace:
    """A recorded life.

    Attributes:
        path: Its file.
        memory: The node's stable storage when it began.
    """

    path: Path
    memory: Memory

    @classmethod
    def open(cls, path: Path) -> Trace:
        """Read a trace's first line.

        Raises:
            DataError: It is no trace.
        """
        try:
            with path.open("rb") as file:
                head = json.loads(file.readline())
            return cls(path, Memory(int(head["epoch"]), tuple(int(c) for c in head["condemned"])))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"is no trace: {error}", where=str(path), allowed="a file that a centre wrote",
                remedy="give the folder of a deployment",
            ) from error  # fmt: skip

    def events(self) -> Iterator[Event]:
        """What happened, in order; a record that a kill cut short is left out.

        Raises:
            DataError: A record is of no known kind.
        """
        with self.path.open("rb") as file:
            file.readline()
            while len(head := file.read(_RECORD.size)) == _RECORD.size:
                kind, now, size = _RECORD.unpack(head)
                if kind not in (TICK, TAKE, EXTEND) or size > _MOST:
                    raise DataError(
                        f"has a record of kind {kind!r} and {size} bytes", where=str(self.path),
                        allowed="records as a centre wrote them", remedy="the file is damaged",
                    )  # fmt: skip
                data = file.read(size)
                if len(data) < size:
                    return
                yield Event(kind, now, data)


def traces(folder: Path, centre: int) -> list[Trace]:
    """The traces of a centre's lives, the latest life last."""
    found = folder.glob(f"centre-{centre:03d}.*.trace")
    named = [(int(m[1]), path) for path in found if (m := _NAME.fullmatch(path.name))]
    return [Trace.open(path) for _, path in sorted(named)]


def apply(node: Node, event: Event) -> list[tuple[int, bytes]]:
    """Let an event happen to a node; returns the messages it answers with.

    Raises:
        MessageError: The event's message is none.
    """
    if event.kind == TICK:
        return node.tick(event.now)
    if event.kind == EXTEND:
        node.extend(int.from_bytes(event.data, "little"))
    else:
        node.on_message(event.data, event.now)
    return []
