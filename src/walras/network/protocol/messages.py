"""Messages as bytes: a fixed layout, a size limit, and one clear error for anything else.

Little-endian: magic, network, sender and receiver with their epochs, number, confirmed, tick,
flags; the running sums (width, int64); price (float64) and model (width - 1, float64) when flagged;
records; CRC-32 of all before. Nothing in it is ever evaluated or unpickled.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from walras.errors import WalrasError
from walras.network.protocol.records import Incarnation, Record
from walras.types import Floats, Longs

_HEAD = struct.Struct("<4s8sHHIIQQQBH")
_RECORD = struct.Struct("<IHQBHH")
_LIFE = struct.Struct("<HI")
_CRC = struct.Struct("<I")
_MAGIC = b"WNT1"
_VALUES, _OPEN = 1, 2
_MOST = 2**62  # numbers and versions are below this
_LIVES = 2**22  # epochs are below this; they are the high bits of a version
_NUMBERS = f"0 or more, below {_MOST}"
_RECORDS = 1024  # number of latest decoded records that are kept


class MessageError(WalrasError):
    """Bytes that are not a message of this network; they are dropped, and nothing changes."""

    code = "WAL-1700"


@dataclass(frozen=True, eq=False)
class Message:
    """A message from one centre to a neighbour at one tick.

    Attributes:
        sender: The sending centre and its epoch.
        receiver: The receiving centre and its epoch as the sender knows it.
        number: Number of the sender's message on this link.
        confirmed: Number of the latest message that the sender took from the receiver.
        tick: The sender's tick.
        open: Whether the sender makes transfers: it has been leased in this life.
        sent: (width,) running sums of all transfers to the receiver, modulo 2^64.
        price: Its marginal cost, or None before it makes transfers.
        model: (width - 1,) its model, likewise.
        records: Records that the receiver may not have.
        versions: Centre and version of every record in it, also of skipped ones.
    """

    sender: Incarnation
    receiver: Incarnation
    number: int
    confirmed: int
    tick: int
    open: bool
    sent: Longs
    price: float | None
    model: Floats | None
    records: Sequence[Record] = ()
    versions: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True)
class Head:
    """The header that a driver needs: the sender and its tick."""

    sender: int
    tick: int


@dataclass(frozen=True)
class Codec:
    """Encodes and decodes the messages of one network.

    Attributes:
        network: 8 bytes that identify this network.
        centres: Number of centres.
        width: Entries of the running sums: 1 and the model's scalars.
        limit: Largest message in bytes; a record of each centre with 8 claims must fit. Records
            that do not fit wait for the next message.
    """

    network: bytes
    centres: int
    width: int
    limit: int = 0

    def __post_init__(self) -> None:
        claims = 8 * (_LIFE.size + 8 * self.width)
        least = self._fixed + self.centres * (self._record_size + claims)
        object.__setattr__(self, "limit", max(self.limit, least))

    def encode(self, message: Message) -> bytes:
        """Encode a message; records beyond the size limit are left out."""
        values = message.price is not None and message.model is not None
        parts = [np.asarray(message.sent, "<i8").tobytes()]
        if message.price is not None and message.model is not None:
            parts.append(struct.pack("<d", message.price))
            parts.append(np.asarray(message.model, "<f8").tobytes())
        size, packed = self._fixed, 0
        for record in message.records:
            if size + len(record.raw) > self.limit:
                break
            parts.append(record.raw)
            size, packed = size + len(record.raw), packed + 1
        head = _HEAD.pack(
            _MAGIC,
            self.network,
            message.sender[0],
            message.receiver[0],
            message.sender[1],
            message.receiver[1],
            message.number,
            message.confirmed,
            message.tick,
            _VALUES * values | _OPEN * message.open,
            packed,
        )
        content = head + b"".join(parts)
        return content + _CRC.pack(zlib.crc32(content))

    def decode(self, data: bytes, held: Sequence[int] = ()) -> Message:
        """Decode a message.

        Args:
            data: The received bytes.
            held: Version of each centre's record that the receiver has; records of the message that
                are no later are skipped. All are read when left out.

        Raises:
            MessageError: They are not a complete and valid message of this network.
        """
        self._check_size(data)
        if zlib.crc32(data[: -_CRC.size]) != _CRC.unpack(data[-_CRC.size :])[0]:
            raise _refuse("is damaged", "a CRC-32 that fits")
        reader = _Reader(data[: -_CRC.size])
        magic, network, *ends, number, confirmed, tick, flags, records = reader.unpack(_HEAD)
        if magic != _MAGIC or network != self.network:
            raise _refuse("belongs to another network or version", repr(self.network))
        self._check_ends(ends, (number, confirmed, tick), flags)
        sent = reader.ints(self.width)
        price = model = None
        if flags & _VALUES:
            price, model = float(reader.floats(1)[0]), reader.floats(self.width - 1)
            if not (math.isfinite(price) and np.isfinite(model).all()):
                raise _refuse("has a price or model that is not finite", "finite numbers")
        sealed = [self._next(reader) for _ in range(records)]
        reader.end()
        new = [
            _unpack(raw, self.centres, self.width)
            for centre, version, raw in sealed
            if centre >= len(held) or version > held[centre]
        ]
        sender, receiver, sender_epoch, receiver_epoch = ends
        return Message(
            (sender, sender_epoch),
            (receiver, receiver_epoch),
            number,
            confirmed,
            tick,
            bool(flags & _OPEN),
            sent,
            price,
            model,
            new,
            [s[:2] for s in sealed],
        )

    def peek(self, data: bytes) -> Head:
        """Read only the sender and the tick of a message.

        Raises:
            MessageError: It is too short or too long for this network.
        """
        self._check_size(data)
        _, _, sender, _, _, _, _, _, tick, _, _ = _HEAD.unpack_from(data)
        return Head(sender, tick)

    def _check_size(self, data: bytes) -> None:
        least = self._fixed - 8 * self.width
        if not least <= len(data) <= self.limit:
            raise _refuse(f"has {len(data)} bytes", f"{least}..{self.limit} bytes")

    @property
    def _fixed(self) -> int:
        return _HEAD.size + 16 * self.width + _CRC.size

    @property
    def _record_size(self) -> int:
        return _RECORD.size + 16 * self.centres

    def _check_ends(self, ends: list[int], counts: tuple[int, ...], flags: int) -> None:
        if max(ends[:2]) >= self.centres or ends[0] == ends[1]:
            raise _refuse(f"goes from {ends[0]} to {ends[1]}", f"two of 0..{self.centres - 1}")
        if max(counts) >= _MOST or max(ends[2:]) >= _LIVES:
            raise _refuse("has numbers beyond all use", f"below {_MOST}, epochs below {_LIVES}")
        if flags > (_VALUES | _OPEN):
            raise _refuse(f"has the flags {flags}", f"0..{_VALUES | _OPEN}")

    def pack(self, record: Record) -> bytes:
        """The bytes of a record."""
        parts = [
            np.asarray(record.heard, "<i8").tobytes(),
            np.asarray(record.suspected_dead, "<i4").tobytes(),
            np.asarray(record.confirmed_dead, "<i4").tobytes(),
        ]
        parts += [_LIFE.pack(*life) for life in sorted(record.settled)]
        for life, balance in sorted(record.claims.items()):
            some = bool(balance.any())
            parts.append(_LIFE.pack(life[0] | some << 15, life[1]))
            if some:
                parts.append(np.asarray(balance, "<i8").tobytes())
        body = b"".join(parts)
        head = _RECORD.pack(
            _RECORD.size + len(body),
            record.centre,
            record.version,
            record.done,
            len(record.settled),
            len(record.claims),
        )
        return head + body

    def _next(self, message: _Reader) -> tuple[int, int, bytes]:
        """The centre, version and bytes of the next record."""
        size, centre, version, *_ = message.peek(_RECORD)
        if centre >= self.centres or not 0 < version < _MOST or size < _RECORD.size:
            raise _refuse(
                f"has a record of centre {centre}, version {version}, {size} bytes",
                f"centre 0..{self.centres - 1}, version 1..{_MOST - 1}, {_RECORD.size} or more",
            )
        return centre, version, message.take(size)


@lru_cache(maxsize=_RECORDS)
def _unpack(raw: bytes, centres: int, width: int) -> Record:
    """Decode a record; a simulator's centres all share the decoded one."""
    reader = _Reader(raw)
    _, centre, version, done, settled, claims = reader.unpack(_RECORD)
    heard = reader.ints(centres)
    suspected_dead, confirmed_dead = reader.epochs(centres), reader.epochs(centres)
    least = min(heard.min(), suspected_dead.min(), confirmed_dead.min())
    if least < 0 or heard.max() >= _MOST:
        raise _refuse(f"has a record of centre {centre} with numbers out of range", _NUMBERS)
    over = frozenset(_life(reader, centres)[0] for _ in range(settled))
    claimed = dict(_claim(reader, centres, width) for _ in range(claims))
    reader.end()
    for shared in (heard, *claimed.values()):
        shared.flags.writeable = False  # since all readers of these bytes share it
    suspected_dead.flags.writeable = confirmed_dead.flags.writeable = False
    return Record(
        centre, version, heard, suspected_dead, confirmed_dead, done != 0, over, claimed, raw
    )


