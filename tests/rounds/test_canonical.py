"""One form in bytes for one value, and no trust in bytes from elsewhere."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from walras.errors import DataError
from walras.rounds.canonical import digest, kind_of, pack, unpack

ARRAYS = st.one_of(
    hnp.arrays(np.float64, hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=4)),
    hnp.arrays(np.float32, hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=4)),
    hnp.arrays(np.int64, hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=4)),
    hnp.arrays(np.bool_, hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=4)),
)


@given(
    st.dictionaries(
        st.text(max_size=4),
        st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False),
    ),
    st.dictionaries(st.text("ab.", max_size=3), ARRAYS, max_size=4),
)
def test_what_is_packed_is_unpacked(words: dict, arrays: dict) -> None:
    data = pack("thing", 1, words, arrays)
    found, numbers = unpack("thing", 1, data)
    assert found == words
    assert numbers.keys() == arrays.keys()
    for name, array in arrays.items():
        assert numbers[name].dtype == array.dtype
        np.testing.assert_array_equal(numbers[name], array)
    assert pack("thing", 1, found, numbers) == data


def test_the_bytes_are_the_documented_ones() -> None:
    data = pack("thing", 1, {"b": 1, "a": "é"}, {"x": np.array([1.0]), "f": np.array([True])})
    header = rb'{"arrays":[["f","|b1",[1]],["x","<f8",[1]]],"words":{"a":"\u00e9","b":1}}'
    expected = b"walras thing 1\n" + len(header).to_bytes(8, "little") + header
    expected += b"\0" * (-len(expected) % 8) + b"\x01"
    expected += b"\0" * (-len(expected) % 8) + b"\0\0\0\0\0\0\xf0\x3f"
    assert data == expected
    assert digest(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_byte_order_layout_and_the_sign_of_zero_change_nothing() -> None:
    plain = np.arange(6.0).reshape(2, 3)
    other = np.asfortranarray(plain.astype(">f8"))
    other[0, 0] = -0.0
    assert pack("t", 1, {}, {"x": plain}) == pack("t", 1, {}, {"x": other})
    one, two = np.array([0x7FF8000000000001, 0xFFF8000000000000], np.uint64).view(np.float64)
    assert pack("t", 1, {}, {"x": np.array([one])}) == pack("t", 1, {}, {"x": np.array([two])})


def test_other_types_have_no_form() -> None:
    with pytest.raises(TypeError, match="int32"):
        pack("t", 1, {}, {"x": np.zeros(1, np.int32)})
    with pytest.raises(ValueError, match="not JSON compliant"):
        pack("t", 1, {"x": float("inf")}, {})


GOOD = pack("thing", 1, {"n": 3}, {"x": np.arange(3.0)})


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"walras thing 2\n",
        b"walras other 1\n" + GOOD[15:],
        GOOD[:-1],
        GOOD[:30],
        GOOD + b"\0",
        GOOD.replace(b"<f8", b"|O8"),
        GOOD.replace(b"[3]", b"[9]"),
        GOOD.replace(b"[3]", b"-30"),
        GOOD.replace(b'"words"', b'"other"'),
    ],
)
def test_damaged_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(DataError, match="thing"):
        unpack("thing", 1, data)


@given(st.integers(0, len(GOOD) - 1), st.integers(0, 255))
def test_a_changed_byte_is_refused_or_changes_the_value(place: int, byte: int) -> None:
    data = bytearray(GOOD)
    data[place] = byte
    try:
        words, arrays = unpack("thing", 1, bytes(data))
    except DataError:
        return
    assert isinstance(words, dict)
    assert all(isinstance(array, np.ndarray) for array in arrays.values())


def test_deep_headers_are_refused() -> None:
    deep = b"[" * 100_000
    data = b"walras thing 1\n" + len(deep).to_bytes(8, "little") + deep
    with pytest.raises(DataError):
        unpack("thing", 1, data)
    huge = json.dumps({"arrays": [["x", "<f8", [2**39, 2**39]]], "words": {}}).encode()
    data = b"walras thing 1\n" + len(huge).to_bytes(8, "little") + huge
    with pytest.raises(DataError, match="end before"):
        unpack("thing", 1, data)


def test_the_kind_is_read_from_the_first_line() -> None:
    assert kind_of(GOOD) == "thing"
    assert kind_of(b"PK\x03\x04") == ""
    assert kind_of(b"walras\n") == ""
