"""Learning through the matching: derivatives of a relaxed matching by what it was made from.

``matched`` is a differentiable step of a torch model: predicted times and chances in, relaxed
matching out. Needs torch, the extra ``walras[torch]``.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from walras.errors import EngineError

if TYPE_CHECKING:
    from walras.learn.check import GradientCheck, check_gradient
    from walras.learn.forward import forward_gradient
    from walras.learn.implicit import Gradient, dense_gradient, implicit_gradient, matched

_HOME = {
    "Gradient": "implicit",
    "GradientCheck": "check",
    "check_gradient": "check",
    "dense_gradient": "implicit",
    "forward_gradient": "forward",
    "implicit_gradient": "implicit",
    "matched": "implicit",
}

__all__ = [
    "Gradient",
    "GradientCheck",
    "check_gradient",
    "dense_gradient",
    "forward_gradient",
    "implicit_gradient",
    "matched",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'walras.learn' has no attribute {name!r}")
    if importlib.util.find_spec("torch") is None:
        raise EngineError(
            "torch is not installed", where=f"walras.learn.{name}",
            allowed="walras.matching.match and the metrics without torch",
            remedy="pip install 'walras[torch]'",
        )  # fmt: skip
    return getattr(importlib.import_module(f"walras.learn.{_HOME[name]}"), name)
