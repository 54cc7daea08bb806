"""Placements of a round: predict the window, match it under the rules, check, explain.

The exchange's service decides its rounds by :func:`decide`, and :func:`walras.policies.exchange`
makes it a policy of the simulator.
"""

from __future__ import annotations

from walras.policies.placements.decide import decide
from walras.policies.placements.order import eligible, fair_order
from walras.policies.placements.policy import Policy, decayed
from walras.policies.placements.predicting import predicting

__all__ = ["Policy", "decayed", "decide", "eligible", "fair_order", "predicting"]
