"""Fields of snapshots and decisions: checked when built, split into words and arrays and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from walras.errors import InputError
from walras.rounds.canonical import Array

LARGEST = 2**53  # whole numbers up to it are exact in JSON and as floats


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
    try:
        found = np.asarray(getattr(owner, name))
        made = np.ascontiguousarray(found, dtype=kind)
        same = found.size == 0 or bool(
            np.array_equal(made, found, equal_nan=found.dtype.kind == "f")
        )
    except (TypeError, ValueError) as error:
        raise InputError(f"is not numeric: {error}", where=where, allowed="numbers") from error
    if kind is np.float32:
        same = True  # rounded
    if made.shape != shape or not same:
        raise InputError(
            f"has shape {made.shape}" if same else "has numbers that are not whole",
            where=where,
            allowed=f"shape {shape}, {np.dtype(kind).name}",
            remedy="give one entry each, in order",
        )
    if made.size and kind is not np.bool_:
        good = (made >= low) & (made <= high)
        if not good.all():
            at = int(np.argmin(good.ravel()))
            raise InputError(
                f"is {made.ravel()[at]}",
                where=f"{where}[{at}]",
                allowed=f"{low:g} to {high:g}",
                remedy="correct it",
            )
    view = made.view()
    view.flags.writeable = False
    object.__setattr__(owner, name, view)


def take_texts(owner: object, name: str, count: int | None, *, distinct: bool = False) -> int:
    """Make a field a tuple of texts, checked; their number.

    Raises:
        InputError: Another number of them, or two are the same where they must differ.
    """
    where = f"{type(owner).__name__}.{name}"
    given = getattr(owner, name)
    made = tuple(given) if not isinstance(given, str) else ()
    if isinstance(given, str) or not all(isinstance(text, str) for text in made):
        raise InputError("are not texts", where=where, allowed="a list of texts")
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
    made = tuple(dict(sorted(labels.items())) for labels in getattr(owner, name))
    if count is not None and len(made) != count:
        raise InputError(f"has {len(made)} label sets", where=where, allowed=f"{count}: one each")
    for labels in made:
        if not all(isinstance(text, str) for pair in labels.items() for text in pair):
            raise InputError(f"has {labels!r}", where=where, allowed="texts to texts")
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
