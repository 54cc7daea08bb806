"""Values as tables state them: of the right type and range, or one error that names the key."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from walras.errors import InputError

Table = Mapping[str, Any]
Check = Callable[[object, str], Any]
"""Given a value and where it stands, gives it back in its type, or refuses it."""

_MOST = 2**53  # beyond, numbers that are written with a point are no longer exact


def number(value: object, where: str, *, finite: bool = True) -> float:
    """A number; no flag, no text, and not NaN.

    Raises:
        InputError: It is something else.
    """
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        found = float(value)
        if math.isfinite(found) or (math.isinf(found) and not finite):
            return found
    raise refused(value, where, "a number, finite" if finite else "a number, infinite ones too")


def numbers(value: object, where: str) -> float | list[float]:
    """A number, or a list of numbers.

    Raises:
        InputError: It is something else.
    """
    if not isinstance(value, list | tuple):
        return number(value, where)
    return [number(v, f"{where}[{k}]") for k, v in enumerate(value)]


def bounds(value: object, where: str) -> float | list[float]:
    """A number, or a list of numbers; infinite ones too, also as text: JSON holds them so.

    Raises:
        InputError: It is something else.
    """
    if isinstance(value, list | tuple):
        return [number(_infinite(v), f"{where}[{k}]", finite=False) for k, v in enumerate(value)]
    return number(_infinite(value), where, finite=False)


def _infinite(value: object) -> object:
    return {"inf": math.inf, "-inf": -math.inf}.get(value, value) if type(value) is str else value


def whole(value: object, where: str, *, least: int = 0) -> int:
    """A whole number, at least ``least``.

    Raises:
        InputError: It is something else.
    """
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        inside = least <= value < _MOST  # NaN is not
        if inside and float(value).is_integer():
            return int(value)
    raise refused(value, where, f"a number, whole and {least} or more")


def flag(value: object, where: str) -> bool:
    """True or false.

    Raises:
        InputError: It is something else.
    """
    if not isinstance(value, bool):
        raise refused(value, where, "true or false")
    return value


def text(value: object, where: str) -> str:
    """Some words.

    Raises:
        InputError: It is something else.
    """
    if not isinstance(value, str):
        raise InputError(
            f"is {value!r}", where=where, allowed="text", remedy="write it between quotes"
        )
    return value


def choice(*allowed: str) -> Check:
    """A check for one of some words."""

    def check(value: object, where: str) -> str:
        if not isinstance(value, str) or value not in allowed:
            raise InputError(
                f"is {value!r}", where=where, allowed=", ".join(allowed), remedy="use one of these"
            )
        return value

    return check


def of_kind(value: object, kind: type, where: str) -> None:
    """Refuse what is no object of a class, such as the class itself.

    Raises:
        InputError: It is something else.
    """
    if not isinstance(value, kind):
        name = kind.__name__
        raise InputError(
            f"is {value!r}",
            where=where,
            allowed=f"an object of {name}",
            remedy=f"{where}={name}(...)",
        )


def anything(value: object, where: str) -> object:
    """Whatever it is: it is looked at elsewhere."""
    return value


def refused(value: object, where: str, allowed: str) -> InputError:
    """The error of a value that is no number or flag, or out of its range."""
    return InputError(
        f"is {value!r}",
        where=where,
        allowed=allowed,
        remedy="write it without quotes or brackets, within what is allowed",
    )
