"""Settings of training on the command line: ``--set NAME=VALUE``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from walras.errors import InputError

OWN_OPTIONS = ("method", "model", "steps", "seed")
_FORM = "NAME=VALUE, such as price=30, margin=tuned, speedup=0.6:0.5"


def changes_of(given: Sequence[str]) -> dict[str, Any]:
    """Settings of :class:`walras.learn.LearnSettings` by name, from ``NAME=VALUE`` texts.

    A value is a number, true or false where it reads as one, else a word; ``speedup`` is a limit
    and a rate, joined by a colon.

    Raises:
        InputError: A text has another form, or names no setting or one twice.
    """
    from walras.learn.settings import LearnSettings  # learning is for those who ask for it

    known = sorted({f.name for f in fields(LearnSettings)} - set(OWN_OPTIONS))
    found: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not value or name not in known or name in found:
            told = f"sets '{name}' twice" if name in found else f"is '{text}'"
            raise InputError(
                told,
                where="--set",
                allowed=f"{_FORM}; names: {', '.join(known)}",
                remedy="give each setting once, as NAME=VALUE",
            )
        found[name] = _decay(value) if name == "speedup" else _read(value)
    return found


def _read(value: str) -> bool | int | float | str:
    if value in ("true", "false"):
        return value == "true"
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def _decay(value: str) -> Any:
    from walras.matching import Decay

    limit, _, rate = value.partition(":")
    try:
        return Decay(float(limit), float(rate))
    except ValueError as error:
        raise InputError(
            f"is '{value}'",
            where="--set speedup",
            allowed="LIMIT:RATE, such as 0.6:0.5",
            remedy="give the ratio of very many tasks, and its decay a task",
        ) from error
