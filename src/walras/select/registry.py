"""The engines by their names, each with the settings that it alone has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from walras.engines.admm import AdmmSettings, admm
from walras.engines.admm.worker_pool import Executor
from walras.engines.exact.engine import exact
from walras.engines.integer import integer
from walras.engines.interior import interior
from walras.engines.pop.engine import pop
from walras.errors import InputError
from walras.iterate import Iterate
from walras.separable import Separable
from walras.settings import Settings

Engine = Callable[[Separable, Settings], Iterate]
_ENGINES: dict[str, Engine] = {"interior": interior, "exact": exact}


_OWNERS = {"parts": ("pop",), "seed": ("pop", "integer")}  # all others are the first-order engine's


@dataclass(frozen=True)
class EngineOptions:
    """The settings that some engines alone have, as in :func:`walras.solve`; None: not given.

    Attributes:
        parts: Of ``pop``.
        seed: Of ``pop`` and ``integer``.
        mode: Of ``admm``, as are the others.
        executor: Who runs the demands' passes.
        collapse: Whether to give up the copies.
        rho: The first penalty.
        restarts: Whether to restart.
    """

    parts: int | None = None
    seed: int | None = None
    mode: str | None = None
    executor: Executor | None = None
    collapse: bool | None = None
    rho: float | None = None
    restarts: bool | None = None


_NOTHING = EngineOptions()


def engine_named(name: str, own: EngineOptions = _NOTHING, *, collapse: bool = False) -> Engine:
    """The engine of a name, with the settings that it alone has.

    Args:
        name: One of ``interior``, ``admm``, ``exact``, ``integer`` and ``pop``.
        own: What the caller asked for.
        collapse: Whether the first-order engine is to give up its copies where the caller does not
            say, and its mode can.

    Raises:
        InputError: A setting is given to an engine that has none of that name.
    """
    for setting, value in vars(own).items():
        engines = _OWNERS.get(setting, ("admm",))
        asked = value is not None and (setting, value) != ("collapse", False)
        if asked and name not in engines:
            allowed = " or ".join(map(repr, engines))
            raise InputError(
                f"is {value!r}, but the engine is {name!r}",
                where=f"setting {setting}",
                allowed=f"for engine {allowed} alone",
                remedy=f"choose engine {allowed}, or leave {setting} out",
            )
    if name == "admm":
        return partial(admm, options=_first_order(own, collapse=collapse))
    seed = 0 if own.seed is None else own.seed
    if name == "pop":
        return partial(pop, parts=own.parts, seed=seed)
    if name == "integer":
        return partial(integer, seed=seed)
    return _ENGINES[name]


def _first_order(own: EngineOptions, *, collapse: bool) -> AdmmSettings:
    options = AdmmSettings(
        mode=own.mode or "hard",
        collapse=collapse and own.mode in (None, "hard") if own.collapse is None else own.collapse,
        rho=own.rho,
        restarts=own.restarts,
    )
    return options if own.executor is None else replace(options, executor=own.executor)
