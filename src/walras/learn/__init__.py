"""Learning through the matching: predictors trained by the decisions that they feed.

``fit`` trains one, ``compare`` many, ``advise`` says what pays on given data. ``matched`` is a
differentiable step of a torch model of your own: predicted times and chances in, relaxed matching
out. What trains or differentiates through a matching needs torch, the extra ``walras[torch]``.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from walras.errors import EngineError
from walras.learn.advice import Advice, Finding, advise
from walras.learn.analysis import Paired, holm, paired, summary
from walras.learn.comparison import compare
from walras.learn.fitting import FittedModel, fit
from walras.learn.settings import METHODS, Learning

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
    "METHODS",
    "Advice",
    "Finding",
    "FittedModel",
    "Gradient",
    "GradientCheck",
    "Learning",
    "Paired",
    "advise",
    "check_gradient",
    "compare",
    "dense_gradient",
    "fit",
    "forward_gradient",
    "holm",
    "implicit_gradient",
    "matched",
    "paired",
    "summary",
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
