"""The bytes of messages, written out by their layout; what is out of range is named."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace

import numpy as np
import pytest

from walras.network.protocol.messages import Codec, Head, Message, MessageError
from walras.network.protocol.records import Record, version_of

CENTRES, WIDTH = 4, 3
CODEC = Codec(b"testbed0", CENTRES, WIDTH)
HEAD = "<4s8s HH II QQQ B H".replace(" ", "")
LEAST = 51 + 8 * WIDTH + 4  # the head, the sums, the checksum
PLAIN = Message((0, 9), (1, 8), 5, 4, 9, False, np.array([7, -8, 2**62]), None, None)


def sealed(content: bytes) -> bytes:
    return content + struct.pack("<I", zlib.crc32(content))


def written(
    *parts: bytes,
    magic: bytes = b"WNT1",
    network: bytes = b"testbed0",
    sender: int = 0,
    receiver: int = 1,
    epochs: tuple[int, int] = (0, 0),
    counts: tuple[int, int, int] = (1, 0, 1),
    flags: int = 0,
    records: int = 0,
) -> bytes:
    """A message by the layout; its sums are zeros."""
    head = struct.pack(HEAD, magic, network, sender, receiver, *epochs, *counts, flags, records)
    return sealed(head + bytes(8 * WIDTH) + b"".join(parts))


def record(
    *lives: bytes,
    centre: int = 2,
    version: int = 6,
    done: int = 0,
    settled: int = 0,
    claims: int = 0,
    heard: int = 0,
    suspected_dead: int = 0,
    confirmed_dead: int = 0,
    size: int | None = None,
) -> bytes:
    """A record by the layout; of each vector the last entry is given."""
    body = struct.pack("<4q", 0, 0, 0, heard) + struct.pack(
        "<8i", *[0] * 3, suspected_dead, *[0] * 3, confirmed_dead
    )
    body += b"".join(lives)
    size = 19 + len(body) if size is None else size
    return struct.pack("<IHQBHH", size, centre, version, done, settled, claims) + body


def refused(data: bytes, held: tuple[int, ...] = ()) -> MessageError:
    with pytest.raises(MessageError) as error:
        CODEC.decode(data, held)
    return error.value


def test_a_plain_message_is_its_head_and_its_sums() -> None:
    data = CODEC.encode(PLAIN)
    head = struct.pack(HEAD, b"WNT1", b"testbed0", 0, 1, 9, 8, 5, 4, 9, 0, 0)
    assert data == sealed(head + struct.pack("<3q", 7, -8, 2**62))
    found = CODEC.decode(data)
    assert (found.sender, found.receiver, found.open) == ((0, 9), (1, 8), False)
    assert (found.price, found.model, found.records, found.versions) == (None, None, [], [])


def test_one_of_price_and_model_alone_is_not_sent() -> None:
    plain = CODEC.encode(PLAIN)
    assert CODEC.encode(replace(PLAIN, model=np.array([1.0, 2.0]))) == plain
    assert CODEC.encode(replace(PLAIN, price=1.0)) == plain


def test_price_model_and_openness_have_a_flag_each() -> None:
    data = written(struct.pack("<3d", 0.5, 1.0, -2.0), flags=3)
    found = CODEC.decode(data)
    assert (found.price, found.open) == (0.5, True)
    assert found.model is not None
    assert found.model.tolist() == [1.0, -2.0]
    assert CODEC.encode(found) == data
    assert CODEC.decode(written(flags=2)).open
    assert not CODEC.decode(written(struct.pack("<3d", 0.5, 1.0, -2.0), flags=1)).open


@pytest.mark.parametrize("values", [(np.nan, 1.0, 2.0), (1.0, 2.0, np.inf), (1.0, -np.inf, 2.0)])
def test_a_price_or_a_model_that_is_not_finite_is_refused(values: tuple[float, ...]) -> None:
    assert refused(written(struct.pack("<3d", *values), flags=1)).allowed == "finite numbers"


def test_sizes_from_head_and_sums_to_the_limit_are_messages() -> None:
    data = written(counts=(1, 2, 3), sender=3)
    assert len(data) == LEAST
    assert CODEC.decode(data).number == 1
    assert CODEC.peek(data) == Head(3, 3)
    assert CODEC.peek(data + bytes(CODEC.limit - LEAST)) == Head(3, 3)
    for wrong in (data[:-1], data + bytes(CODEC.limit - LEAST + 1), b""):
        for read in (CODEC.peek, CODEC.decode):
            with pytest.raises(MessageError, match=f"has {len(wrong)} bytes") as error:
                read(wrong)
            assert error.value.allowed == f"{LEAST}..{CODEC.limit} bytes"


def test_a_message_has_room_for_a_record_of_each_centre_with_eight_claims() -> None:
    """Just: one record more waits for the next message. A larger limit may be given."""
    claims = {(k, epoch): np.array([1, 2, 3]) for k in range(CENTRES) for epoch in (0, 1)}
    none, nothing = np.zeros(CENTRES, np.int32), np.zeros(CENTRES, np.int64)
    records = [
        Record(k, version_of(0, 1), nothing, none, none, False, frozenset(), claims)
        for k in range(CENTRES)
    ]
    records = [replace(one, raw=CODEC.pack(one)) for one in records]
    full = replace(PLAIN, price=1.0, model=np.zeros(2), records=records)
    data = CODEC.encode(full)
    assert len(data) == CODEC.limit
    assert [one.centre for one in CODEC.decode(data).records] == [0, 1, 2, 3]
    small = replace(records[0], claims={})
    more = [*records[:3], replace(small, raw=CODEC.pack(small)), records[3]]
    left = CODEC.encode(replace(full, records=more))
    assert len(left) == len(data) - len(records[3].raw) + len(more[3].raw)
    assert len(CODEC.decode(left).records) == 4
    wide = Codec(b"testbed0", CENTRES, WIDTH, CODEC.limit + 1000)
    assert wide.limit == CODEC.limit + 1000
    assert len(CODEC.decode(left).records) + 1 == len(
        wide.decode(wide.encode(replace(full, records=more))).records
    )
    assert Codec(b"testbed0", CENTRES, WIDTH, 5).limit == CODEC.limit


def test_records_of_centres_that_no_version_is_held_of_are_read() -> None:
    data = written(record(centre=1), record(centre=2), record(centre=3), records=3)
    assert [one.centre for one in CODEC.decode(data, (9, 9)).records] == [2, 3]
    assert CODEC.decode(data, (9, 9)).versions == [(1, 6), (2, 6), (3, 6)]


NUMBERS = f"below {2**62}, epochs below {2**22}"
ENTRIES = ("has a record of centre 2 with numbers out of range", f"0 or more, below {2**62}")
ELSEWHERE = ("belongs to another network or version", "b'testbed0'")


def sizes(bytes_needed: int) -> tuple[str, str]:
    return "ends too early", f"{LEAST - 4 + bytes_needed} bytes at least"


def kinds(centre: int, version: int, size: int) -> tuple[str, str]:
    return (
        f"has a record of centre {centre}, version {version}, {size} bytes",
        f"centre 0..3, version 1..{2**62 - 1}, 19 or more",
    )


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (written(magic=b"WNT0"), ELSEWHERE),
        (written(network=b"testbed1"), ELSEWHERE),
        (written(sender=4), ("goes from 4 to 1", "two of 0..3")),
        (written(receiver=4), ("goes from 0 to 4", "two of 0..3")),
        (written(sender=2, receiver=2), ("goes from 2 to 2", "two of 0..3")),
        (written(epochs=(2**22, 0)), ("has numbers beyond all use", NUMBERS)),
        (written(epochs=(0, 2**22)), ("has numbers beyond all use", NUMBERS)),
        (written(counts=(2**62, 0, 0)), ("has numbers beyond all use", NUMBERS)),
        (written(counts=(0, 2**62, 0)), ("has numbers beyond all use", NUMBERS)),
        (written(counts=(0, 0, 2**62)), ("has numbers beyond all use", NUMBERS)),
        (written(flags=4), ("has the flags 4", "0..3")),
        (written(bytes(5)), ("has 5 bytes too many", "none after its end")),
        (written(bytes(16), flags=1), sizes(8 + 16)),
        (written(bytes(7), flags=1), sizes(8)),
    ],
)
def test_what_is_out_of_range_is_named(data: bytes, named: tuple[str, str]) -> None:
    error = refused(data)
    assert (error.what, error.allowed, error.where) == (*named, "message")
    assert "dropped" in error.remedy


@pytest.mark.parametrize(
    ("said", "named"),
    [
        (b"", sizes(19)),
        (bytes(18), sizes(19)),
        (record(size=84), sizes(84)),
        (record(size=18), kinds(2, 6, 18)),
        (record(centre=4), kinds(4, 6, 83)),
        (record(version=0), kinds(2, 0, 83)),
        (record(version=2**62), kinds(2, 2**62, 83)),
        (record(heard=-1), ENTRIES),
        (record(heard=2**62), ENTRIES),
        (record(suspected_dead=-1), ENTRIES),
        (record(confirmed_dead=-1), ENTRIES),
        (record(b"x"), ("has 1 bytes too many", "none after its end")),
        (record(struct.pack("<HI", 4, 0), settled=1), ("speaks of centre 4", "0..3")),
        (record(struct.pack("<HI", 4 + 2**15, 0), claims=1), ("speaks of centre 4", "0..3")),
        (record(size=19)[:19], ("ends too early", "51 bytes at least")),
        (record(claims=1), ("ends too early", "89 bytes at least")),
    ],
)
def test_what_is_out_of_range_in_a_record_is_named(said: bytes, named: tuple[str, str]) -> None:
    error = refused(written(said, records=1))
    assert (error.what, error.allowed, error.where) == (*named, "message")
    assert "dropped" in error.remedy


def test_the_largest_numbers_allowed_pass() -> None:
    found = CODEC.decode(
        written(
            record(
                heard=2**62 - 1,
                version=2**62 - 1,
                suspected_dead=2**31 - 1,
                confirmed_dead=2**31 - 1,
                centre=3,
            ),
            sender=3,
            receiver=2,
            epochs=(2**22 - 1,) * 2,
            counts=(2**62 - 1,) * 3,
            records=1,
        )
    )
    assert (found.sender, found.receiver) == ((3, 2**22 - 1), (2, 2**22 - 1))
    assert found.number == found.confirmed == found.tick == 2**62 - 1
    (said,) = found.records
    assert (said.centre, said.version) == (3, 2**62 - 1)
    assert said.heard.tolist() == [0, 0, 0, 2**62 - 1]
    assert said.suspected_dead.tolist() == said.confirmed_dead.tolist() == [0, 0, 0, 2**31 - 1]
    assert CODEC.decode(written(counts=(0, 0, 0))).number == 0


def test_claims_of_nothing_are_a_life_alone_and_others_carry_their_balance() -> None:
    """The highest bit of a claim's centre says that a balance follows."""
    lives = [
        struct.pack("<HI", 3, 0),
        struct.pack("<HI", 3, 1),
        struct.pack("<HI", 1, 5),
        struct.pack("<HI", 3 + 2**15, 2) + struct.pack("<3q", -5, 0, 2**62),
    ]
    raw = record(*lives, done=1, settled=2, claims=2)
    (said,) = CODEC.decode(written(raw, records=1)).records
    assert said.done
    assert said.settled == {(3, 0), (3, 1)}
    assert {life: b.tolist() for life, b in said.claims.items()} == {
        (1, 5): [0, 0, 0],
        (3, 2): [-5, 0, 2**62],
    }
    assert said.raw == raw
    assert CODEC.pack(said) == raw
    (other,) = CODEC.decode(written(record(), records=1)).records
    assert not other.done


def test_what_all_readers_of_a_record_share_cannot_be_changed() -> None:
    claim = struct.pack("<HI", 3 + 2**15, 2) + struct.pack("<3q", -5, 0, 2**62)
    (said,) = CODEC.decode(written(record(claim, claims=1), records=1)).records
    for shared in (said.heard, said.suspected_dead, said.confirmed_dead, *said.claims.values()):
        assert isinstance(shared, np.ndarray)
        with pytest.raises(ValueError, match="read-only"):
            shared[0] = 1
