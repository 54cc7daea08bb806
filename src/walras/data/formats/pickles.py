"""Read the pickles of public repositories as plain data.

Python's own unpickler calls what a pickle names, and NumPy's classes can be called so that they
hand out raw memory. This module interprets the opcodes itself. It builds lists, tuples,
dictionaries, numbers, strings and numeric arrays, and refuses everything else. No function or class
that a pickle names is ever called.
"""

from __future__ import annotations

import io
import math
import pickletools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from walras.errors import DataError

_MODULES = ("numpy", "numpy.core.multiarray", "numpy._core.multiarray", "_codecs")
_NAMES = ("ndarray", "dtype", "_reconstruct", "scalar", "encode")
_CODES = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
_MOST_AXES = 8
_MOST_DEPTH = 16  # containers inside one another
_MOST_VALUES = 20_000_000  # counted as often as they are referred to


def load_plain(raw: bytes, name: str) -> Any:
    """What a pickle holds, if that is plain data.

    Args:
        raw: The pickle.
        name: What errors call it.

    Raises:
        DataError: It is damaged, or asks for anything but plain data.
    """
    return load_plain_after(raw, 0, name)


def load_plain_after(raw: bytes, skipped: int, name: str) -> Any:
    """What a pickle holds that stands behind others in one file.

    Args:
        raw: The pickles, one after the other.
        skipped: Number of pickles in front.
        name: What errors call it.

    Raises:
        DataError: One is damaged, or asks for anything but plain data.
    """
    stream = io.BytesIO(raw)
    try:
        for _ in range(skipped):
            _Machine().run(stream)
        found = _Machine().run(stream)
        _check_extent(found)
    except (ValueError, IndexError, KeyError, OverflowError) as error:
        raise DataError(
            f"a pickle cannot be read as plain data: {error}",
            where=name,
            allowed="lists, dictionaries, numbers, strings and numeric NumPy arrays",
            remedy="try another mirror; nothing was stored",
        ) from error
    return found


@dataclass(frozen=True)
class _Global:
    """The name of one of NumPy's functions; it is compared, never called."""

    name: str


@dataclass
class _Type:
    """A dtype under construction."""

    code: str
    order: str = "<"

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.order + self.code)


@dataclass(eq=False)
class _Blank:
    """An array before its content, and where the memo holds it."""

    places: list[int] = field(default_factory=list)


class _Mark:
    """Where a run of values begins on the stack."""


class _Machine:
    """The pickle machine, less everything that calls or imports."""

    def __init__(self) -> None:
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def run(self, stream: io.BytesIO) -> Any:
        """The value of the next pickle in a stream."""
        for opcode, argument, _ in pickletools.genops(stream):
            name = opcode.name
            if name in _CONSTANTS:
                self._stack.append(argument)
            elif name in _VALUES:
                self._stack.append(_VALUES[name]())
            elif name in _ACTIONS:
                _ACTIONS[name](self, argument)
            elif name not in ("PROTO", "FRAME", "STOP"):
                raise ValueError(f"it uses the opcode {name}")
        return self._pop()

    def _pop(self) -> Any:
        return self._stack.pop()

    def _since_mark(self) -> list[Any]:
        at = len(self._stack) - 1
        while not isinstance(self._stack[at], _Mark):
            at -= 1
            if at < 0:
                raise ValueError("it closes what it did not open")
        values = self._stack[at + 1 :]
        del self._stack[at:]
        return values

    def _tuple(self, count: int) -> None:
        if count > len(self._stack):
            raise ValueError("it takes more values than there are")
        self._stack[len(self._stack) - count :] = [tuple(self._stack[len(self._stack) - count :])]

    def _extend(self, values: list[Any]) -> None:
        target = self._stack[-1]
        if not isinstance(target, list):
            raise ValueError(f"it appends to a {type(target).__name__}")
        target.extend(values)

    def _set(self, values: list[Any]) -> None:
        target = self._stack[-1]
        if not isinstance(target, dict) or len(values) % 2:
            raise ValueError("it sets items of something else than a dictionary")
        for key, value in zip(values[::2], values[1::2], strict=True):
            target[_key(key)] = value

    def _put(self, place: int | None) -> None:
        top, at = self._stack[-1], len(self._memo) if place is None else place
        self._memo[at] = top
        if isinstance(top, _Blank):
            top.places.append(at)

    def _name(self, module: Any, name: Any) -> None:
        if module not in _MODULES or name not in _NAMES:
            raise ValueError(f"it asks for {module}.{name}")
        self._stack.append(_Global(name))

    def _reduce(self) -> None:
        arguments, function = self._pop(), self._pop()
        made = None
        if isinstance(function, _Global) and isinstance(arguments, tuple):
            made = _REDUCTIONS.get((function.name, len(arguments)))
        if made is None:
            raise ValueError("it calls something")
        self._stack.append(made(*arguments))

    def _build(self) -> None:
        state, target = self._pop(), self._pop()
        if isinstance(target, _Type) and isinstance(state, tuple):
            target.order = _byte_order(state)
            self._stack.append(target)
        elif isinstance(target, _Blank) and isinstance(state, tuple) and len(state) == 5:
            array = _array(*state[1:])
            self._stack.append(array)
            for place in target.places:
                self._memo[place] = array
        else:
            raise ValueError("it sets the state of something else than an array")


