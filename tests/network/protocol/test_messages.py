"""Messages survive the wire; anything else is one clear error, and changes nothing."""

from __future__ import annotations

import struct
import zlib

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from tests.network.protocol.world import World

from walras.network.graph.network import Network
from walras.network.protocol.messages import Codec, Message, MessageError
from walras.network.protocol.records import Record, version_of

CODEC = Codec(b"testbed0", 4, 3)


def _record(centre: int = 1, heartbeat: int = 7) -> Record:
    record = Record(
        centre,
        version_of(1, heartbeat),
        np.arange(4),
        np.array([0, 1, 0, 2], np.int32),
        np.zeros(4, np.int32),
        True,
        frozenset({(3, 0), (3, 1)}),
        {(3, 1): np.array([-5, 2**62, 0]), (2, 0): np.zeros(3, np.int64)},
    )
    return Record(**{**vars(record), "raw": CODEC.pack(record)})


def _message(**changes: object) -> Message:
    fields = {
        "sender": (0, 2),
        "receiver": (1, 0),
        "number": 5,
        "confirmed": 4,
        "tick": 9,
        "open": True,
        "sent": np.array([2**63 - 1, -(2**63), 7]),
        "price": 0.1,
        "model": np.array([1e-300, -2.5]),
        "records": [_record()],
    }
    return Message(**{**fields, **changes})  # type: ignore[arg-type]


def _sealed(content: bytes) -> bytes:
    return content + struct.pack("<I", zlib.crc32(content))


def test_what_is_decoded_is_what_was_encoded() -> None:
    data = CODEC.encode(_message())
    found = CODEC.decode(data)
    assert (found.sender, found.receiver) == ((0, 2), (1, 0))
    assert (found.number, found.confirmed, found.tick, found.open) == (5, 4, 9, True)
    assert found.sent.tolist() == [2**63 - 1, -(2**63), 7]
    assert (found.price, found.model.tolist()) == (0.1, [1e-300, -2.5])  # type: ignore[union-attr]
    record = found.records[0]
    assert (record.centre, record.version, record.done) == (1, version_of(1, 7), True)
    assert record.settled == {(3, 0), (3, 1)}
    assert {k: v.tolist() for k, v in record.claims.items()} == {
        (3, 1): [-5, 2**62, 0],
        (2, 0): [0, 0, 0],
    }
    assert record.raw == _record().raw
    assert CODEC.encode(_message(records=[record])) == data


def test_records_that_are_held_are_left_out_unread() -> None:
    data = CODEC.encode(_message(records=[_record(1, 7), _record(2, 8)]))
    found = CODEC.decode(data, held=[0, version_of(1, 7), version_of(1, 7), 0])
    assert [r.centre for r in found.records] == [2]
    assert found.versions == [(1, version_of(1, 7)), (2, version_of(1, 8))]


def test_numbers_below_the_limit_pass() -> None:
    assert CODEC.decode(CODEC.encode(_message(number=2**62 - 1))).number == 2**62 - 1


def test_records_that_do_not_fit_wait() -> None:
    many = [_record(k % 4, 7 + k) for k in range(1000)]
    data = CODEC.encode(_message(records=many))
    assert len(data) <= CODEC.limit
    assert 0 < len(CODEC.decode(data).records) < 1000


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "0 bytes"),
        (b"x" * (CODEC.limit + 1), f"{CODEC.limit + 1} bytes"),
        (CODEC.encode(_message())[:-1], "damaged"),
        (_sealed(CODEC.encode(_message())[:-4] + b"\0"), "1 bytes too many"),
        (Codec(b"another0", 4, 3).encode(_message()), "another network"),
        (CODEC.encode(_message(sender=(9, 0))), "goes from 9 to 1"),
        (CODEC.encode(_message(receiver=(0, 0))), "goes from 0 to 0"),
        (CODEC.encode(_message(price=float("nan"))), "not finite"),
        (CODEC.encode(_message(model=np.array([np.inf, 0.0]))), "not finite"),
        (CODEC.encode(_message(number=2**63)), "beyond all use"),
        (CODEC.encode(_message(number=2**62)), "beyond all use"),
    ],
)
def test_bad_messages_are_named(data: bytes, what: str) -> None:
    with pytest.raises(MessageError) as error:
        CODEC.decode(data)
    assert what in str(error.value)
    assert "dropped" in str(error.value)


@given(st.data())
def test_damage_and_garbage_change_nothing(data: st.DataObject) -> None:
    """Bytes cut, changed or made up, with a right checksum or a wrong one."""
    world = World(Network.ring(4))
    rng = np.random.default_rng(0)
    for _ in range(12):
        world.round(rng)
    world.tick(1)
    sound = next(d for _, to, d in world.mail if to == 0)
    node, before = world.nodes[0], world.nodes[0].digest
    kind = data.draw(st.sampled_from(["flip", "cut", "made up"]))
    if kind == "flip":
        body = bytearray(sound[:-4])
        at = data.draw(st.integers(0, len(body) - 1))
        body[at] ^= data.draw(st.integers(1, 255))
        bad = bytes(body) + sound[-4:]
    elif kind == "cut":
        bad = _sealed(sound[: data.draw(st.integers(0, len(sound) - 5))])
    else:
        bad = _sealed(data.draw(st.binary(max_size=2 * len(sound))))
    with pytest.raises(MessageError):
        node.on_message(bad, world.now)
    assert node.digest == before
    node.on_message(sound, world.now)
    world.check()


@given(at=st.integers(0, 400), value=st.integers(0, 255))
def test_forged_bytes_never_lose_or_make_quanta_elsewhere(at: int, value: int) -> None:
    """An authenticated peer may lie with a right checksum: the receiver survives it."""
    world = World(Network.ring(4))
    rng = np.random.default_rng(1)
    for _ in range(12):
        world.round(rng)
    world.tick(1)
    body = bytearray(next(d for _, to, d in world.mail if to == 0)[:-4])
    body[at % len(body)] = value
    held = int(world.nodes[0].ledger.held[0])
    try:
        world.nodes[0].on_message(_sealed(bytes(body)), world.now)
    except MessageError:
        assert int(world.nodes[0].ledger.held[0]) == held
    assert 0 <= int(world.nodes[0].ledger.held[0]) - held <= world.quanta.total
