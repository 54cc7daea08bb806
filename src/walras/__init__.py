"""Walras decides who gets which computing resources.

Public names load when they are first used, so that ``import walras`` is quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from walras.lazy import lazy_names

if TYPE_CHECKING:
    from walras import (
        data,
        dede,
        domains,
        engines,
        exchange,
        learn,
        matching,
        network,
        plot,
        policies,
        predict,
        rounds,
        shadow,
        simulate,
    )
    from walras.errors import (
        DataError,
        EngineError,
        InaccuracyWarning,
        InfeasibleError,
        InputError,
        StoppedError,
        UnboundedError,
        WalrasError,
    )
    from walras.executors.ray import Ray
    from walras.problem import Problem
    from walras.saving import load
    from walras.separable import Leximin, Separable
    from walras.session import Session
    from walras.solution import Solution
    from walras.solving import solve
    from walras.status import Status
    from walras.version import __version__

_HOME = {
    "Problem": "walras.problem",
    "solve": "walras.solving",
    "Solution": "walras.solution",
    "Status": "walras.status",
    "Ray": "walras.executors.ray",
    "Separable": "walras.separable",
    "Session": "walras.session",
    "Leximin": "walras.separable",
    "__version__": "walras.version",
    "load": "walras.saving",
    "WalrasError": "walras.errors",
    "InputError": "walras.errors",
    "InfeasibleError": "walras.errors",
    "UnboundedError": "walras.errors",
    "DataError": "walras.errors",
    "EngineError": "walras.errors",
    "StoppedError": "walras.errors",
    "InaccuracyWarning": "walras.errors",
    **{
        name: f"walras.{name}"
        for name in (
            "data",
            "dede",
            "domains",
            "engines",
            "exchange",
            "learn",
            "matching",
            "network",
            "predict",
        )
    },
}
_MODULES = (
    *(
        "data",
        "dede",
        "domains",
        "engines",
        "exchange",
        "learn",
        "matching",
        "network",
        "plot",
        "policies",
    ),
    *("predict", "rounds", "shadow", "simulate"),
)

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
    "Session",
    "Solution",
    "Status",
    "StoppedError",
    "UnboundedError",
    "WalrasError",
    "__version__",
    "data",
    "dede",
    "domains",
    "engines",
    "exchange",
    "learn",
    "load",
    "matching",
    "network",
    "plot",
    "policies",
    "predict",
    "rounds",
    "shadow",
    "simulate",
    "solve",
]

__getattr__, __dir__ = lazy_names(
    __name__, {**_HOME, **{name: f"walras.{name}" for name in _MODULES}}, __all__
)