def _claim(reader: _Reader, centres: int, width: int) -> tuple[Incarnation, Longs]:
    life, some = _life(reader, centres)
    return life, reader.ints(width) if some else np.zeros(width, np.int64)


def _life(reader: _Reader, centres: int) -> tuple[Incarnation, bool]:
    centre, epoch = reader.unpack(_LIFE)
    some, centre = bool(centre >> 15), centre & 0x7FFF
    if centre >= centres:
        raise _refuse(f"speaks of centre {centre}", f"0..{centres - 1}")
    return (centre, epoch), some


class _Reader:
    """Reads values from the front of bytes, and refuses missing or extra bytes."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def unpack(self, layout: struct.Struct) -> tuple[Any, ...]:
        return layout.unpack(self.take(layout.size))

    def peek(self, layout: struct.Struct) -> tuple[Any, ...]:
        if self._at + layout.size > len(self._data):
            raise _refuse("ends too early", f"{self._at + layout.size} bytes at least")
        return layout.unpack_from(self._data, self._at)

    def ints(self, count: int) -> Longs:
        return np.frombuffer(self.take(8 * count), "<i8").astype(np.int64)

    def epochs(self, count: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        return np.frombuffer(self.take(4 * count), "<i4").astype(np.int32)

    def floats(self, count: int) -> Floats:
        return np.frombuffer(self.take(8 * count), "<f8").astype(np.float64)

    def end(self) -> None:
        if self._at != len(self._data):
            raise _refuse(f"has {len(self._data) - self._at} bytes too many", "none after its end")

    def take(self, size: int) -> bytes:
        self._at += size
        if self._at > len(self._data):
            raise _refuse("ends too early", f"{self._at} bytes at least")
        return self._data[self._at - size : self._at]


def _refuse(what: str, allowed: str) -> MessageError:
    return MessageError(
        what,
        where="message",
        allowed=allowed,
        remedy="it was dropped; see that every centre runs the same version and configuration",
    )
