"""The trace of a node's life: every tick and every taken message, written before it takes effect.

The first line names the trace's owner and the node's initial memory. Records follow: kind (1 byte),
the driver's clock (8), length (4), CRC-32 of these and the content (4), content. A node is a
function of these records, so a trace serves both to replay and to resume. Records are written
before they take effect, and messages leave after that. So a killed process forgets nothing that
another centre received.

A process that is killed while it writes leaves a torn record at the end. This record never took
effect, so it is cut off before the trace continues. The last record of a process that ended in
order is the fingerprint of its state.
"""

from __future__ import annotations

import json
import os
import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from walras.errors import DataError
from walras.network.drivers.folder import cannot_write, write_whole
from walras.network.protocol.membership import Memory
from walras.network.protocol.node import Node

_FORMAT = 3
_RECORD = struct.Struct("<cqII")
_CHECKED = struct.Struct("<cqI")
_CLOCK = struct.Struct("<cq")
HEAD_BYTES = _RECORD.size
_MOST = 2**28
TICK, TAKE, EXTEND, CLOSE = b"t", b"m", b"x", b"c"
_KINDS = (TICK, TAKE, EXTEND, CLOSE)


@dataclass(frozen=True)
class Event:
    """One event of a node.

    Attributes:
        kind: ``TICK``, ``TAKE`` (a message), ``EXTEND`` (more steps), or ``CLOSE`` (its process
            ended in order).
        now: The driver's clock.
        data: The message, the number of steps, or the fingerprint of the state.
    """

    kind: bytes
    now: int
    data: bytes = b""


_NAME = re.compile(r"centre-\d+\.(\d+)\.trace")


def path_of(folder: Path, centre: int, epoch: int) -> Path:
    """The path of the trace of one life."""
    return folder / f"centre-{centre:03d}.{epoch}.trace"


@dataclass(frozen=True)
class Owner:
    """The owner of a trace.

    Attributes:
        deployment: A name that no other deployment has.
        centre: Its number.
    """

    deployment: str
    centre: int


class Recorder:
    """Appends records to a trace.

    Args:
        path: Path of an existing trace.
        end: End of its last complete record; later bytes are cut off.

    Attributes:
        grown: Bytes appended after ``end``.

    Raises:
        DataError: The file cannot be written.
    """

    def __init__(self, path: Path, end: int) -> None:
        self._path, self._begun, self._end = path, end, end
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
            os.ftruncate(self._file, end)
        except OSError as error:
            raise cannot_write(path, error) from error

    @classmethod
    def new(cls, path: Path, owner: Owner, memory: Memory, state: Any = None) -> Recorder:
        """Begin a trace, and replace an existing one.

        Args:
            path: Path of its file.
            owner: Its owner.
            memory: The node's stable storage when its life began.
            state: The node's state, if earlier records are left out.

        Raises:
            DataError: The file cannot be written.
        """
        head = {"format": _FORMAT, **asdict(owner), **asdict(memory), "state": state}
        line = json.dumps(head).encode()
        content = b"%08x %s\n" % (zlib.crc32(line), line)
        write_whole(path, content)
        return cls(path, len(content))

    @property
    def grown(self) -> int:
        """Bytes that were appended."""
        return self._end - self._begun

    def note(self, event: Event) -> None:
        """Append an event.

        Raises:
            DataError: The disk is full, or fails; the trace then ends with the previous record.
        """
        head = _CHECKED.pack(event.kind, event.now, len(event.data))
        checksum = zlib.crc32(event.data, zlib.crc32(head))
        rest = memoryview(head + checksum.to_bytes(4, "little") + event.data)
        size = len(rest)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._file, self._end)
            raise cannot_write(self._path, error) from error
        self._end += size

    def sync(self) -> None:
        """Flush all records to the disk, so that they survive a loss of power.

        Raises:
            DataError: The disk fails.
        """
        try:
            os.fsync(self._file)
        except OSError as error:
            raise cannot_write(self._path, error) from error

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


