"""Walras decides who gets which computing resources.

Public names load when they are first used, so that ``import walras`` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from walras import data, dede, domains, learn, matching, network, predict
    from walras.errors import (
        DataError,
        EngineError,
        InaccuracyWarning,
        InfeasibleError,
        InputError,
        UnboundedError,
        WalrasError,
    )
    from walras.executors.ray import Ray
    from walras.problem import Problem
    from walras.separable import Leximin, Separable
    from walras.solution import Solution
    from walras.solving import solve
    from walras.status import Status

_HOME = {
    "Problem": "walras.problem",
    "solve": "walras.solving",
    "Solution": "walras.solution",
    "Status": "walras.status",
    "Ray": "walras.executors.ray",
    "Separable": "walras.separable",
    "Leximin": "walras.separable",
    "WalrasError": "walras.errors",
    "InputError": "walras.errors",
    "InfeasibleError": "walras.errors",
    "UnboundedError": "walras.errors",
    "DataError": "walras.errors",
    "EngineError": "walras.errors",
    "InaccuracyWarning": "walras.errors",
}
_MODULES = ("data", "dede", "domains", "learn", "matching", "predict", "network")

__all__ = [
    "DataError",
    "EngineError",
    "InaccuracyWarning",
    "InfeasibleError",
    "InputError",
    "Leximin",
    "Problem",
    "Ray",
    "Separable",
    "Solution",
    "Status",
    "UnboundedError",
    "WalrasError",
    "data",
    "dede",
    "domains",
    "learn",
    "matching",
    "network",
    "predict",
    "solve",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"walras.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'walras' has no attribute {name!r}")
    found = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
