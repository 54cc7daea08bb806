"""Parts of a search whose solver may break down: the rest goes on with what is known."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from walras.errors import EngineError

_log = logging.getLogger("walras")
T = TypeVar("T")


def attempted(solve: Callable[[], T], otherwise: T) -> T:
    """What a part gives, or something else where its solver breaks down, which is logged."""
    try:
        return solve()
    except EngineError as error:
        _log.warning("a part of the search broke down and is left out: %s", error.what)
        return otherwise