@dataclass(frozen=True, eq=False)
class Trace:
    """A recorded life.

    Attributes:
        path: Its file.
        owner: Its owner.
        memory: The node's stable storage when its life began.
        state: The node's state at the first record; None for a life from its beginning.
        begin: Position of the first record.
    """

    path: Path
    owner: Owner
    memory: Memory
    state: Any
    begin: int

    @classmethod
    def open(cls, path: Path) -> Trace:
        """Read a trace's first line.

        Raises:
            DataError: It is not a trace.
        """
        try:
            with path.open("rb") as file:
                first = file.readline()
            checksum, _, line = first.rstrip(b"\n").partition(b" ")
            if int(checksum, 16) != zlib.crc32(line):
                raise ValueError("its first line is damaged")
            head = json.loads(line)
            memory = Memory(int(head["epoch"]), tuple(int(c) for c in head["suspected_dead"]))
            owner = Owner(str(head["deployment"]), int(head["centre"]))
            return cls(path, owner, memory, head["state"], len(first))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"is no trace: {error}",
                where=str(path),
                allowed="a file that a centre wrote",
                remedy="give the folder of a deployment",
            ) from error

    def events(self) -> Iterator[Event]:
        """The events in order; a torn last record is left out.

        Raises:
            DataError: A record is damaged, and it is not the last one.
        """
        return (event for event, _ in self.records())

    def records(self) -> Iterator[tuple[Event, int]]:
        """The events in order, each with the end of its record; a torn last record is left out.

        Raises:
            DataError: A record is damaged, and it is not the last one.
        """
        at, length = self.begin, self.path.stat().st_size
        with self.path.open("rb") as file:
            file.seek(at)
            while len(head := file.read(_RECORD.size)) == _RECORD.size:
                kind, now, size, checksum = _RECORD.unpack(head)
                data = file.read(size) if size <= _MOST else b""
                end = at + _RECORD.size + size
                if kind in _KINDS and size <= _MOST and end > length:
                    return  # torn
                if zlib.crc32(data, zlib.crc32(head[: _CHECKED.size])) != checksum:
                    # A loss of power may leave the last record with zeros or without its content.
                    if end == length or not (head + data + file.read()).strip(b"\0"):
                        return
                    raise self._damaged(at)
                if kind not in _KINDS:
                    raise self._damaged(at)
                yield Event(kind, now, data), end
                at = end

    def torn_tick(self, end: int) -> Event | None:
        """The tick in a torn last record, if there is one.

        Its messages may have left if a loss of power tore the record later. A tick has no content,
        so its clock completes it, and it does no harm if it happens again.
        """
        with self.path.open("rb") as file:
            file.seek(end)
            rest = file.read(_RECORD.size)
        if len(rest) < _CLOCK.size or rest[:1] != TICK:
            return None
        return Event(TICK, _CLOCK.unpack_from(rest)[1])

    def _damaged(self, at: int) -> DataError:
        return DataError(
            f"is damaged at byte {at}",
            where=str(self.path),
            allowed="records as a centre wrote them",
            remedy="restore the file, or start a new deployment in another folder",
        )


def traces(folder: Path, owner: Owner) -> list[Trace]:
    """The traces of a centre's lives, with the latest life last.

    Raises:
        DataError: A file is not a trace, or belongs to another centre or deployment.
    """
    found = folder.glob(f"centre-{owner.centre:03d}.*.trace")
    named = [(int(m[1]), path) for path in found if (m := _NAME.fullmatch(path.name))]
    opened = [Trace.open(path) for _, path in sorted(named)]
    for trace, (epoch, _) in zip(opened, sorted(named), strict=True):
        if (trace.owner, trace.memory.epoch) != (owner, epoch):
            raise DataError(
                f"is that of centre {trace.owner.centre}, life {trace.memory.epoch}, in deployment "
                f"{trace.owner.deployment}: no centre sent its messages here",
                where=str(trace.path),
                allowed=f"that of centre {owner.centre}, life {epoch}, in {owner.deployment}",
                remedy="put every centre's own traces into the folder",
            )
    return opened


def apply(node: Node, event: Event) -> list[tuple[int, bytes]]:
    """Apply an event to a node; return the messages that it answers.

    Raises:
        MessageError: The event's message is invalid.
    """
    if event.kind == TICK:
        return node.tick(event.now)
    if event.kind == EXTEND:
        node.extend(int.from_bytes(event.data, "little"))
    elif event.kind == TAKE:
        node.on_message(event.data, event.now)
    return []
