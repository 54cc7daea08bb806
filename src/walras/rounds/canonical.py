"""Canonical bytes: a value has one form in bytes, the same on every machine; no pickle.

The form is a line ``walras KIND VERSION``, the length of a JSON header as 8 bytes, the header, then
the arrays in the order of their names: C order, little-endian, each begun at a multiple of 8 bytes.
The header is ASCII with sorted keys and no spaces. Zeros are positive and there is one NaN.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from walras.errors import DataError

Array = npt.NDArray[Any]

_TYPES = ("<f8", "<f4", "<i8", "|b1")
_ALIGNED = 8


def pack(kind: str, version: int, words: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """The canonical bytes of a value.

    Args:
        kind: What it is: one word.
        version: Of its form.
        words: Texts, numbers and lists of them; no infinite number.
        arrays: By name: float64, float32, int64 or bool.
    """
    made = {name: _canonical(arrays[name]) for name in sorted(arrays)}
    listed = [[name, array.dtype.str, list(array.shape)] for name, array in made.items()]
    header = json.dumps(
        {"arrays": listed, "words": words}, sort_keys=True, separators=(",", ":"), allow_nan=False
    ).encode("ascii")
    parts = [_first_line(kind, version), len(header).to_bytes(8, "little"), header]
    size = sum(map(len, parts))
    for array in made.values():
        parts += [b"\0" * (-size % _ALIGNED), array.tobytes()]
        size += len(parts[-2]) + len(parts[-1])
    return b"".join(parts)


def unpack(kind: str, version: int, data: bytes) -> tuple[dict[str, Any], dict[str, Array]]:
    """What :func:`pack` was given.

    Raises:
        DataError: The bytes are of another kind or version, are damaged, or have bytes left over.
    """
    first = _first_line(kind, version)
    if not data.startswith(first):
        start = bytes(data[:40]).split(b"\n")[0]
        raise _damaged(kind, f"begin with {start!r}, not {first!r}")
    place = len(first) + 8
    length = int.from_bytes(data[len(first) : place], "little")
    try:
        header = json.loads(data[place : place + length].decode("ascii"))
        words, listed = header["words"], header["arrays"]
        place += length
        arrays = {}
        for name, code, shape in listed:
            arrays[str(name)], place = _read(data, place, code, shape)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged(kind, f"cannot be read: {error}") from error
    if place != len(data) or not isinstance(words, dict):
        raise _damaged(kind, f"have {len(data)} bytes where {place} were written")
    return words, arrays


def digest(data: bytes) -> str:
    """SHA-256 of canonical bytes, hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def kind_of(data: bytes) -> str:
    """The kind that canonical bytes begin with; empty where they are none."""
    first = bytes(data[:64]).split(b"\n")[0].split(b" ")
    return first[1].decode("ascii", "replace") if first[0] == b"walras" and len(first) == 3 else ""


def _first_line(kind: str, version: int) -> bytes:
    return f"walras {kind} {version}\n".encode("ascii")


def _canonical(array: Array) -> Array:
    made = np.ascontiguousarray(array)
    made = made.astype(made.dtype.newbyteorder("<"), copy=False)
    if made.dtype.str not in _TYPES:
        raise TypeError(f"an array of {made.dtype} has no canonical form")
    if made.dtype.kind == "f":
        made = made + made.dtype.type(0)  # -0.0 becomes 0.0
        made[np.isnan(made)] = np.nan
    return made


def _read(data: bytes, place: int, code: object, shape: list[int]) -> tuple[Array, int]:
    if code not in _TYPES:
        raise ValueError(f"an array of type {code!r}")
    if not all(type(k) is int and 0 <= k < 2**40 for k in shape):
        raise ValueError(f"an array of shape {shape!r}")
    place += -place % _ALIGNED
    count = int(np.prod(shape, dtype=object)) if shape else 1
    kind = np.dtype(str(code))
    if place + count * kind.itemsize > len(data):
        raise ValueError("the bytes end before their arrays")
    found = np.frombuffer(data, kind, count, place).reshape(shape)
    return found.astype(kind.newbyteorder("="), copy=False), place + found.nbytes


def _damaged(kind: str, what: str) -> DataError:
    return DataError(
        f"the bytes {what}",
        where=kind,
        allowed=f"the canonical bytes of a {kind}",
        remedy="read it again from where it was stored",
    )
