"""One short line for objects that hold arrays: an array is shown by its shape."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

_Class = TypeVar("_Class")
_LONGEST = 60  # characters of one value


def short_repr(cls: type[_Class]) -> type[_Class]:
    """Give a dataclass a ``repr`` of one line: each field that is not None, arrays by their shape.

    Args:
        cls: The dataclass; the decorator stands above ``@dataclass``.

    Example:
        >>> from dataclasses import dataclass
        >>> import numpy as np
        >>> @short_repr
        ... @dataclass(frozen=True)
        ... class Round:
        ...     times: np.ndarray
        ...     min_success: float
        >>> Round(np.ones((3, 8)), 0.8)
        Round(times=array(3, 8), min_success=0.8)
    """
    cls.__repr__ = _line  # type: ignore[method-assign]
    return cls


def _line(given: Any) -> str:
    values = {f.name: getattr(given, f.name) for f in fields(given) if f.repr}
    shown = [f"{name}={_short(value)}" for name, value in values.items() if value is not None]
    return f"{type(given).__name__}({', '.join(shown)})"


def _short(value: Any) -> str:
    """A value in at most 60 characters and one line."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"{type(value).__name__.removeprefix('nd')}({', '.join(map(str, shape))})"
    if shape == () and hasattr(value, "item"):
        value = value.item()
    # Large containers are not written out first: their text alone may take seconds.
    large = hasattr(value, "__len__") and not isinstance(value, str) and len(value) > _LONGEST
    text = "" if large else repr(value)
    if text and len(text) <= _LONGEST and "\n" not in text:
        return text
    many = f"{len(value)} items" if hasattr(value, "__len__") else "..."
    return f"{type(value).__name__}({many})"
