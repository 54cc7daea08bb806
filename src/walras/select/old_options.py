"""Options of single engines that ``solve`` once took as keywords; they go in 0.3."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from dataclasses import fields, replace

from walras.deprecated import GOES_IN
from walras.engines.base import Engine
from walras.errors import InputError
from walras.select.registry import ENGINES

OLD_OPTIONS = ("parts", "seed", "mode", "collapse", "executor", "rho", "restarts")


def warn_of_old(named: Mapping[str, object]) -> None:
    """Warn, at the line that calls Walras, that keywords became options of an engine.

    Args:
        named: Keywords by name; nothing happens if there are none.
    """
    if not named:
        return
    name = next(iter(named))
    owner = ENGINES[_owners(name)[0]].__name__
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "walras":
        frame, level = frame.f_back, level + 1
    warnings.warn(
        f"solve({name}=) is now an option of the engine: engine=walras.engines.{owner}({name}=...);"
        f" the keyword goes in {GOES_IN}",
        DeprecationWarning,
        stacklevel=level,
    )


def with_old_options(engine: Engine, named: Mapping[str, object]) -> Engine:
    """The engine with options that were given as keywords of ``solve``.

    Args:
        engine: The engine that was chosen.
        named: Keywords of :data:`OLD_OPTIONS` by name; None stands for the default.

    Raises:
        InputError: The engine has no such option, or it is outside its range.
    """
    given = {name: value for name, value in named.items() if value is not None}
    own = {field.name for field in fields(engine)}
    for name in [name for name in given if name not in own]:
        if (name, given[name]) == ("collapse", False):  # nothing to give up
            del given[name]
            continue
        allowed = " or ".join(map(repr, _owners(name)))
        raise InputError(
            f"is {given[name]!r}, but the engine is {engine.name!r}",
            where=f"setting {name}",
            allowed=f"for engine {allowed} alone",
            remedy=f"choose engine {allowed}, or leave {name} out",
        )
    if given.get("mode", "hard") != "hard":
        given = {"collapse": None, **given}  # whatever memory would advise
    return replace(engine, **given)


def _owners(name: str) -> list[str]:
    """The engines that have an option of this name."""
    return [key for key, kind in ENGINES.items() if name in {f.name for f in fields(kind)}]
