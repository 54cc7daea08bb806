"""The engines by their names, each with the settings that it alone has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from walras.engines.admm import AdmmSettings, admm
from walras.engines.admm.executor import Executor
from walras.engines.exact import exact
from walras.engines.integer import integer
from walras.engines.interior import interior
from walras.engines.iterate import Iterate
from walras.engines.pop import pop
from walras.engines.settings import Settings
from walras.errors import InputError
from walras.separable import Separable

Engine = Callable[[Separable, Settings], Iterate]
_ENGINES: dict[str, Engine] = {"interior": interior, "exact": exact}


def engine_named(
    name: str,
    parts: int | None = None,
    seed: int | None = None,
    mode: str | None = None,
    executor: Executor | None = None,
    *,
    collapse: bool | None = None,
) -> Engine:
    """The engine of a name, with the settings that it alone has.

    Args:
        name: One of ``interior``, ``admm``, ``exact``, ``integer`` and ``pop``.
        parts: As in :func:`solve`.
        seed: As in :func:`solve`.
        mode: As in :func:`solve`.
        executor: As in :func:`solve`.
        collapse: As in :func:`solve`.

    Raises:
        InputError: A setting is given to an engine that has none of that name.
    """
    own = (
        ("parts", parts, ("pop",)), ("seed", seed, ("pop", "integer")), ("mode", mode, ("admm",)),
        ("executor", executor, ("admm",)), ("collapse", collapse or None, ("admm",)),
    )  # fmt: skip
    for setting, value, engines in own:
        if value is not None and name not in engines:
            allowed = " or ".join(map(repr, engines))
            raise InputError(
                f"is {value!r}, but the engine is {name!r}", where=f"setting {setting}",
                allowed=f"for engine {allowed} alone",
                remedy=f"choose engine {allowed}, or leave {setting} out",
            )  # fmt: skip
    if name == "pop":
        return partial(pop, parts=parts, seed=0 if seed is None else seed)
    if name == "integer":
        return partial(integer, seed=0 if seed is None else seed)
    if name == "admm":
        options = AdmmSettings(mode=mode or "hard", collapse=bool(collapse))
        return partial(
            admm, options=options if executor is None else replace(options, executor=executor)
        )
    return _ENGINES[name]
