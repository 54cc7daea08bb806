"""Sub-solves that may fail: the search goes on without them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from walras.errors import EngineError

_log = logging.getLogger("walras")
T = TypeVar("T")


def attempted(solve: Callable[[], T], otherwise: T) -> T:
    """The result of ``solve``, or ``otherwise`` if its solver fails; a failure is logged."""
    try:
        return solve()
    except EngineError as error:
        _log.warning("a part of the search broke down and is left out: %s", error.what)
        return otherwise
