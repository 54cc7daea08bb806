"""Pickles as plain data: what NumPy writes is read, and nothing in a pickle is ever called."""

from __future__ import annotations

import math
import pickle
import struct
from pprint import pprint
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from walras.data.formats.pickles import load_plain
from walras.errors import DataError


class Call:
    """Pickles itself as a call of a function."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self._call = (function, arguments)

    def __reduce__(self) -> Any:
        return self._call


def _nested(levels: int) -> tuple[Any, ...]:
    value: tuple[Any, ...] = ()
    for _ in range(levels):
        value = (value, value)
    return value


def _circle() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


RECONSTRUCT: Any = np.empty(0).__reduce__()[0]
SCALAR: Any = np.float64(1.0).__reduce__()[0]
OBJECTS = np.dtype("O")
ARRAYS = {
    "float": np.arange(12.0).reshape(3, 4),
    "by columns": np.asfortranarray(np.arange(12).reshape(3, 4)),
    "big-endian": np.arange(3, dtype=">f4"),
    "bool": np.array([True, False]),
    "half": np.ones((2, 1, 2), np.float16),
    "no axis": np.array(3.5),
}


@pytest.mark.parametrize("protocol", range(5))
@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_read_as_numpy_writes_them(name: str, protocol: int) -> None:
    array = ARRAYS[name]
    found = load_plain(pickle.dumps({"one": array, "two": [array]}, protocol), "test")
    assert found["one"].dtype == array.dtype
    assert found["one"].tolist() == array.tolist()
    assert found["two"][0] is found["one"]


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.tuples(st.integers(), st.text()), inner, max_size=4)
    ),
    max_leaves=20,
)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(PLAIN, st.integers(0, pickle.HIGHEST_PROTOCOL))
def test_plain_data_is_read_as_python_reads_it(value: Any, protocol: int) -> None:
    assert load_plain(pickle.dumps(value, protocol), "test") == value


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.binary(max_size=60), st.sampled_from([b"", b"\x80\x04", pickle.dumps([1, {"a": (2,)}])]))
def test_bytes_that_are_no_pickle_are_one_error(tail: bytes, head: bytes) -> None:
    try:
        load_plain(head[:-3] + tail, "test")
    except DataError as error:
        assert error.where == "test"  # noqa: PT017 (most are refused; some are pickles)


CRAFTED = {
    "raw memory as objects": Call(np.ndarray, (2,), OBJECTS, b"A" * 16),
    "uninitialised memory": Call(np.ndarray, (3,)),
    "uninitialised objects": Call(RECONSTRUCT, np.ndarray, (3,), "O"),
    "8 TB": Call(RECONSTRUCT, np.ndarray, (10**12,), "d"),
    "an object pointer": Call(SCALAR, OBJECTS, b"A" * 8),
    "an array of objects": np.array([1, "a"], object),
    "records": np.array([(1, 2.0)], [("a", "i4"), ("b", "f8")]),
    "objects in records": np.zeros(1, [("a", "O")]),
    "texts": np.array(["a"]),
    "times": np.datetime64("2020-01-01"),
    "another class": np.ma.masked_array([1.0]),
    "a matrix class": Call(RECONSTRUCT, np.recarray, (0,), b"b"),
    "a function": Call(pprint, "printed"),  # Ray puts another print in the place of Python's
    "a dtype": Call(np.dtype, "f8", False, True),
    "a billion laughs": _nested(40),
    "a circle": _circle(),
}


@pytest.mark.parametrize("name", CRAFTED)
def test_crafted_pickles_are_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(DataError, match="plain data"):
        load_plain(pickle.dumps(CRAFTED[name]), "test")
    assert capsys.readouterr().out == ""


def _array_state(shape: Any, kind: Any, data: bytes) -> bytes:
    """The pickle of an array whose state is whatever is given."""

    class Stated:
        def __reduce__(self) -> Any:
            return RECONSTRUCT, (np.ndarray, (0,), b"b"), (1, shape, kind, False, data)

    return pickle.dumps(Stated())


@pytest.mark.parametrize(
    ("shape", "kind", "data"),
    [
        ((2,), OBJECTS, b"A" * 16),
        ((3,), np.dtype("f8"), b"A" * 16),
        ((10**30,), np.dtype("f8"), b"A" * 16),
        ((-1,), np.dtype("f8"), b""),
        ((2.0,), np.dtype("f8"), b"A" * 16),
        ([2], np.dtype("f8"), b"A" * 16),
        ((1,) * 9, np.dtype("f8"), b"A" * 8),
        ((2,), "f8", b"A" * 16),
        ((2,), np.dtype("f8"), [1, 2]),
    ],
)
def test_an_array_holds_as_many_numbers_as_it_says(shape: Any, kind: Any, data: Any) -> None:
    with pytest.raises(DataError, match="plain data"):
        load_plain(_array_state(shape, kind, data), "test")


@pytest.mark.parametrize(
    "raw",
    [
        b"}" + b")" + b"\x85" * 10**5 + b"K\x01s.",  # the hash of a deep key overflows the stack
        b"]" + b"\x85" * 10**5 + b".",
        b"\x8e" + struct.pack("<Q", 2**62) + b"x.",
        b"I" + b"9" * 10**5 + b"\n.",
    ],
)
def test_pickles_that_exhaust_the_interpreter_are_refused(raw: bytes) -> None:
    with pytest.raises(DataError, match="plain data"):
        load_plain(raw, "test")


def test_a_memo_place_far_away_costs_nothing() -> None:
    """Python's own unpickler reserves memory for all places before it."""
    assert load_plain(b"Nr" + struct.pack("<I", 2**31 - 1) + b".", "test") is None
    assert math.isnan(load_plain(pickle.dumps(math.nan), "test"))
