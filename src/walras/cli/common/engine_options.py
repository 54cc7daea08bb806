"""``--engine`` and ``--engine-option``: an engine with its options, from words."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Annotated, Any, get_args, get_type_hints

import typer

from walras.cli.common.streams import tell
from walras.cli.common.usage_errors import ENGINE_OPTION
from walras.deprecated import GOES_IN
from walras.engines.base import Engine
from walras.engines.options import Options, group_of
from walras.errors import InputError
from walras.select.registry import AUTO, ENGINES, engine_of

EngineName = Annotated[
    str, typer.Option("--engine", help="auto, interior, admm, exact, integer or pop.")
]
EngineOption = Annotated[
    list[str] | None,
    typer.Option(
        ENGINE_OPTION,
        metavar="NAME=VALUE",
        help="An option of the engine, such as mode=paper with --engine admm, or "
        "columns.first=4 with --engine interior; may be repeated.",
    ),
]
OldParts = Annotated[int | None, typer.Option("--parts", hidden=True)]
OldSeed = Annotated[int | None, typer.Option("--seed", hidden=True)]
OldMode = Annotated[str | None, typer.Option("--mode", hidden=True)]
OldCollapse = Annotated[bool, typer.Option("--collapse", hidden=True)]

_OLD_OWNERS = {"parts": "pop", "seed": "pop", "mode": "admm", "collapse": "admm"}
_PLAIN = (bool, int, float, str)  # kinds of options that words can state
_FLAGS = {"true": True, "yes": True, "false": False, "no": False}


def engine_from(
    name: str, options: Sequence[str] | None, old: Mapping[str, object] | None = None
) -> str | Engine:
    """The engine that the words of a command line state.

    Args:
        name: What ``--engine`` says.
        options: What each ``--engine-option`` says.
        old: Options that once were flags of their own, by name; None and False: not given.

    Raises:
        InputError: There is no such engine or option, or a value is outside its range.
    """
    given: dict[str, Any] = {
        key: value for key, value in (old or {}).items() if value not in (None, False)
    }
    for key, value in given.items():
        owner = _OLD_OWNERS[key]
        if name != owner:
            raise InputError(
                f"is {value}, but nothing uses it",
                where=f"--{key}",
                allowed=f"with --engine {owner}",
                remedy=f"leave --{key} out, or add --engine {owner}",
            )
    if given:
        key, value = next(iter(given.items()))
        text = str(value).lower() if value is True else value
        words = f"--{key} is now {ENGINE_OPTION} {key}={text}"
        tell(f"warning: {words}; the old flag goes in {GOES_IN}")
    if name == AUTO:
        if options:
            raise InputError(
                f"is {options[0]!r}, but no engine is named",
                where=ENGINE_OPTION,
                allowed=f"with --engine {', '.join(ENGINES)}",
                remedy="name the engine, such as --engine admm",
            )
        return name
    engine = engine_of(name)
    groups: dict[str, dict[str, Any]] = {}
    for text in options or ():
        key, value = _read(engine, text)
        group, dot, name = key.rpartition(".")
        (groups.setdefault(group, {}) if dot else given)[name] = value
    for group, values in groups.items():
        given[group] = replace(getattr(engine, group), **values)
    return type(engine)(**given)


def _read(engine: Engine, text: str) -> tuple[str, object]:
    """The name and the value of one ``NAME=VALUE``; of an option in a group, ``GROUP.NAME``."""
    name, equals, word = text.partition("=")
    kinds = dict(_kinds(type(engine)))
    if not equals or name not in kinds:
        known = ", ".join(kinds) or "nothing: this engine has no options"
        raise InputError(
            f"is {text!r}",
            where=ENGINE_OPTION,
            allowed=f"NAME=VALUE, where NAME is an option of engine {engine.name}: {known}",
            remedy="use one of these names",
        )
    for kind in kinds[name]:
        value = _value(kind, word)
        if value is not None:
            return name, value
    if word.lower() == "none" and type(None) in kinds[name]:
        return name, None
    allowed = [kind.__name__ for kind in kinds[name] if kind in _PLAIN]
    raise InputError(
        f"is {word!r}",
        where=f"{ENGINE_OPTION} {name}",
        allowed=" or ".join(allowed).replace("bool", "true or false").replace("int", "whole number")
        + (" or none" if type(None) in kinds[name] else ""),
        remedy="give such a value",
    )


def _kinds(options: type[Options], group: str = "") -> Iterator[tuple[str, tuple[type, ...]]]:
    """Each option that words can state, with the types of its values."""
    hints = get_type_hints(options)
    for field in fields(options):
        hint = hints[field.name]
        kinds = get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
        if any(kind in _PLAIN for kind in kinds):
            yield group + field.name, kinds
        elif (members := group_of(field)) is not None:
            yield from _kinds(members, f"{field.name}.")


def _value(kind: type, word: str) -> object:
    """A word as a value of a type; None where it is no such value."""
    if kind is bool:
        return _FLAGS.get(word.lower())
    if kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            return None
    return word if kind is str else None
