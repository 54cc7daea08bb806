"""Learning through the matching: predictors trained by the decisions that they feed.

``fit`` trains one, ``compare`` many, ``advise`` says what pays on given data. ``matched`` is a
differentiable step of a torch model of your own: predicted times and chances in, relaxed matching
out. What trains or differentiates through a matching needs torch, the extra ``torch``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from walras.lazy import lazy_names
from walras.learn.advice import Advice, Finding, advise
from walras.learn.analysis import Paired, holm, paired, summary
from walras.learn.comparison import compare
from walras.learn.fit import fit
from walras.learn.fitting import FittedModel
from walras.learn.settings import METHODS, LearnSettings

if TYPE_CHECKING:
    from walras.learn.check import GradientCheck, check_gradient
    from walras.learn.forward import forward_gradient
    from walras.learn.implicit import Gradient, dense_gradient, implicit_gradient, matched

_NEED_TORCH = {
    "Gradient": "walras.learn.implicit",
    "GradientCheck": "walras.learn.check",
    "check_gradient": "walras.learn.check",
    "dense_gradient": "walras.learn.implicit",
    "forward_gradient": "walras.learn.forward",
    "implicit_gradient": "walras.learn.implicit",
    "matched": "walras.learn.implicit",
}

__all__ = [
    "METHODS",
    "Advice",
    "Finding",
    "FittedModel",
    "Gradient",
    "GradientCheck",
    "LearnSettings",
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

__getattr__, __dir__ = lazy_names(
    __name__,
    {},
    __all__,
    torch=_NEED_TORCH,
    renamed={"Learned": "FittedModel", "Learning": "LearnSettings"},
)
