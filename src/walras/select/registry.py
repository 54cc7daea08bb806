"""The engines by their names: one row an engine."""

from __future__ import annotations

from walras.engines.admm import ADMM
from walras.engines.base import Engine
from walras.engines.exact.engine import Exact
from walras.engines.integer import Integer
from walras.engines.interior import Interior
from walras.engines.pop.engine import POP
from walras.engines.prices import Prices
from walras.errors import EngineError, InputError
from walras.separable import Separable

ENGINES: dict[str, type[Engine]] = {
    "interior": Interior,
    "admm": ADMM,
    "exact": Exact,
    "integer": Integer,
    "pop": POP,
    "prices": Prices,
}
AUTO = "auto"  # in place of a name: the engine that is expected to end first


def engine_of(asked: object) -> Engine:
    """The engine that a caller asked for; a name stands for its default options.

    Args:
        asked: An engine, or a name in :data:`ENGINES`.

    Raises:
        InputError: It is neither.
    """
    if isinstance(asked, Engine):
        return asked
    if isinstance(asked, str) and asked in ENGINES:
        return ENGINES[asked]()
    known = isinstance(asked, type) and issubclass(asked, Engine)
    name = asked.__name__ if isinstance(asked, type) else ""
    raise InputError(
        f"there is no engine {asked!r}",
        where="engine",
        allowed=f"{AUTO}, {', '.join(ENGINES)}, or an engine of walras.engines",
        remedy=f"write {name}()" if known else "use one of these names",
    )


def refuse_unaccepted(engine: Engine, problem: Separable) -> None:
    """Refuse a problem that an engine does not accept, and name the engines that do.

    Args:
        engine: The engine that was asked for.
        problem: The problem.

    Raises:
        EngineError: Says why, and which engines accept the problem.
    """
    reason = engine.accepts(problem)
    if reason is None:
        return
    able = [name for name, kind in ENGINES.items() if kind().accepts(problem) is None]
    raise EngineError(
        reason,
        where=f"problem for engine {engine.name!r}",
        allowed=f"engine {', '.join([AUTO, *able])}",
        remedy=f"use engine={AUTO!r}, which chooses one of these",
    )