_CONSTANTS = frozenset((
    "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT",
    "STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE",
    "BINUNICODE8", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8",
))  # fmt: skip
_VALUES: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None, "NEWTRUE": lambda: True, "NEWFALSE": lambda: False, "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple, "EMPTY_DICT": dict, "MARK": _Mark,
}  # fmt: skip
_ACTIONS: dict[str, Callable[[_Machine, Any], Any]] = {
    "POP": lambda m, _: m._pop(),
    "POP_MARK": lambda m, _: m._since_mark(),
    "APPEND": lambda m, _: m._extend([m._pop()]),
    "APPENDS": lambda m, _: m._extend(m._since_mark()),
    "LIST": lambda m, _: m._stack.append(m._since_mark()),
    "TUPLE": lambda m, _: m._stack.append(tuple(m._since_mark())),
    "TUPLE1": lambda m, _: m._tuple(1),
    "TUPLE2": lambda m, _: m._tuple(2),
    "TUPLE3": lambda m, _: m._tuple(3),
    "SETITEM": lambda m, _: m._set([m._pop(), m._pop()][::-1]),
    "SETITEMS": lambda m, _: m._set(m._since_mark()),
    "DICT": lambda m, _: m._stack.append(_dictionary(m._since_mark())),
    "PUT": _Machine._put,
    "BINPUT": _Machine._put,
    "LONG_BINPUT": _Machine._put,
    "MEMOIZE": _Machine._put,
    "GET": lambda m, at: m._stack.append(m._memo[at]),
    "BINGET": lambda m, at: m._stack.append(m._memo[at]),
    "LONG_BINGET": lambda m, at: m._stack.append(m._memo[at]),
    "GLOBAL": lambda m, pair: m._name(*pair.split(" ", 1)),
    "STACK_GLOBAL": lambda m, _: m._name(*[m._pop(), m._pop()][::-1]),
    "REDUCE": lambda m, _: m._reduce(),
    "BUILD": lambda m, _: m._build(),
}


def _dictionary(values: list[Any]) -> dict[Any, Any]:
    if len(values) % 2:
        raise ValueError("a key has no value")
    return {_key(key): value for key, value in zip(values[::2], values[1::2], strict=True)}


def _key(key: Any) -> Any:
    parts = key if isinstance(key, tuple) else (key,)
    if not all(part is None or isinstance(part, int | float | str | bytes) for part in parts):
        raise ValueError("a key is neither a number nor a string, nor a tuple of these")
    return key


def _type(code: Any, _align: Any, _copy: Any) -> _Type:
    if not isinstance(code, str) or code not in _CODES:
        raise ValueError(f"it has an array of {str(code)[:20]!r}, not of plain numbers")
    return _Type(code)


def _byte_order(state: tuple[Any, ...]) -> str:
    """Of a dtype's state: no fields, no sub-arrays, no metadata."""
    version, order, *rest = state[:8]
    plain = [None, None, None, -1, -1, 0]
    if version not in (3, 4) or order not in ("<", ">", "|", "=") or rest != plain:
        raise ValueError("it has a dtype that is not of plain numbers")
    return str(order)


def _blank(kind: Any, _shape: Any, _code: Any) -> _Blank:
    if kind != _Global("ndarray"):
        raise ValueError("it makes an array of another class")
    return _Blank()


def _array(shape: Any, kind: Any, by_columns: Any, data: Any) -> np.ndarray[Any, Any]:
    content = data.encode("latin-1") if isinstance(data, str) else data
    if not isinstance(kind, _Type) or not isinstance(content, bytes):
        raise ValueError("an array's content is not bytes of plain numbers")
    axes = isinstance(shape, tuple) and len(shape) <= _MOST_AXES
    if not axes or not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError("an array has no shape")
    if math.prod(shape) * kind.dtype.itemsize != len(content):
        raise ValueError(f"an array of shape {shape} has {len(content)} bytes")
    flat = np.frombuffer(content, kind.dtype)
    return flat.reshape(shape, order="F" if by_columns else "C").copy()


def _scalar(kind: Any, data: Any) -> Any:
    return _array((), kind, False, data)[()]


def _encoded(text: Any, encoding: Any) -> bytes:
    """Bytes, as protocols before 3 write them."""
    if not isinstance(text, str) or encoding != "latin1":
        raise ValueError("it encodes something else than bytes")
    return text.encode("latin-1")


_REDUCTIONS: dict[tuple[str, int], Callable[..., Any]] = {
    ("dtype", 3): _type,
    ("_reconstruct", 3): _blank,
    ("scalar", 2): _scalar,
    ("encode", 2): _encoded,
}


def _check_extent(value: Any) -> None:
    """Refuse what is deep, or large through values that are referred to again and again."""
    waiting, count = [(value, 0)], 1
    while waiting:
        found, depth = waiting.pop()
        if isinstance(found, dict):
            inner = list(found.values())
        elif isinstance(found, list | tuple):
            inner = list(found)
        elif isinstance(found, _Global | _Type | _Blank | _Mark):
            raise ValueError("an array is incomplete")
        else:
            continue
        count += len(inner)
        if count > _MOST_VALUES or depth >= _MOST_DEPTH:
            raise ValueError(f"it holds over {_MOST_VALUES} values, or over {_MOST_DEPTH} levels")
        waiting.extend((part, depth + 1) for part in inner)
