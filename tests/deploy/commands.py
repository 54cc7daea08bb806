"""The command line of Walras, to check what deployment files call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from walras.cli.main import COMMANDS


def unknown_words(words: Sequence[str]) -> list[str]:
    """Words of a call of ``walras`` that its command line does not have.

    Args:
        words: What follows ``walras``: commands, then options with their values.

    Returns:
        Commands and options that do not exist, and required options that are missing.
    """
    name, *rest = words
    if name not in COMMANDS:
        return [name]
    command: Any = COMMANDS[name].load(name)
    while hasattr(command, "commands"):
        if not rest or rest[0] not in command.commands:
            return rest[:1] or [f"without a command of {name}"]
        command, rest = command.commands[rest[0]], rest[1:]
    options = {name for one in command.params for name in one.opts}
    given = {word.partition("=")[0] for word in rest if word.startswith("-")}
    needed = {one.opts[0] for one in command.params if one.required and one.opts[0][:1] == "-"}
    return sorted(given - options) + [f"without {name}" for name in sorted(needed - given)]
