"""Fields of snapshots and decisions: checked when built, split into words and arrays and back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from walras.errors import InputError
from walras.rounds.canonical import Array

LARGEST = 2**53  # whole numbers up to it are exact in JSON and as floats
WEIGHTS = (1e-100, 1e100)  # of jobs: products and ratios of two are numbers


def take(
    owner: object,
    name: str,
    kind: type[np.generic],
    shape: tuple[int, ...],
    low: float = -np.inf,
    high: float = np.inf,
) -> None:
    """Make a field of a frozen dataclass a read-only array, checked.

    Args:
        owner: The object.
        name: Of the field.
        kind: The type of its numbers.
        shape: That it must have.
        low: Least number; no number may be NaN.
        high: Greatest number.

    Raises:
        InputError: The field has another shape, or a number outside the range.
    """
    where = f"{type(owner).__name__}.{name}"
    object.__setattr__(owner, name, checked(getattr(owner, name), where, kind, shape, low, high))


def checked(
    given: object,
    where: str,
    kind: type[np.generic],
    shape: tuple[int, ...],
    low: float = -np.inf,
    high: float = np.inf,
) -> Array:
    """What :func:`take` makes of a field: a read-only array.

    Raises:
        InputError: It has another shape, or a number outside the range.
    """
    made, same = _converted(given, where, kind)
    if made.shape != shape or not (same or made.size == 0):
        raise InputError(
            f"has shape {made.shape}"
            if made.shape != shape
            else f"has numbers that are no {np.dtype(kind).name}",
            where=where,
            allowed=f"shape {shape}, {np.dtype(kind).name}",
            remedy="give one entry each, in order",
        )
    numbers = made.size and kind is not np.bool_
    if numbers and not (made.min() >= low and made.max() <= high):  # NaN is neither
        at = int(np.argmin(((made >= low) & (made <= high)).ravel()))
        raise InputError(
            f"is {made.ravel()[at]}",
            where=f"{where}[{at}]" if made.ndim else where,
            allowed=f"{low:g} to {high:g}",
            remedy="correct it",
        )
    view = made.view()
    view.flags.writeable = False
    return view


def _converted(given: object, where: str, kind: type[np.generic]) -> tuple[Array, bool]:
    """An array of a type, and whether it has the same numbers as what was given."""
    if isinstance(given, np.ndarray) and given.dtype == kind and given.flags.c_contiguous:
        return given, True
    try:
        found = np.asarray(given)
        if found.dtype.kind in "USc":
            raise TypeError(f"it holds {found.dtype.name}")
        with np.errstate(over="ignore", invalid="ignore"):
            made = np.ascontiguousarray(found, dtype=kind).reshape(found.shape)
        if kind is np.float32:  # rounded
            same = bool(np.array_equal(np.isfinite(made), np.isfinite(found)))
        else:
            same = bool(np.array_equal(made, found, equal_nan=found.dtype.kind == "f"))
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"is not numeric: {error}", where=where, allowed="numbers") from error
    return made, same


def count_of(given: object, where: str, known: Collection[str], more: Iterable[str]) -> int:
    """How many texts are given, once they are a list and the further fields are known.

    Raises:
        InputError: They are no list, or a field is unknown.
    """
    for name in sorted(set(more) - set(known)):
        raise InputError(
            f"there is no field '{name}'", where=where, allowed=", ".join(sorted(known))
        )
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InputError(f"is given {given!r}", where=where, allowed="a list of names")
    return len(given)


def take_texts(owner: object, name: str, count: int | None, *, distinct: bool = False) -> int:
    """Make a field a tuple of texts, checked; their number.

    Raises:
        InputError: Another number of them, or two are the same where they must differ.
    """
    where = f"{type(owner).__name__}.{name}"
    given = getattr(owner, name)
    listed = isinstance(given, Iterable) and not isinstance(given, str)
    made = tuple(given) if listed else ()
    texts = set(map(type, made)) <= {str} or all(isinstance(text, str) for text in made)
    if not listed or not texts:
        raise InputError("are not texts", where=where, allowed="a list of texts")
    try:
        "".join(made).encode()
    except UnicodeEncodeError as error:  # a lone surrogate
        raise InputError(
            "hold half a character", where=where, allowed="texts that a file can hold"
        ) from error
    if count is not None and len(made) != count:
        raise InputError(f"has {len(made)} texts", where=where, allowed=f"{count}: one each")
    if distinct and len(set(made)) < len(made):
        raise InputError("names one twice", where=where, allowed="distinct texts")
    object.__setattr__(owner, name, made)
    return len(made)


def take_labels(owner: object, name: str, count: int | None) -> int:
    """Make a field a tuple of label sets, checked; their number.

    Raises:
        InputError: Another number of them, or something that is not a text.
    """
    where = f"{type(owner).__name__}.{name}"
    held = getattr(owner, name)
    if not isinstance(held, Iterable):
        raise InputError(f"is {held!r}", where=where, allowed="a list of label sets")
    found = tuple(held)
    if count is not None and len(found) != count:
        raise InputError(f"has {len(found)} label sets", where=where, allowed=f"{count}: one each")
    for labels in found:
        if not isinstance(labels, Mapping) or not all(
            isinstance(text, str) for pair in labels.items() for text in pair
        ):
            raise InputError(f"has {labels!r}", where=where, allowed="texts to texts")
    made = tuple(dict(sorted(labels.items())) for labels in found)
    object.__setattr__(owner, name, made)
    return len(made)


def split(value: object, prefix: str = "") -> tuple[dict[str, Any], dict[str, Array]]:
    """The fields of a dataclass as words and arrays; fields of its parts have dotted names."""
    words: dict[str, Any] = {}
    arrays: dict[str, Array] = {}
    for item in fields(value):  # type: ignore[arg-type]
        held, name = getattr(value, item.name), prefix + item.name
        if isinstance(held, np.ndarray):
            arrays[name] = held
        elif is_dataclass(held):
            inner_words, inner_arrays = split(held, f"{name}.")
            words |= inner_words
            arrays |= inner_arrays
        else:
            words[name] = held
    return words, arrays


def part(names: Mapping[str, Any] | Sequence[str], prefix: str) -> dict[str, Any]:
    """Entries whose dotted name begins with a prefix, without it."""
    given = names if isinstance(names, Mapping) else dict.fromkeys(names)
    return {k.removeprefix(prefix): v for k, v in given.items() if k.startswith(prefix)}
