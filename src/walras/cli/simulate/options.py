"""Options that commands of ``walras simulate`` share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from walras.errors import InputError


def range_of(given: str | None) -> Sequence[int] | None:
    """The jobs of ``--measured FIRST:END``."""
    if given is None:
        return None
    first, colon, end = given.partition(":")
    if not colon or not first.isdigit() or not end.isdigit():
        raise InputError(
            f"is {given!r}",
            where="measured",
            allowed="FIRST:END, whole numbers",
            remedy="write --measured 4000:5000",
        )
    return [int(first), int(end)]


def value_of(word: str) -> Any:
    """A value of TOML in an option: a truth, a number, or text as it stands."""
    if word in ("true", "false"):
        return word == "true"
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word
