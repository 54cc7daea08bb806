"""Placements of a round: predict the window, match it under the rules, check, explain.

The exchange's service decides its rounds by :func:`decide`, and :func:`walras.policies.exchange`
makes it a policy of the simulator.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from walras.lazy import FunctionsFirst, lazy_names
from walras.policies.placements.order import eligible, fair_order
from walras.policies.placements.policy import Policy, decayed

if TYPE_CHECKING:
    from walras.policies.placements.decide import decide
    from walras.policies.placements.predicting import predicting

__all__ = ["Policy", "decayed", "decide", "eligible", "fair_order", "predicting"]

# A service decides in another process: it does without what compiles.
_HOME = {name: f"{__name__}.{name}" for name in ("decide", "predicting")}
__getattr__, __dir__ = lazy_names(__name__, _HOME, __all__)
sys.modules[__name__].__class__ = FunctionsFirst
