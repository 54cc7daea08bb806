"""Wrong usage of the command line, in the form of every other error."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any, cast

import typer

from walras.errors import InputError

# Typer names only this subclass of its usage error, whose home differs between its versions.
_TYPERS = cast("type[Exception]", typer.BadParameter.__mro__[1])
ENGINE_OPTION = "--engine-option"  # its value is NAME=VALUE
_HELP = "NoArgsIsHelpError"  # a group without a sub-command: not wrong, but not done either


class UsageError(InputError):
    """Arguments that cannot be read: unknown or missing ones, values of the wrong kind."""

    code = "WAL-1110"


def run(app: typer.Typer, arguments: Sequence[str]) -> int:
    """Run an application on arguments; the exit code that it ends with.

    Raises:
        UsageError: The arguments cannot be read; says which, and what could stand there.
    """
    try:
        return int(app(list(arguments), prog_name="walras", standalone_mode=False) or 0)
    except _TYPERS as error:
        if type(error).__name__ == _HELP:
            cast("Any", error).show()
            return 2
        raise _as_usage_error(error, arguments) from error


def as_option(where: str, arguments: Sequence[str]) -> str:
    """The option that set what the library calls ``setting NAME`` or ``NAME``, if one was given."""
    name = where.removeprefix("setting ")
    option = "--" + name.replace("_", "-")
    if where and option in {word.partition("=")[0] for word in arguments}:
        return option
    words = (word.removeprefix(f"{ENGINE_OPTION}=") for word in arguments)
    stated = where != name and any(word.startswith(f"{name}=") for word in words)
    return f"{ENGINE_OPTION} {name}" if stated else where


def options_of(app: typer.Typer, arguments: Sequence[str]) -> frozenset[str]:
    """The options of the command that arguments name, such as ``--min-success``."""
    command: Any = typer.main.get_command(app)
    for word in arguments:
        if not hasattr(command, "resolve_command") or word.startswith("-"):
            break
        context = command.make_context("walras", [], resilient_parsing=True)
        command = command.resolve_command(context, [word])[1]
    return frozenset(name for param in command.params for name in param.opts)


def in_options(text: str, options: Collection[str]) -> str:
    """A sentence of the library in which ``some_name`` and ``name=True`` are the options."""

    def option(found: re.Match[str]) -> str:
        name = "--" + (found[1] or found[2]).replace("_", "-")
        return name if name in options else found[0]

    return re.sub(r"\b([a-z_]+)=True\b|\b([a-z]+(?:_[a-z]+)+)\b", option, text)


def _as_usage_error(error: Any, arguments: Sequence[str]) -> UsageError:
    """Typer's error in four parts."""
    command = error.ctx.command_path if error.ctx else "walras"
    what, where, allowed = error.format_message().rstrip("."), command, ""
    param = getattr(error, "param", None)
    if param is not None and error.message:
        where = param.opts[0]
        given = _given(param.opts, arguments)
        what = f"is {given!r}" if given is not None else error.message
        allowed = _range(error.message)
    elif param is not None:
        allowed = param.help or ""
    elif what.startswith("No such option"):
        what = error.message
        allowed = ", ".join(error.possibilities or ()) or "the options that its help lists"
    elif what.startswith("No such command"):
        allowed = ", ".join(error.ctx.command.list_commands(error.ctx))
    what = what[0].lower() + what[1:]
    return UsageError(what, where=where, allowed=allowed, remedy=f"see {command} --help")


def _given(options: Sequence[str], arguments: Sequence[str]) -> str | None:
    """The word given to an option; None for an argument by its place."""
    for k, word in enumerate(arguments):
        name, _, value = word.partition("=")
        if name in options:
            return value or next(iter(arguments[k + 1 : k + 2]), "")
    return None


def _range(message: str) -> str:
    """What a value may be, from the sentence that refuses one, in the words of Typer's versions."""
    sentence = message.rstrip(".")
    if choices := sentence.partition(" is not one of ")[2]:
        return choices.replace("'", "")
    if kind := sentence.partition(" is not a valid ")[2]:
        return f"a valid {kind.replace('float', 'number')}"
    return message.removeprefix("Input should be ").partition(", unable")[0]
